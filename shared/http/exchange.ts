/**
 * One HTTP exchange on a stream, from both ends. The phone sends the request and decodes the response for its consumer; credit
 * goes back to the edge when the consumer has taken the bytes, so an unread response stops at the origin. The edge reads the
 * request, has it answered, and sends the response.
 */
import { LINK_DECODERS, type LinkDecoder, type LinkDecoders } from "../coding/link-coding.ts";
import { ErrorCode, RopewayError } from "../errors.ts";
import type { MuxStream } from "../mux/stream/stream.ts";
import type { EncodableField } from "../wire/frame.ts";
import { fieldsToRequest, fieldsToResponse, headerValue, requestToFields, responseToFields } from "./head-fields.ts";
import type { HeaderList, RequestHead, ResponseHead } from "./heads.ts";

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
async function answer(stream: MuxStream, handle: RequestHandler, request: ServerRequest): Promise<void> {
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

function toStreamError(error: unknown): RopewayError {
  if (error instanceof RopewayError && error.scope === "stream") return error;
  const reason = error instanceof Error ? error.message : "the exchange failed";
  return new RopewayError(ErrorCode.INTERNAL_ERROR, "stream", "library", `Cannot answer: ${reason}`, { cause: error });
}

/**
 * A request body at the edge: what arrived and was not read yet. Bounded by the stream's credit, which reading gives
 * back. A body that nobody reads must not keep credit of the session: see `answered`.
 */
class Upload {
  readonly readable: ReadableStream<Uint8Array>;
  #stream: MuxStream;
  #chunks: Uint8Array[] = [];
  #unwanted = false;
  #ended = false;
  #answered = false;
  #failure: RopewayError | null = null;
  #wake: (() => void) | null = null;

  constructor(stream: MuxStream) {
    this.#stream = stream;
    this.readable = new ReadableStream<Uint8Array>(
      { pull: (controller) => this.#pull(controller), cancel: () => this.#discard() },
      { highWaterMark: 0 },
    );
  }

  push(chunk: Uint8Array): void {
    if (this.#unwanted) {
      this.#stream.consumed(chunk.length);
      return;
    }
    this.#chunks.push(chunk);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
    this.#settle();
  }

  fail(error: RopewayError): void {
    this.#failure = error;
    this.#chunks = [];
    this.#wake?.();
  }

  /** The response was sent whole. A body that nobody holds is dropped; one that is being read goes on. */
  answered(): void {
    this.#answered = true;
    if (!this.readable.locked) this.#discard();
    this.#settle();
  }

  /** Nobody wants more of it: what still comes is dropped, so that the phone can finish sending. */
  #discard(): void {
    this.#unwanted = true;
    for (const chunk of this.#chunks.splice(0)) this.#stream.consumed(chunk.length);
    this.#wake?.();
  }

  /** Once both sides have ended, a reader that is slow or gone holds what it has without the session's credit. */
  #settle(): void {
    if (this.#answered && this.#ended) this.#stream.reset(ErrorCode.NO_ERROR);
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (this.#chunks.length === 0 && !this.#ended && !this.#unwanted && this.#failure === null) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure !== null) return controller.error(this.#failure);
    const chunk = this.#chunks.shift();
    if (chunk === undefined) return this.#unwanted ? controller.error(dropped()) : controller.close();
    controller.enqueue(chunk);
    this.#stream.consumed(chunk.length);
  }
}

function dropped(): RopewayError {
  return new RopewayError(
    ErrorCode.CANCEL,
    "stream",
    "user",
    "Cannot read the request body: it was answered without it",
  );
}

/**
 * Pumps a body into a stream at the pace of its credit, then ends it. Used by both ends.
 *
 * @throws what the reader throws; a RopewayError when the stream fails first, and then the reader is cancelled.
 */
async function sendBody(stream: MuxStream, reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    try {
      await stream.write(value);
    } catch (error) {
      await reader.cancel(error).catch(() => {});
      throw error;
    }
  }
  stream.end();
}

// Pushes: responses that the edge sends unasked, since a document names what the page will ask for (PROTOCOL.md section 5.6).
// The request that a push answers is its first head, so that the page's own request finds the push under way.

/**
 * Field of the session's head by which a phone asks for pushes. Its value is the scheme of the hosts that its pages are
 * on: on `https` ones the browser upgrades what http: documents load from other origins.
 */
export const ACCEPT_PUSH = "accept-push";
export type SlotScheme = "http" | "https";

export function parseAcceptPush(value: string): SlotScheme | null {
  return value === "http" || value === "https" ? value : null;
}

/** The request that a push answers, and the document whose bytes named it. */
export interface PushAnnouncement {
  readonly head: RequestHead;
  /** As `documentName` names the document's stream. */
  readonly document: string;
}

const DOCUMENT_FIELD = ":document";

/** Whether a push could answer it: it asks for nothing that others do not get, as ranges, conditions and reloads do. */
export function isPushable({ method, mode, headers, delivery, images }: RequestHead): boolean {
  const asksForMore = method !== "GET" || mode === "navigate" || delivery !== undefined || images !== undefined;
  return !asksForMore && headers.length <= 1 && headers.every(([name]) => name === "accept");
}

/** All that decides about a response but the referrer: the page's cache does not look at that either. */
export function pushKey({
  topLevelOrigin,
  origin,
  destination,
  mode,
  credentials,
  redirect,
  url,
  headers,
}: RequestHead): string {
  const accept = headerValue(headers, "accept") ?? "";
  return [topLevelOrigin, origin, destination, mode, credentials, redirect, url, accept].join(" ");
}

/** A stream among those of all channels; its head has been sent or received. */
export function documentName({ channelIndex, id }: MuxStream): string {
  return `${channelIndex}:${id}`;
}

export function pushToFields({ head, document }: PushAnnouncement): EncodableField[] {
  return [[DOCUMENT_FIELD, document], ...requestToFields(head)];
}

/** @throws RopewayError PROTOCOL_ERROR of scope "stream" when the fields announce no push that a page could ask for. */
export function fieldsToPush(fields: HeaderList): PushAnnouncement {
  const [first, ...request] = fields;
  const document = first?.[0] === DOCUMENT_FIELD ? first[1] : "";
  if (!/^\d{1,2}:\d{1,15}$/.test(document)) throw malformed("it names no document");
  const head = fieldsToRequest(request);
  if (head.method !== "GET") throw malformed("its method is not GET");
  if (head.mode === "navigate") throw malformed("documents are not pushed");
  if (!/^https?:/.test(head.url)) throw malformed("its URL is not one of the web");
  return { head, document };
}

/**
 * Edge: announces a push on `stream`, then sends what `handle` answers.
 *
 * @param onClaim told when the page has asked for it.
 * @returns gives the push up; whoever has claimed it meanwhile asks again.
 * @throws RopewayError of scope "stream" when the announcement does not fit; the stream is of no use then.
 */
export function servePush(
  stream: MuxStream,
  announcement: PushAnnouncement,
  handle: RequestHandler,
  onClaim: () => void = () => {},
): () => void {
  const abort = new AbortController();
  stream.handler = {
    onHead() {},
    onData() {},
    onEnd() {},
    onPriority: onClaim,
    onReset: (error) => abort.abort(error),
  };
  stream.sendHead(pushToFields(announcement), false);
  answer(stream, handle, { head: announcement.head, body: null, signal: abort.signal }).catch((error: unknown) => {
    const typed = toStreamError(error);
    stream.reset(typed.code, typed.message);
    abort.abort(typed);
  });
  return () => {
    stream.reset(ErrorCode.REFUSED_STREAM);
    abort.abort();
  };
}

function malformed(reason: string): RopewayError {
  return new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", `Cannot take a push: ${reason}`);
}
