/**
 * What answers the phone's requests: a response that is held, one that was pushed, one that is stored, or the edge over
 * the link. Each is asked in its turn, and either answers or passes the request on.
 */
import type { ClientExchange, ResponseConsumer } from "../../../shared/http/exchange.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";

/** For what nobody wants to hear. */
export const DEAF: ResponseConsumer = { onHead() {}, onBody: () => undefined, onEnd() {}, onError() {} };

export interface PhoneRequest {
  readonly head: RequestHead;
  readonly body: ReadableStream<Uint8Array> | null;
  /** A push that answers it. Sources after the pushed ones take a copy at most, and the network goes on where it ends. */
  readonly push: ClaimedPush | null;
  /** Names the form that has sent a frame there, as `PortRequestHead.form`. Only what is held for that answers it. */
  readonly form?: string | undefined;
}

/** A push that a request has taken over: from here on it is the response to that request. */
export interface ClaimedPush {
  readonly session: SessionTrace;
  /** The consumer hears nothing before this has returned. */
  answer(consumer: ResponseConsumer): ClientExchange;
}

/** What is known of a session beyond its life. */
export interface SessionTrace {
  /** Whether it ever had a link: else nobody has heard of what was sent in it. */
  wasCarried: boolean;
}

export interface Answer extends ClientExchange {
  /**
   * Set where the response was asked for before, and held: the referrer that went out then, null if it is the same; and
   * the shell's id of the navigation, null if it is none of its own.
   */
  readonly held?: { readonly referrer: string | null; readonly id: number | null };
}

/** The consumer hears nothing before this has returned. It hears of failures only through `onError`. */
export type Ask = (request: PhoneRequest, consumer: ResponseConsumer) => Answer;

/**
 * Answers the request, or asks `next`, at once or later: with the same request or another, and with the same consumer or
 * one of its own that sees, changes or replaces what goes by.
 */
export type ResponseSource = (request: PhoneRequest, consumer: ResponseConsumer, next: Ask) => Answer;

/** Passes all on to `consumer`, but for what `own` takes. */
export function passingOn(consumer: ResponseConsumer, own: Partial<ResponseConsumer>): ResponseConsumer {
  return {
    onHead: (head) => consumer.onHead(head),
    onBody: (chunk) => consumer.onBody(chunk),
    onEnd: () => consumer.onEnd(),
    onError: (error) => consumer.onError(error),
    ...own,
  };
}

/** @param last is asked for what no source answers. */
export function askInOrder(sources: readonly ResponseSource[], last: Ask): Ask {
  return sources.reduceRight<Ask>((next, source) => (request, consumer) => source(request, consumer, next), last);
}
