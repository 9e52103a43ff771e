/**
 * The edge's side of one HTTP exchange on a stream: reads the request, has it answered, sends the response.
 */
import { ErrorCode, RopewayError } from "../errors.ts";
import type { MuxStream } from "../mux/stream/stream.ts";
import { fieldsToRequest, responseToFields } from "./head-fields.ts";
import type { RequestHead, ResponseHead } from "./heads.ts";
import { sendBody } from "./send-body.ts";
import { Upload } from "./upload.ts";

export interface ServerRequest {
  readonly head: RequestHead;
  /** The request body as it arrives, or null when there is none. Dropped if nobody reads it before the answer ends. */
  readonly body: ReadableStream<Uint8Array> | null;
  /** Aborted when the phone gives the exchange up or its session ends. */
  readonly signal: AbortSignal;
}

export interface ServerResponse {
  readonly head: ResponseHead;
  readonly body: ReadableStream<Uint8Array> | null;
}

/** @throws RopewayError of scope "stream"; its code reaches the phone. */
export type RequestHandler = (request: ServerRequest) => Promise<ServerResponse>;

/** Takes over a stream that the phone opened: answers its request by `handle`. */
export function serveExchange(stream: MuxStream, handle: RequestHandler): void {
  const abort = new AbortController();
  let upload: Upload | null = null;
  const giveUp = (error: RopewayError): void => {
    abort.abort(error);
    upload?.fail(error);
  };

  stream.handler = {
    onHead(fields, end) {
      const head = fieldsToRequest(fields);
      if (!end) upload = new Upload(stream);
      const body = upload?.readable ?? null;
      answer(stream, handle, { head, body, signal: abort.signal }).then(
        () => upload?.answered(),
        (error: unknown) => {
          const typed = toStreamError(error);
          stream.reset(typed.code, typed.message);
          giveUp(typed);
        },
      );
    },
    onData: (chunk) => upload?.push(chunk),
    onEnd: () => upload?.end(),
    onReset: giveUp,
  };
}

/** Sends what `handle` makes of the request. Rejects when there is no response, or it failed. */
export async function answer(stream: MuxStream, handle: RequestHandler, request: ServerRequest): Promise<void> {
  const response = await handle(request);
  if (stream.state === "closed") {
    await response.body?.cancel();
    return;
  }
  try {
    stream.sendHead(responseToFields(response.head), response.body === null);
  } catch (error) {
    await response.body?.cancel(error).catch(() => {});
    throw error;
  }
  if (response.body === null) return;
  const reader = response.body.getReader();
  // Wakes the reader when the phone gives up while the origin is silent.
  request.signal.addEventListener("abort", () => void reader.cancel(request.signal.reason).catch(() => {}));
  await sendBody(stream, reader);
}

export function toStreamError(error: unknown): RopewayError {
  if (error instanceof RopewayError && error.scope === "stream") return error;
  const reason = error instanceof Error ? error.message : "the exchange failed";
  return new RopewayError(ErrorCode.INTERNAL_ERROR, "stream", "library", `Cannot answer: ${reason}`, { cause: error });
}
