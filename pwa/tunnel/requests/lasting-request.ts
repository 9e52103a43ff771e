import { toBase64Url } from "../../../shared/base-encodings.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { LinkDecoders } from "../../../shared/coding/link-coding.ts";
import { ErrorCode, later, RopewayError } from "../../../shared/errors.ts";
import { type ClientExchange, type ResponseConsumer, startExchange } from "../../../shared/http/exchange.ts";
import { headerValue } from "../../../shared/http/head-fields.ts";
import {
  type Continuation,
  type Delivery,
  isIdempotent,
  type RequestHead,
  type ResponseHead,
} from "../../../shared/http/heads.ts";
import * as limits from "../../../shared/limits.ts";
import type { MuxStream } from "../../../shared/mux/stream/stream.ts";
import type { ClaimedPush, FilePart, Outcome, SessionTrace, Tap } from "../exchange/exchange.ts";

/** Sessions in which a safe request is tried before it fails, when edges lose sessions. */
export const EXCHANGE_ATTEMPTS = 4;

/** Times that the edge may have no room for a request before it fails; with their waits half a minute. */
export const REFUSED_ATTEMPTS = 7;

export interface OpenedStream {
  readonly stream: MuxStream;
  readonly session: SessionTrace;
  /** The phone's decoders, where it has more than every phone has. */
  readonly decoders?: LinkDecoders;
}

interface LastingRequestOptions {
  readonly head: RequestHead;
  readonly body: RepeatableBody | null;
  /** Its first attempt, if there is one. */
  readonly push: ClaimedPush | null;
  /** The part of its answer that the consumer has: it gets the rest, and of the head nothing. */
  readonly file?: FilePart | undefined;
  readonly consumer: ResponseConsumer;
  /** They see what the consumer gets. */
  readonly taps?: readonly Tap[];
  /** In the session of the moment: at once if there is room. Rejects with the session's error if that ends. */
  openStream(): OpenedStream | Promise<OpenedStream>;
  /** Goes on while the device sleeps. */
  readonly clock: Clock;
  /** Called once, before the consumer hears of it. */
  readonly onOver: (outcome: Outcome, error: RopewayError | null) => void;
}

/**
 * A request of the phone, through as many sessions as it takes. While a session lives, the channel sees to it that no
 * cut is noticed. When the edge lost the session:
 *
 * - An idempotent request (RFC 9110 section 9.2.2) is sent again, if its body was kept.
 * - A body that had begun to arrive goes on from where it stopped, if that is sure to fit (continue-response.ts). A
 *   body that had arrived whole but for word of its end is over, whatever the method.
 * - A claimed push is asked for, as any other response.
 * - Any other request is sent again with its id, by which the edge knows whether it sent it before (PROTOCOL.md
 *   section 5.5). A request of which the edge cannot know this fails.
 */
export class LastingRequest {
  readonly head: RequestHead;

  #body: RepeatableBody | null;
  #push: ClaimedPush | null;
  #consumer: ResponseConsumer;
  #taps: readonly Tap[];
  #openStream: () => OpenedStream | Promise<OpenedStream>;
  #clock: Clock;
  #onOver: (outcome: Outcome, error: RopewayError | null) => void;
  #id: string | null = null;
  #exchange: ClientExchange | null = null;
  #session: SessionTrace | null = null;
  /** Since anything came back. */
  #attempts = 0;
  /** Since anything came back: the edge had no room for so many. */
  #refusals = 0;
  #cancelTimer: () => void = () => {};
  #isOver = false;
  #firstSentAt = 0;
  /** Whether an attempt may have reached the edge. */
  #mayHaveRun = false;
  #response: ResponseHead | null = null;
  #delivered = 0;

  constructor({ head, body, push, file, consumer, taps = [], openStream, clock, onOver }: LastingRequestOptions) {
    this.head = head;
    this.#body = body;
    this.#push = push;
    this.#response = file?.response ?? null;
    this.#delivered = file?.bytes ?? 0;
    this.#consumer = consumer;
    this.#taps = taps;
    this.#openStream = openStream;
    this.#clock = clock;
    this.#onOver = onOver;
  }

  /** Whether it may have had an effect at its origin that its failure hides. */
  get isUncertain(): boolean {
    return !isIdempotent(this.head.method) && this.#response === null && this.#wasHanded;
  }

