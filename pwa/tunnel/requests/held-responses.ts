/** Navigations and redirects whose slot comes for the response: the one of that origin, below the same top-level page. */

import type { Clock } from "../../../shared/clock.ts";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { ResponseConsumer } from "../../../shared/http/exchange.ts";
import type { RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import { type Answer, DEAF, type ResponseSource } from "../exchange/exchange.ts";

/**
 * For the slot of the URL's origin. Until the head is there it waits for its link or its origin.
 *
 * @param form as of a `PhoneRequest`: several frames may send forms to one URL.
 */
export function holdNavigation(
  held: HeldResponses,
  topLevelOrigin: string,
  url: string,
  response: HeldResponse,
  form?: string,
): void {
  // Several windows may be on their way to one URL: each is to get a response of its own.
  serial += 1;
  held.hold(`${keyOf(topLevelOrigin, url, form)}${serial}`, response, response.settled);
}

/** Whether one is held for a page of this URL. */
export function holdsNavigation(held: HeldResponses, url: string): boolean {
  return held.oldest(keyOf(new URL(url).origin, url))?.isWaiting === true;
}

/** Milliseconds: a slot's worker may have to start first, on a phone that is busy. */
const PAUSES: readonly number[] = [3_000, 6_000, 12_000];

/**
 * Tells, now and then, that nobody has come for a navigation whose head is there. Its slot may have come too early, and got
 * the response of the navigation before, which the shell was abandoning: messages of two ports overtake each other.
 */
export function remindOf(
  held: HeldResponses,
  response: HeldResponse,
  clock: Pick<Clock, "setTimer">,
  tell: () => void,
  [pause, ...others] = PAUSES,
): void {
  if (pause === undefined) return;
  clock.setTimer(() => {
    if (![...held].includes(response)) return;
    tell();
    remindOf(held, response, clock, tell, others);
  }, pause);
}

/** For ports, whose requests are stamped. */
export function heldNavigations(held: HeldResponses): ResponseSource {
  return (request, consumer, next) => {
    const { head, form } = request;
    // Slot workers of before 2026-12 do not say whether they come for a form's answer.
    const isOld = form === undefined && head.mode === "navigate";
    const claim = () =>
      held.claimLike(keyOf(head.topLevelOrigin, head.url, form)) ??
      (isOld ? held.claimLike(pageKey(head.topLevelOrigin, head.url)) : null);
    const claimed = isOwn(head) && head.method === "GET" ? claim() : null;
    if (claimed !== null) return claimed.answer(consumer);
    return form ? formLost().answer(consumer) : next(request, consumer);
  };
}

/** The form was sent once, and is not sent again without its body. */
function formLost(): HeldResponse {
  const reason = "Cannot show what the form led to: its answer was not waited for";
  const lost = new HeldResponse();
  lost.onError(new RopewayError(ErrorCode.BODY_NOT_REPLAYABLE, "stream", "library", reason));
  return lost;
}

let serial = 0;

/** The keys of all navigations to this URL begin so. */
function pageKey(topLevelOrigin: string, url: string): string {
  return `${topLevelOrigin} ${url} `;
}

/** Likewise, of those by this form. In quotes no name of a form begins with another. */
function keyOf(topLevelOrigin: string, url: string, form = ""): string {
  return pageKey(topLevelOrigin, url) + JSON.stringify(form);
}

/** Whether it is for the origin of the slot that asks. Navigations of a port are for no other. */
function isOwn({ mode, origin, url }: RequestHead): boolean {
  return mode === "navigate" || URL.parse(url)?.origin === origin;
}

interface HeldEntry<Held> {
  readonly response: Held;
  cancelTimer: () => void;
}

/** Responses that wait for who asks for them: each is given once, and given up after a while. */
export class HeldResponses<Held extends HeldResponse = HeldResponse> {
  /** By what may claim them, oldest first. */
  #held = new Map<string, HeldEntry<Held>>();
  #clock: Pick<Clock, "setTimer">;
  #lifetime: number;
  #onExpired: () => void;

  /** @param lifetime milliseconds. @param onExpired told when nobody has claimed one in time. */
  constructor(clock: Pick<Clock, "setTimer">, lifetime: number, onExpired: () => void = () => {}) {
    this.#clock = clock;
    this.#lifetime = lifetime;
    this.#onExpired = onExpired;
  }

  get size(): number {
    return this.#held.size;
  }

  /** The responses that wait. */
  *[Symbol.iterator](): Iterator<Held> {
    for (const { response } of this.#held.values()) yield response;
  }

  has(key: string): boolean {
    return this.#held.has(key);
  }

  /** The oldest whose key begins so; a response that was given up only where no other is held. */
  oldest(start: string): { readonly key: string; readonly isWaiting: boolean } | undefined {
    const meant = [...this.#held].filter(([key]) => key.startsWith(start));
    const entries = meant.map(([key, { response }]) => ({ key, isWaiting: !response.isGivenUp }));
    return entries.find(({ isWaiting }) => isWaiting) ?? entries[0];
  }

  /** @param ready the response's time runs from then on; a claimer until then waits with it. */
  hold(key: string, response: Held, ready: Promise<unknown> = Promise.resolve()): void {
    this.claim(key)?.cancel();
    const entry = { response, cancelTimer: () => {} };
    this.#held.set(key, entry);
    void ready.then(() => {
      if (this.#held.get(key) !== entry) return;
      entry.cancelTimer = this.#clock.setTimer(() => {
        this.claim(key)?.cancel();
        this.#onExpired();
      }, this.#lifetime);
    });
  }

  /** The response goes to the claimer alone. */
  claim(key: string): Held | null {
    const held = this.#held.get(key);
    if (held === undefined) return null;
    held.cancelTimer();
    this.#held.delete(key);
    return held.response;
  }

  /** As `oldest`. */
  claimLike(start: string): Held | null {
    const found = this.oldest(start);
    return found === undefined ? null : this.claim(found.key);
  }

  /** Gives up those that `isMeant` names. @returns how many those are. */
  drop(isMeant: (response: Held) => boolean): number {
    const meant = [...this.#held].filter(([, { response }]) => isMeant(response));
    for (const [key] of meant) this.claim(key)?.cancel();
    return meant.length;
  }
}

type Delivery = Held | Attached;

interface Held {
  readonly consumer: null;
  readonly waiting: (WaitingChunk & { readonly chunk: Uint8Array })[];
}

interface Attached {
  readonly consumer: ResponseConsumer;
  /** Bytes that may be handed on before the consumer must have read some. */
  credit: number;
  /** Chunks that were handed on beyond the credit; the stream's own credit bounds them. */
  readonly waiting: WaitingChunk[];
}

interface WaitingChunk {
  readonly taken: (ready?: Promise<void>) => void;
}

const CANCELLED: Delivery = { consumer: DEAF, credit: Number.POSITIVE_INFINITY, waiting: [] };

/**
 * A response between its source and its consumer, paced on the way. Until a consumer takes it, it is held: a
 * navigation that began while its slot was still being set up, one whose redirect the page must see first, or a push.
 * Buffers at most the stream's credit; then the edge waits.
 */
export class HeldResponse implements ResponseConsumer {
  #exchange: Answer | null = null;
  #delivery: Delivery = { consumer: null, waiting: [] };
  #head: ResponseHead | null = null;
  #outcome: "end" | RopewayError | null = null;
  #settle!: (outcome: ResponseHead | RopewayError) => void;

  /** Referrer of the request, or null where the claiming page has made the request itself. */
  referrer: string | null;
  /** The shell's id of the navigation that it is, or null. */
  id: number | null;
  /** Method of the request. */
  method: string;
  /** The head, or the failure before it. */
  readonly settled: Promise<ResponseHead | RopewayError> = new Promise((resolve) => {
    this.#settle = resolve;
  });

  constructor(referrer: string | null = null, id: number | null = null, method = "GET") {
    this.referrer = referrer;
    this.id = id;
    this.method = method;
  }

  get head(): ResponseHead | null {
    return this.#head;
  }

  get isGivenUp(): boolean {
    return this.#delivery === CANCELLED;
  }

  /** The exchange that feeds this response; `cancel` goes there. */
  setExchange(exchange: Answer): void {
    this.#exchange = exchange;
    if (exchange.held !== undefined) ({ referrer: this.referrer, id: this.id, method: this.method } = exchange.held);
    if (this.#delivery === CANCELLED) exchange.cancel();
  }

  /**
   * Hands everything, past and to come, to `consumer`.
   *
   * @param credit bytes until it has to `grant` more; without end if not given.
   */
  attach(consumer: ResponseConsumer, credit = Number.POSITIVE_INFINITY): void {
    const former = this.#delivery;
    this.#delivery = { consumer, credit, waiting: [] };
    if (this.#head !== null) consumer.onHead(this.#head);
    if (former.consumer === null) for (const { chunk, taken } of former.waiting) taken(this.onBody(chunk));
    else release(former);
    this.#tellOutcome();
  }

  /** The consumer has read so many bytes. */
  grant(bytes: number): void {
    if (this.#delivery.consumer === null) return;
    this.#delivery.credit += bytes;
    if (this.#delivery.credit > 0) release(this.#delivery);
  }

  /** Answers a request: `consumer` hears nothing before this has returned. */
  answer(consumer: ResponseConsumer): Answer {
    queueMicrotask(() => {
      if (this.#delivery !== CANCELLED) this.attach(consumer);
    });
    return { cancel: () => this.cancel(), held: this };
  }

  cancel(): void {
    const former = this.#delivery;
    this.#delivery = CANCELLED;
    release(former);
    this.#exchange?.cancel();
    if (this.#outcome !== null) return;
    this.#outcome = new RopewayError(ErrorCode.CANCEL, "stream", "user", "Cannot go on: it was given up");
    this.#settle(this.#outcome);
    former.consumer?.onError(this.#outcome);
  }

  onHead(head: ResponseHead): void {
    this.#head = head;
    this.#settle(head);
    this.#delivery.consumer?.onHead(head);
  }

  onBody(chunk: Uint8Array): Promise<void> | undefined {
    const delivery = this.#delivery;
    if (delivery.consumer === null) {
      return new Promise((taken) => {
        delivery.waiting.push({ chunk, taken });
      });
    }
    delivery.credit -= chunk.length;
    const ready = delivery.consumer.onBody(chunk);
    if (delivery.credit > 0) return ready;
    return new Promise((resolve) => {
      delivery.waiting.push({ taken: () => resolve(ready) });
    });
  }

  onEnd(): void {
    this.#outcome = "end";
    this.#tellOutcome();
  }

  onError(error: RopewayError): void {
    this.#outcome = error;
    if (this.#head === null) this.#settle(error);
    this.#tellOutcome();
  }

  #tellOutcome(): void {
    const { consumer } = this.#delivery;
    if (consumer === null || this.#outcome === null) return;
    // No credit follows the end.
    release(this.#delivery);
    if (this.#outcome === "end") consumer.onEnd();
    else consumer.onError(this.#outcome);
  }
}

/** Held chunks are lost, and chunks beyond the credit were handed on: both count as taken, the session needs its credit. */
function release({ waiting }: Delivery): void {
  for (const { taken } of waiting.splice(0)) taken();
}
