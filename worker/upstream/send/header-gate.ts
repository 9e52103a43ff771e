/**
 * Cloudflare lets one invocation have six connections that wait for response headers; a seventh queues until one of
 * them has its head. The gate counts them, and sends what exceeds it through the loopback entrypoint, which is an
 * invocation of its own.
 */
import type { FetchFunction } from "./send.ts";

/** Cloudflare's connections waiting for headers per invocation; beyond it the loopback entrypoint fetches. */
export const EXCHANGES_AWAITING_HEAD = 6;

/** Gives a permit back; calling it again does nothing. */
export type ReleasePermit = () => void;

export class HeaderGate {
  readonly #permits: number;
  #held = 0;

  /** One connection of the platform's six stays free, for probes and for the fetches of other parts. */
  constructor(permits: number = EXCHANGES_AWAITING_HEAD - 1) {
    this.#permits = permits;
  }

  /** Exchanges that await their response head now. */
  get held(): number {
    return this.#held;
  }

  /** Null when all permits are out; there is no queue, since the loopback is always there. */
  tryAcquire(): ReleasePermit | null {
    if (this.#held >= this.#permits) return null;
    this.#held++;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#held--;
    };
  }
}

/** A fetch that goes direct while the gate has permits, and by `loopback` otherwise. */
export function createGatedFetch(direct: FetchFunction, loopback: FetchFunction, gate: HeaderGate): FetchFunction {
  return async (request) => {
    const release = gate.tryAcquire();
    if (release === null) return loopback(request);
    // An aborted fetch has let go of its connection, whenever its promise settles.
    request.signal.addEventListener("abort", release, { once: true });
    try {
      return await direct(request);
    } finally {
      request.signal.removeEventListener("abort", release);
      release();
    }
  };
}