  start(): void {
    if (!isIdempotent(this.head.method)) this.#id = newRequestId();
    this.#firstSentAt = this.#clock.now();
    if (this.#response !== null) return this.#goOn();
    if (this.#push === null) return this.#send("whole");
    this.#attempts = 1;
    this.#session = this.#push.session;
    this.#exchange = this.#push.answer(this.#attemptConsumer(null));
  }

  cancel(): void {
    this.#settle("cancelled");
    // Of use after the end too: bytes that wait for the consumer count as taken.
    this.#exchange?.cancel();
  }

  fail(error: RopewayError): void {
    const exchange = this.#exchange;
    if (!this.#settle("failed", error)) return;
    exchange?.cancel();
    this.#consumer.onError(error);
  }

  /** With what came in an earlier run. */
  #goOn(): void {
    const remainder = this.#remainder();
    if (remainder !== null && remainder !== "nothing") return this.#send(remainder);
    queueMicrotask(() => (remainder === null ? this.fail(changedMeanwhile()) : this.#finish()));
  }

  #send(remainder: Exclude<Remainder, "nothing">): void {
    this.#attempts += 1;
    this.#exchange = null;
    this.#session = null;
    const opened = this.#openStream();
    // At once, so that a request that is made before a link is opened rides in its handshake.
    if (!(opened instanceof Promise)) return this.#sendOn(opened, remainder);
    opened.then(
      (later) => {
        if (this.#isOver) later.stream.reset(ErrorCode.CANCEL);
        else this.#sendOn(later, remainder);
      },
      (error: unknown) => this.#attemptFailed(error as RopewayError),
    );
  }

  #sendOn({ stream, session, decoders }: OpenedStream, remainder: Exclude<Remainder, "nothing">): void {
    this.#session = session;
    const continuation = remainder === "whole" ? null : remainder;
    const head = withDelivery(this.#response === null ? this.head : withoutStored(this.head), {
      id: this.#id,
      isRepeat: this.#mayHaveRun,
      continuation,
    });
    const body = this.#body?.open() ?? null;
    this.#exchange = startExchange(stream, head, body, this.#attemptConsumer(continuation), decoders);
  }

  #attemptConsumer(continuation: Delivery["continuation"]): ResponseConsumer {
    let overlapping = 0;
    let misfits = false;
    return {
      onHead: (head) => {
        this.#answered();
        const former = this.#response;
        if (former === null) {
          this.#response = head;
          for (const tap of this.#taps) tap.onHead?.(withoutResumption(head));
          return this.#consumer.onHead(head);
        }
        const bytes = overlap(former, this.#delivered, head, continuation !== null);
        if (bytes !== null) overlapping = bytes;
        else {
          misfits = true;
          this.fail(changedMeanwhile(head));
        }
      },
      onBody: (chunk) => {
        if (misfits) return undefined;
        this.#answered();
        const skipped = Math.min(overlapping, chunk.length);
        overlapping -= skipped;
        const fresh = chunk.subarray(skipped);
        if (fresh.length === 0) return undefined;
        this.#delivered += fresh.length;
        for (const tap of this.#taps) tap.onChunk?.(fresh);
        return this.#consumer.onBody(fresh);
      },
      onEnd: () => {
        const isShort = overlapping > 0 || this.#lacksBytes();
        if (isShort) return this.fail(changedMeanwhile());
        this.#finish();
      },
      onError: (error) => this.#attemptFailed(error),
    };
  }

  #attemptFailed(error: RopewayError): void {
    if (this.#isOver) return;
    const isLost = error.code === ErrorCode.LINK_LOST;
    if (isLost && this.#wasHanded) this.#mayHaveRun = true;
    const isRefused = error.code === ErrorCode.REFUSED_STREAM;
    const remainder = isLost || isRefused ? this.#remainder() : null;
    if (remainder === "nothing") return this.#finish();
    if (remainder !== null && this.#mayTryAgain(isRefused)) {
      const again = (): void => {
        if (!this.#isOver) this.#send(remainder);
      };
      // A session tells its streams that it is over before it is.
      if (!isRefused || this.#refusals === 1) queueMicrotask(again);
      else this.#cancelTimer = this.#clock.setTimer(again, limits.refusedDelay * 2 ** (this.#refusals - 2));
      return;
    }
    this.fail(isLost && this.isUncertain ? outcomeUnknown(error) : error);
  }

  /** The edge has room once it hears what was given up; word of that may be stuck on a link that was lost. */
  #mayTryAgain(isRefused: boolean): boolean {
    if (!isRefused) return this.#attempts < EXCHANGE_ATTEMPTS;
    this.#attempts -= 1;
    this.#refusals += 1;
    return this.#refusals <= REFUSED_ATTEMPTS;
  }

  #answered(): void {
    this.#attempts = 0;
    this.#refusals = 0;
  }

  /** The part that a new session is asked for, or null if it must not or cannot be asked. */
  #remainder(): Remainder | null {
    if (this.#response !== null && isWhole(this.#response, this.#delivered)) return "nothing";
    if (this.#body !== null && !this.#body.isRepeatable) return null;
    const { method } = this.head;
    if (this.#response !== null) {
      const mayGoOn = method === "GET" || (isIdempotent(method) && this.#delivered === 0);
      return mayGoOn ? remainderOf(this.#response, this.#delivered) : null;
    }
    const isForgotten = this.#mayHaveRun && this.#clock.now() - this.#firstSentAt > limits.repeatWindow;
    return isIdempotent(method) || !isForgotten ? "whole" : null;
  }

  get #wasHanded(): boolean {
    return this.#mayHaveRun || this.#session?.wasCarried === true;
  }

  #lacksBytes(): boolean {
    const range = this.#response?.resumption?.range;
    return range != null && range.last - range.first + 1 !== this.#delivered;
  }

  #finish(): void {
    if (this.#settle("done")) this.#consumer.onEnd();
  }

  #settle(outcome: Outcome, error: RopewayError | null = null): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#cancelTimer();
    this.#body?.close();
    this.#onOver(outcome, error);
    for (const tap of this.#taps) tap.onOver?.(outcome);
    return true;
  }
}

/** A delivery that says nothing is left out. A delivery that a page's port put there is not believed. */
function withDelivery({ delivery: _, ...head }: RequestHead, delivery: Delivery): RequestHead {
  return delivery.id === null && delivery.continuation === null ? head : { ...head, delivery };
}

/** A body that has begun to come goes on as bytes. */
function withoutStored({ stored: _, ...head }: RequestHead): RequestHead {
  return head;
}

function withoutResumption({ resumption: _, continues: __, ...head }: ResponseHead): ResponseHead {
  return head;
}

/** @param cause the answer that does not go on with the former. */
function changedMeanwhile(cause: ResponseHead | null = null): RopewayError {
  const message = later("Cannot go on with the response: it changed while the link was lost; load it again");
  return new RopewayError(ErrorCode.LINK_LOST, "stream", "origin", message, { cause });
}

function outcomeUnknown(cause: RopewayError): RopewayError {
  const message = later(
    "Cannot tell whether the site got the request: the link was lost before the answer; look there first",
  );
  return new RopewayError(ErrorCode.OUTCOME_UNKNOWN, "stream", "library", message, { cause });
}

/** 96 random bits in 16 characters. */
function newRequestId(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(12)));
}

/**
 * How a response that began in a session that was lost goes on in another (RFC 9110 sections 13 and 14): by the missing
 * bytes, the whole anew, or nothing, since all bytes are there.
 */
type Remainder = Continuation | "whole" | "nothing";

/**
 * @param delivered bytes of the body that the consumer has.
 * @returns null when nothing could be asked for that is sure to fit what was delivered.
 */
function remainderOf({ resumption }: ResponseHead, delivered: number): Remainder | null {
  if (resumption === undefined) return delivered === 0 ? "whole" : null;
  const { range, validator } = resumption;
  if (range === null || delivered === 0) return "whole";
  const first = range.first + delivered;
  if (first > range.last) return "nothing";
  return { first, last: range.last, total: range.total, validator };
}

/** Whether the consumer has all that the origin had announced: only word of the end is missing. */
function isWhole({ headers }: ResponseHead, delivered: number): boolean {
  const length = headerValue(headers, "content-length");
  return length !== null && /^\d+$/.test(length) && Number(length) === delivered;
}

/**
 * How many bytes of the new response's body the consumer has already; null when the two do not belong together.
 *
 * @param isRemainder whether the missing bytes alone were asked for.
 */
function overlap(former: ResponseHead, delivered: number, next: ResponseHead, isRemainder: boolean): number | null {
  if (isRemainder && next.continues === true) return next.url === former.url ? 0 : null;
  if (!isSameResponse(former, next)) return null;
  if (delivered === 0) return 0;
  const [old, fresh] = [former.resumption?.validator, next.resumption?.validator];
  // Only an entity tag stands for the very same bytes of the very same range.
  return old?.startsWith('"') && old === fresh ? delivered : null;
}

/** Fields that say what the body is (RFC 9110 section 8), and where to go. */
const REPRESENTATION_FIELDS = [
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-length",
  "content-range",
  "content-type",
  "etag",
  "last-modified",
  "location",
];

function isSameResponse(former: ResponseHead, next: ResponseHead): boolean {
  return (
    former.status === next.status &&
    former.url === next.url &&
    REPRESENTATION_FIELDS.every((name) => headerValue(former.headers, name) === headerValue(next.headers, name))
  );
}

/**
 * Bytes: request body kept on the phone until it is answered, to send it again in another session; forms are smaller.
 */
export const REPLAYED_BODY_BYTES = 256 * 1024;

/** Bytes: all such bodies together. */
export const REPLAYED_BODIES_BYTES = 4 * 1024 * 1024;

/** Bytes that all bodies of one tunnel keep. */
interface KeptBytes {
  total: number;
}

/** A request body that can be sent again in another session, as long as it is small enough to be kept. */
export class RepeatableBody {
  #reader: ReadableStreamDefaultReader<Uint8Array>;
  #kept: KeptBytes;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isEnded = false;
  /** Whether all that was read so far is kept. */
  #isWhole = true;
  #isClosed = false;
  #reading: Promise<void> | null = null;
  /** The latest stream that was opened; those before it are over. */
  #current: symbol | null = null;
  /** Chunks that it has taken of those kept. */
  #taken = 0;

  /** Takes ownership of `source`. */
  constructor(source: ReadableStream<Uint8Array>, kept: KeptBytes) {
    this.#reader = source.getReader();
    this.#kept = kept;
  }

  /** Whether `open` gives the body from its start. */
  get isRepeatable(): boolean {
    return this.#isWhole && !this.#isClosed;
  }

  /** The whole body, from the start; to cancel it leaves the body as it is. Ends an earlier one. */
  open(): ReadableStream<Uint8Array> {
    const id = Symbol();
    this.#current = id;
    this.#taken = 0;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          for (;;) {
            if (this.#current !== id) return controller.error(new Error("Cannot read the body: it was opened anew"));
            const chunk = this.#take();
            if (chunk !== undefined) return controller.enqueue(chunk);
            if (this.#isEnded) return controller.close();
            this.#reading ??= this.#read();
            await this.#reading;
          }
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** The body is not needed any more: its source is told. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#forget();
    this.#reader.cancel().catch(() => {});
  }

  #take(): Uint8Array | undefined {
    if (!this.#isWhole) return this.#chunks.shift();
    const chunk = this.#chunks[this.#taken];
    if (chunk !== undefined) this.#taken += 1;
    return chunk;
  }

  async #read(): Promise<void> {
    try {
      const { done, value } = await this.#reader.read();
      if (done) this.#isEnded = true;
      else this.#add(value);
    } finally {
      this.#reading = null;
    }
  }

  #add(chunk: Uint8Array): void {
    const fits =
      this.#bytes + chunk.length <= REPLAYED_BODY_BYTES && this.#kept.total + chunk.length <= REPLAYED_BODIES_BYTES;
    if (this.#isWhole && !fits) this.#forget();
    this.#chunks.push(chunk);
    if (!this.#isWhole) return;
    this.#bytes += chunk.length;
    this.#kept.total += chunk.length;
  }

  /** From now on chunks are handed on only: the chunks that the current stream has not taken yet are all that is left. */
  #forget(): void {
    this.#isWhole = false;
    this.#kept.total -= this.#bytes;
    this.#bytes = 0;
    this.#chunks.splice(0, this.#taken);
  }
}
