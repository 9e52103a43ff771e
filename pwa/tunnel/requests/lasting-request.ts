/**
 * One request of the phone, through as many sessions as it takes. While a session lives, the channel sees to it that no
 * cut is noticed. When the edge lost the session:
 *
 * - An idempotent request (RFC 9110 section 9.2.2) is sent again, if its body was kept.
 * - A body that had begun to arrive goes on from where it stopped, if that is sure to fit (continue-response.ts). One
 *   that had arrived whole but for word of its end is over, whatever the method.
 * - What was pushed and claimed is asked for, as any other.
 * - Any other request is sent again with its id, by which the edge knows whether it sent it before (PROTOCOL.md
 *   section 5.5). Whatever cannot be known fails.
 */
import { toBase64Url } from "../../../shared/base-encodings.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { LinkDecoders } from "../../../shared/coding/link-coding.ts";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { type ClientExchange, type ResponseConsumer, startExchange } from "../../../shared/http/exchange.ts";
import { type Delivery, isIdempotent, type RequestHead, type ResponseHead } from "../../../shared/http/heads.ts";
import * as limits from "../../../shared/limits.ts";
import type { MuxStream } from "../../../shared/mux/stream/stream.ts";
import { isWhole, overlap, type Remainder, remainderOf } from "./continue-response.ts";
import type { RepeatableBody } from "./repeatable-body.ts";
import type { ClaimedPush, SessionTrace } from "./response-source.ts";

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

export type RequestOutcome = "done" | "cancelled" | "failed";

interface LastingRequestOptions {
  readonly head: RequestHead;
  readonly body: RepeatableBody | null;
  /** Its first attempt, if there is one. */
  readonly push: ClaimedPush | null;
  readonly consumer: ResponseConsumer;
  /** In the session of the moment: at once if there is room. Rejects with the session's error if that ends. */
  openStream(): OpenedStream | Promise<OpenedStream>;
  /** Goes on while the device sleeps. */
  readonly clock: Clock;
  /** Called once, before the consumer hears of it. */
  readonly onOver: (outcome: RequestOutcome, error: RopewayError | null) => void;
}

export class LastingRequest {
  readonly head: RequestHead;

  #body: RepeatableBody | null;
  #push: ClaimedPush | null;
  #consumer: ResponseConsumer;
  #openStream: () => OpenedStream | Promise<OpenedStream>;
  #clock: Clock;
  #onOver: (outcome: RequestOutcome, error: RopewayError | null) => void;
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

  constructor({ head, body, push, consumer, openStream, clock, onOver }: LastingRequestOptions) {
    this.head = head;
    this.#body = body;
    this.#push = push;
    this.#consumer = consumer;
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
          return this.#consumer.onHead(withoutResumption(head));
        }
        const bytes = overlap(former, this.#delivered, head, continuation !== null);
        if (bytes !== null) overlapping = bytes;
        else {
          misfits = true;
          this.fail(changedMeanwhile());
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

  /** What a new session is asked for, or null if it must not or cannot be asked. */
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

  #settle(outcome: RequestOutcome, error: RopewayError | null = null): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#cancelTimer();
    this.#body?.close();
    this.#onOver(outcome, error);
    return true;
  }
}

/** What says nothing is left out, and what a page's port may have put there is not believed. */
function withDelivery({ delivery: _, ...head }: RequestHead, delivery: Delivery): RequestHead {
  return delivery.id === null && delivery.continuation === null ? head : { ...head, delivery };
}

/** What has begun to come goes on as bytes. */
function withoutStored({ stored: _, ...head }: RequestHead): RequestHead {
  return head;
}

function withoutResumption({ resumption: _, continues: __, ...head }: ResponseHead): ResponseHead {
  return head;
}

function changedMeanwhile(): RopewayError {
  const message = "Cannot go on with the response: it changed while the link was lost; load it again";
  return new RopewayError(ErrorCode.LINK_LOST, "stream", "origin", message);
}

function outcomeUnknown(cause: RopewayError): RopewayError {
  const message = "Cannot tell whether the site got the request: the link was lost before the answer; look there first";
  return new RopewayError(ErrorCode.OUTCOME_UNKNOWN, "stream", "library", message, { cause });
}

/** 96 random bits in 16 characters. */
function newRequestId(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(12)));
}
