/** Stages of `deliver`: functions from one response to the next. */

import type { SetTimer } from "../../shared/clock.ts";
import type { ServerRequest, ServerResponse } from "../../shared/http/exchange.ts";
import type { RequestHead, ResponseHead } from "../../shared/http/heads.ts";
import type { ObserveBody } from "../push/document-push.ts";
import type { CodedBody } from "../upstream/response-body.ts";

export interface DecodedResponse {
  readonly head: ResponseHead;
  /** A chunk of it may be overwritten when the next is asked for. */
  readonly body: ReadableStream<Uint8Array>;
}

/** A stage that may take the body away: what is left then is a name of it. */
export type Refer = (response: DecodedResponse, request: RequestHead) => Promise<ServerResponse>;

/** Two stages of `deliver`, for the response to one request. */
export interface DictionaryStages {
  /** Reads along, so that the body may be a dictionary. */
  keep(response: DecodedResponse): DecodedResponse;
  /** Codes it against the body that the request names; gives it back as it is where that is of no use. */
  code(response: DecodedResponse): Promise<DecodedResponse>;
}

export interface Delivery {
  readonly request: ServerRequest;
  /** Asked once. */
  readonly observer: ObserveBody | null;
  /** Changes a picture as the phone wishes; null where that wishes nothing. */
  readonly images?: ((response: DecodedResponse) => Promise<DecodedResponse>) | null;
  /** The edge's; the platform's by default. */
  readonly setTimer?: SetTimer;
  /** Marks reads of scripts; null where the edge does not. */
  readonly names?: ((response: DecodedResponse) => Promise<DecodedResponse>) | null;
  readonly refer: Refer;
  /** Null, too, where the body shares a compression context with no other. */
  readonly dictionary?: DictionaryStages | null;
  /** The phone undoes `br`. */
  readonly takesBrotli?: boolean;
}

/** A response as a stage hands it to the next. */
export interface Passed extends ServerResponse {
  /** The same body as its origin coded it; null where it is another by now. */
  readonly coded: CodedBody | null;
  /** Its origin found it worth a coding. */
  readonly cameCoded: boolean;
}

/** Takes ownership of the body. A response without one passes no further stage. */
export type Stage = (response: Passed & DecodedResponse, delivery: Delivery) => Passed | Promise<Passed>;
