/**
 * The phone's side of one HTTP exchange on a stream: sends the request, decodes the response for its consumer. Credit
 * goes back to the edge when the consumer has taken the bytes, so an unread response stops at the origin.
 */

import type { LinkDecoder } from "../coding/inflate.ts";
import { LINK_DECODERS, type LinkDecoders } from "../coding/link-coding.ts";
import { ErrorCode, RopewayError } from "../errors.ts";
import type { MuxStream } from "../mux/stream/stream.ts";
import { fieldsToResponse, requestToFields } from "./head-fields.ts";
import type { RequestHead, ResponseHead } from "./heads.ts";
import { sendBody } from "./send-body.ts";

export interface ResponseConsumer {
  onHead(head: ResponseHead): void;
  /**
   * Body bytes with the link's coding undone.
   *
   * @returns when the consumer is ready for more, if it is not yet. Settles in any case, or is followed by `cancel`:
   * until then the bytes count against the session's credit.
   */
  onBody(chunk: Uint8Array): Promise<void> | undefined;
  onEnd(): void;
  /** The exchange failed, before or after its head. Nothing follows. */
  onError(error: RopewayError): void;
}

export interface ClientExchange {
  /**
   * Gives the exchange up: the edge stops the origin, and bytes that wait for the consumer count as taken. Idempotent;
   * the consumer hears nothing more. Of use after `onEnd` too, as long as a promise of `onBody` is pending.
   */
  cancel(): void;
}

/** Sends `head`, and `body` as it comes, on a fresh stream. The consumer hears nothing before this has returned. */
export function startExchange(
  stream: MuxStream,
  head: RequestHead,
  body: ReadableStream<Uint8Array> | null,
  consumer: ResponseConsumer,
  decoders: LinkDecoders = LINK_DECODERS,
): ClientExchange {
  const reader = body?.getReader();
  const { stop, fail } = receiveResponse(stream, { ...head, decoders }, consumer, (reason) => {
    reader?.cancel(reason).catch(() => {});
  });
  try {
    stream.sendHead(requestToFields(head), reader === undefined);
  } catch (error) {
    queueMicrotask(() => fail(error, notSent));
    return { cancel: stop };
  }
  if (reader !== undefined) {
    sendBody(stream, reader).catch((error: unknown) => {
      // The edge may stop reading before the whole body was sent: what became of the exchange, the stream's end says.
      if (stream.state !== "closed") fail(error, notSent);
    });
  }
  return {
    cancel() {
      if (stop()) return;
      stream.reset(ErrorCode.CANCEL);
      reader?.cancel().catch(() => {});
    },
  };
}

/** Takes the response that is pushed on `stream`, whose first head was read. */
export function receivePush(
  stream: MuxStream,
  requestUrl: string,
  consumer: ResponseConsumer,
  decoders: LinkDecoders = LINK_DECODERS,
): ClientExchange {
  const { stop } = receiveResponse(stream, { url: requestUrl, decoders }, consumer, () => {});
  return {
    cancel() {
      if (!stop()) stream.reset(ErrorCode.CANCEL);
    },
  };
}

interface Reception {
  /** @returns false when the response was over already. */
  stop(reason?: unknown): boolean;
  fail(error: unknown, wrap: (cause: unknown) => RopewayError): void;
}

/** @param onStop the response came to an end before its body did. */
function receiveResponse(
  stream: MuxStream,
  request: Pick<RequestHead, "url" | "stored"> & { readonly decoders: LinkDecoders },
  consumer: ResponseConsumer,
  onStop: (reason?: unknown) => void,
): Reception {
  let over = false;
  let decoder: LinkDecoder | null = null;
  const stop = (reason?: unknown): boolean => {
    if (over) return false;
    over = true;
    decoder?.cancel();
    stream.reset(ErrorCode.CANCEL);
    onStop(reason);
    return true;
  };
  const fail = (error: unknown, wrap: (cause: unknown) => RopewayError): void => {
    const typed = error instanceof RopewayError ? error : wrap(error);
    if (stop(typed)) consumer.onError(typed);
  };
  const finish = (): void => {
    if (over) return;
    over = true;
    consumer.onEnd();
  };
  const deliver = (chunk: Uint8Array): Promise<void> | undefined =>
    over ? undefined : consumer.onBody(chunk)?.catch((error: unknown) => fail(error, notTaken));

  stream.handler = {
    onHead(fields) {
      if (over) return;
      const response = fieldsToResponse(fields, request.url);
      if (response.isReference === true && request.stored === undefined) throw namesNothing();
      const open = response.coding === "dcz" ? request.stored?.decode : request.decoders[response.coding];
      if (open === undefined) throw namesNothing();
      decoder = open?.({ deliver, finished: finish, failed: (error) => fail(error, notDecodable) }) ?? null;
      consumer.onHead(response);
    },
    onData(chunk) {
      // The consumer may transfer the chunk's buffer, and then it has no length any more.
      const { length } = chunk;
      const taken = decoder === null ? deliver(chunk) : decoder.write(chunk);
      if (taken === undefined) stream.consumed(length);
      else
        taken.then(
          () => stream.consumed(length),
          (error: unknown) => fail(error, notDecodable),
        );
    },
    onEnd() {
      if (decoder === null) finish();
      else decoder.end();
    },
    onReset: (error) => fail(error, notDecodable),
  };
  return { stop, fail };
}

function notDecodable(cause: unknown): RopewayError {
  const message = "Cannot decode the response: its body is not what its head says";
  return new RopewayError(ErrorCode.COMPRESSION_ERROR, "stream", "peer", message, { cause });
}

function namesNothing(): RopewayError {
  const message = "Cannot read the response: it needs what was not offered";
  return new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", message);
}

function notTaken(cause: unknown): RopewayError {
  const message = "Cannot deliver the response: its consumer failed";
  return new RopewayError(ErrorCode.CANCEL, "stream", "user", message, { cause });
}

function notSent(cause: unknown): RopewayError {
  const message = "Cannot send the request: its head or body is not readable";
  return new RopewayError(ErrorCode.CANCEL, "stream", "user", message, { cause });
}
