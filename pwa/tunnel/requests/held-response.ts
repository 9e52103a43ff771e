/**
 * A response that is under way before anyone asked for it: a navigation that began while its slot was still being set
 * up, or one whose redirect the page must see first. Buffers at most the stream's credit; then the edge waits.
 */
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { ClientExchange, ResponseConsumer } from "../../../shared/http/client-exchange.ts";
import type { ResponseHead } from "../../../shared/http/heads.ts";

export class HeldResponse implements ResponseConsumer {
  #exchange: ClientExchange | null = null;
  #consumer: ResponseConsumer | null = null;
  #head: ResponseHead | null = null;
  #chunks: { chunk: Uint8Array; taken: (ready?: Promise<void>) => void }[] = [];
  #outcome: "end" | RopewayError | null = null;
  #cancelled = false;
  #settle!: (outcome: ResponseHead | RopewayError) => void;

  /** What the navigation was sent with, or null where whoever claims the response asked for it too. */
  readonly referrer: string | null;
  /** The head, or the failure before it. */
  readonly settled: Promise<ResponseHead | RopewayError> = new Promise((resolve) => {
    this.#settle = resolve;
  });

  constructor(referrer: string | null = null) {
    this.referrer = referrer;
  }

  get head(): ResponseHead | null {
    return this.#head;
  }

  /** The exchange that feeds this response; `cancel` goes there. */
  setExchange(exchange: ClientExchange): void {
    this.#exchange = exchange;
    if (this.#cancelled) exchange.cancel();
  }

  /** Hands everything, past and to come, to `consumer`. May be called once more after `detach`. */
  attach(consumer: ResponseConsumer): void {
    this.#consumer = consumer;
    if (this.#head !== null) consumer.onHead(this.#head);
    for (const { chunk, taken } of this.#chunks.splice(0)) taken(consumer.onBody(chunk));
    if (this.#outcome === "end") consumer.onEnd();
    else if (this.#outcome !== null) consumer.onError(this.#outcome);
  }

  cancel(): void {
    this.#cancelled = true;
    for (const { taken } of this.#chunks.splice(0)) taken();
    this.#exchange?.cancel();
    if (this.#outcome !== null) return;
    this.#outcome = new RopewayError(ErrorCode.CANCEL, "stream", "user", "Cannot go on: it was given up");
    this.#settle(this.#outcome);
    this.#consumer?.onError(this.#outcome);
  }

  onHead(head: ResponseHead): void {
    this.#head = head;
    this.#settle(head);
    this.#consumer?.onHead(head);
  }

  onBody(chunk: Uint8Array): Promise<void> | undefined {
    if (this.#consumer !== null) return this.#consumer.onBody(chunk);
    return new Promise((resolve) => {
      this.#chunks.push({ chunk, taken: resolve });
    });
  }

  onEnd(): void {
    this.#outcome = "end";
    this.#consumer?.onEnd();
  }

  onError(error: RopewayError): void {
    this.#outcome = error;
    if (this.#head === null) this.#settle(error);
    this.#consumer?.onError(error);
  }
}

/** Who may claim a held response: the slot of this origin below this top-level page. */
export interface Claimant {
  readonly origin: string;
  readonly topLevelOrigin: string;
}

/** Held responses by what may claim them: the same slot and the same URL, once, and not for ever once they are there. */
export class HeldResponses {
  #held = new Map<string, { response: HeldResponse; cancelTimer: () => void }>();
  #setTimer: (task: () => void, delay: number) => () => void;
  #lifetime: number;

  constructor(setTimer: (task: () => void, delay: number) => () => void, lifetime: number) {
    this.#setTimer = setTimer;
    this.#lifetime = lifetime;
  }

  hold(claimant: Claimant, url: string, response: HeldResponse): void {
    this.claim(claimant, url)?.cancel();
    const key = keyOf(claimant, url);
    const entry = { response, cancelTimer: () => {} };
    this.#held.set(key, entry);
    // Until then it waits for its link or its origin, and so does whoever will claim it.
    void response.settled.then(() => {
      if (this.#held.get(key) !== entry) return;
      entry.cancelTimer = this.#setTimer(() => {
        this.#held.delete(key);
        response.cancel();
      }, this.#lifetime);
    });
  }

  claim(claimant: Claimant, url: string): HeldResponse | null {
    const key = keyOf(claimant, url);
    const held = this.#held.get(key);
    if (held === undefined) return null;
    held.cancelTimer();
    this.#held.delete(key);
    return held.response;
  }
}

function keyOf({ origin, topLevelOrigin }: Claimant, url: string): string {
  return `${topLevelOrigin} ${origin} ${url}`;
}
