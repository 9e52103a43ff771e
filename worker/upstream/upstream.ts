/**
 * The edge's side towards origins: one exchange, from a request head and body to a response head and body, with
 * everything between that a browser would do: cookies, redirects, CORS, referrer and origin fields.
 */
import type { RequestHead, ResponseHead } from "../../shared/http/heads.ts";
import type { ObserveBody } from "../../shared/http/server-exchange.ts";

export interface UpstreamRequest {
  readonly head: RequestHead;
  /** The request body as it streams from the phone, or null. Owned by the upstream from here on. */
  readonly body: ReadableStream<Uint8Array> | null;
  /** What is constant for the session, sent once by the phone. */
  readonly userAgent: string;
  readonly acceptLanguage: string;
  /** Aborted when the phone cancels or its session ends. */
  readonly signal: AbortSignal;
  readonly observeBody?: ObserveBody;
  /**
   * Called once, when the request's body is there, or streams, and nothing of it has been sent to its origin, preflights
   * apart. What it throws ends the exchange.
   */
  readonly beforeSend?: () => Promise<void>;
}

export interface UpstreamResponse {
  readonly head: ResponseHead;
  /** Coded as `head.coding` says, or null when the response has no body. */
  readonly body: ReadableStream<Uint8Array> | null;
  /** Body bytes the origin has sent so far, after its own content-encoding was undone. */
  readonly originBytes: () => number;
}

/** @throws RopewayError of scope "stream" with the code that says what went wrong. */
export type Upstream = (request: UpstreamRequest) => Promise<UpstreamResponse>;

/** `fetch` as the upstream needs it; the platform's own, or one that goes through the loopback entrypoint. */
export type FetchFunction = (request: Request) => Promise<Response>;
