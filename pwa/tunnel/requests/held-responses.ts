/** Responses that wait for who asks for them: each is given once, and given up after a while. */
import type { Clock } from "../../../shared/clock.ts";
import type { HeldResponse } from "./held-response.ts";

interface HeldEntry<Held> {
  readonly response: Held;
  cancelTimer: () => void;
}

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

  /** @param ready its time runs from then on; whoever claims it until then waits with it. */
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

  /** Nobody else gets it any more. */
  claim(key: string): Held | null {
    const held = this.#held.get(key);
    if (held === undefined) return null;
    held.cancelTimer();
    this.#held.delete(key);
    return held.response;
  }

  /** The oldest whose key begins so. */
  claimLike(start: string): Held | null {
    const key = [...this.#held.keys()].find((each) => each.startsWith(start));
    return key === undefined ? null : this.claim(key);
  }

  /** Gives up those that `isMeant` names. @returns how many those are. */
  drop(isMeant: (response: Held) => boolean): number {
    const meant = [...this.#held].filter(([, { response }]) => isMeant(response));
    for (const [key] of meant) this.claim(key)?.cancel();
    return meant.length;
  }
}
