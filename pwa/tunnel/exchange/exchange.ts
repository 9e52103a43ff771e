/**
 * Sources answer the phone's requests: a response that is held, one that was pushed, one that is stored, or the edge over
 * the link. Each is asked in its turn, and either answers or passes the request on. A source that only wants to see the
 * network's answer leaves a tap on the request; one that takes a part of it puts itself before the consumer for that part.
 * So a chunk of a body passes nobody who would only hand it on.
 */
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { ClientExchange, ResponseConsumer } from "../../../shared/http/exchange.ts";
import type { RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import { concat } from "../../../shared/wire/frame.ts";

/** For a response that nobody wants to hear. */
export const DEAF: ResponseConsumer = { onHead() {}, onBody: () => undefined, onEnd() {}, onError() {} };

export interface PhoneRequest {
  readonly head: RequestHead;
  readonly body: ReadableStream<Uint8Array> | null;
  /** Gives the same body once more, where it is at hand. */
  readonly bodyAgain?: (() => ReadableStream<Uint8Array> | null) | undefined;
  /** A push that answers it. Sources after the pushed ones take a copy at most, and the network goes on where it ends. */
  readonly push: ClaimedPush | null;
  /** Taps see the network's answer, the first tap first. Answers of other sources do not pass them. */
  readonly taps?: readonly Tap[] | undefined;
  /** Names the form that has sent a frame there, as `PortRequestHead.form`. Only that form's response answers it. */
  readonly form?: string | undefined;
  /** The request is for a file on the phone, and gives way to requests of pages. */
  readonly file?: FilePart | undefined;
}

/** The part of a file that is on the phone. */
export interface FilePart {
  /** The response that it came with, in an earlier run of the app, say; null: the file is wanted from its start. */
  readonly response: ResponseHead | null;
  /** Bytes of that response's body. */
  readonly bytes: number;
}

/** A push that a request has taken over: from here on it is the response to that request. */
export interface ClaimedPush {
  readonly session: SessionTrace;
  /** The consumer hears nothing before this has returned. */
  answer(consumer: ResponseConsumer): ClientExchange;
}

/** The mark that a session leaves beyond its life. */
export interface SessionTrace {
  /** Whether it ever had a link: else nobody has heard of what was sent in it. */
  wasCarried: boolean;
}

export interface Answer extends ClientExchange {
  /**
   * Set where the response was asked for before, and held: the referrer that went out then, null if it is the same; the
   * shell's id of the navigation, null if it is none of its own; and the method.
   */
  readonly held?: { readonly referrer: string | null; readonly id: number | null; readonly method: string };
}

/** The consumer hears nothing before this has returned, and hears of failures only through `onError`. */
export type Ask = (request: PhoneRequest, consumer: ResponseConsumer) => Answer;

/**
 * Answers the request, or asks `next`, at once or later: with the same request or another, and with the same consumer or
 * one of its own that sees, changes or replaces what goes by.
 */
export type ResponseSource = (request: PhoneRequest, consumer: ResponseConsumer, next: Ask) => Answer;

export type Outcome = "done" | "cancelled" | "failed";

/** Sees a response go by on its way to its consumer, and changes nothing. */
export interface Tap {
  onHead?(head: ResponseHead): void;
  /** @param chunk is the consumer's: whoever keeps it copies it. */
  onChunk?(chunk: Uint8Array): void;
  /** Once, before the consumer hears of it; a request that is given up or fails may have had no head. */
  onOver?(outcome: Outcome): void;
}

/** The request with one more tap, before those that it has. */
export function tapped(request: PhoneRequest, tap: Tap): PhoneRequest {
  return { ...request, taps: [tap, ...(request.taps ?? [])] };
}

/** Passes all on to `consumer`, in the sight of taps. Of a cancelled exchange the taps are told by whoever cancels it. */
export function seenBy(taps: readonly Tap[], consumer: ResponseConsumer): ResponseConsumer {
  const over = (outcome: Outcome): void => {
    for (const tap of taps) tap.onOver?.(outcome);
  };
  return {
    onHead(head) {
      for (const tap of taps) tap.onHead?.(head);
      consumer.onHead(head);
    },
    onBody(chunk) {
      for (const tap of taps) tap.onChunk?.(chunk);
      return consumer.onBody(chunk);
    },
    onEnd() {
      over("done");
      consumer.onEnd();
    },
    onError(error) {
      over("failed");
      consumer.onError(error);
    },
  };
}

/** Passes all on to `consumer`, but for the parts that `own` takes. A chunk goes straight to whoever takes chunks. */
export function passingOn(consumer: ResponseConsumer, own: Partial<ResponseConsumer>): ResponseConsumer {
  return {
    onHead: (head) => consumer.onHead(head),
    onBody: consumer.onBody.bind(consumer),
    onEnd: () => consumer.onEnd(),
    onError: (error) => consumer.onError(error),
    ...own,
  };
}

/** As `next`, which tells once, before the consumer hears of it, that the exchange has ended, failed or been given up. */
export function tellingOver(next: Ask, onOver: () => void): Ask {
  return (request, consumer) => {
    let isOver = false;
    const over = (): void => {
      if (!isOver) onOver();
      isOver = true;
    };
    const watching = passingOn(consumer, {
      onEnd() {
        over();
        consumer.onEnd();
      },
      onError(error) {
        over();
        consumer.onError(error);
      },
    });
    const answer = next(request, watching);
    return {
      ...answer,
      cancel() {
        over();
        answer.cancel();
      },
    };
  };
}

/** @param last is asked for what no source answers. */
export function askInOrder(sources: readonly ResponseSource[], last: Ask): Ask {
  return sources.reduceRight<Ask>((next, source) => (request, consumer) => source(request, consumer, next), last);
}

/**
 * A small response, read to its end in memory.
 *
 * @throws RopewayError ENHANCE_YOUR_CALM when the body is above `limit` bytes; otherwise what the exchange failed with.
 */
export function readWhole(
  ask: Ask,
  head: RequestHead,
  limit: number,
): Promise<{ response: ResponseHead; body: Uint8Array }> {
  return new Promise((resolve, reject) => {
    let response: ResponseHead | null = null;
    const chunks: Uint8Array[] = [];
    let size = 0;
    const consumer: ResponseConsumer = {
      onHead(received) {
        response = received;
      },
      onBody(chunk) {
        size += chunk.length;
        if (size > limit) {
          exchange.cancel();
          reject(
            new RopewayError(
              ErrorCode.ENHANCE_YOUR_CALM,
              "stream",
              "origin",
              `Cannot read the response: it is above ${limit} bytes`,
            ),
          );
          return undefined;
        }
        chunks.push(chunk);
        return undefined;
      },
      onEnd() {
        if (response !== null) resolve({ response, body: concat(...chunks) });
      },
      onError: reject,
    };
    const exchange = ask({ head, body: null, push: null }, consumer);
  });
}

/** A message to the edge itself, as a request: no origin hears of it. */
export function edgeRequest(
  message: Pick<RequestHead, "method" | "url" | "headers" | "origin" | "topLevelOrigin">,
): RequestHead {
  return {
    destination: "",
    mode: "same-origin",
    credentials: "omit",
    redirect: "error",
    referrer: "",
    ...message,
  };
}

/** An exchange that starts when a promise has settled, unless it is cancelled before. The promise does not reject. */
export function laterWith<Value>(promise: Promise<Value>, start: (value: Value) => ClientExchange): ClientExchange {
  let exchange: ClientExchange | null = null;
  let isCancelled = false;
  void promise.then((value) => {
    if (!isCancelled) exchange = start(value);
  });
  return {
    cancel() {
      isCancelled = true;
      exchange?.cancel();
    },
  };
}
