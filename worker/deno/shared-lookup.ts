/**
 * Name lookups that block a thread each (Deno: getaddrinfo, of whose 32 threads cryptography and files need some too),
 * and that nothing can end. Those for the same name are one, what was found is kept for a moment, and more than the
 * limit wait: in the order of their phones, of which none gets all places.
 */
import { BoundedMap } from "../../shared/bounded-map.ts";
import type { Clock } from "../../shared/clock.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import type { ResolveName } from "../upstream/destination.ts";

/** Name lookups at a time on Deno, all there are: each may block one of its 32 threads until the resolver gives up. */
const CONCURRENT_LOOKUPS = 16;

/** How many of CONCURRENT_LOOKUPS one phone may take: a page that asks for slow names leaves some to other phones. */
const CONCURRENT_LOOKUPS_PER_PHONE = 12;

/** Milliseconds: until a name is looked up, the wait for a place included; a resolver gives up after 10 s a server. */
export const LOOKUP_TIMEOUT = 20_000;

/**
 * Milliseconds: a page's requests for one host come within seconds, and connections are kept; few names change as fast.
 */
export const LOOKUP_KEPT_TIME = 5_000;

/** Names whose addresses are kept so long, oldest dropped first; a page has up to 100 hosts. */
const LOOKUPS_KEPT = 512;

type Addresses = readonly string[];

export interface SharedLookupsDeps extends Clock {
  readonly lookUp: (host: string) => Promise<Addresses>;
  /** Lookups at a time; of one phone. */
  readonly most?: number;
  readonly mostPerPhone?: number;
}

/** Lookups that a phone still has to make, longest wait first. */
interface Phone {
  readonly queue: Set<string>;
  running: number;
}

interface Waiter {
  readonly phone: Phone;
  readonly settle: (outcome: Promise<Addresses>) => void;
}

export class SharedLookups {
  readonly #deps: Required<SharedLookupsDeps>;
  readonly #running = new Set<string>();
  readonly #waiters = new Map<string, Set<Waiter>>();
  /** Phones with a queue; the one that is next first. */
  readonly #queued = new Set<Phone>();
  /** Oldest first. */
  readonly #found = new BoundedMap<string, { readonly addresses: Addresses; readonly until: number }>(LOOKUPS_KEPT);

  constructor(deps: SharedLookupsDeps) {
    this.#deps = { most: CONCURRENT_LOOKUPS, mostPerPhone: CONCURRENT_LOOKUPS_PER_PHONE, ...deps };
  }

  /** The lookups of one phone. They reject with UPSTREAM_TIMEOUT when they take too long, the wait included. */
  forPhone(): ResolveName {
    const phone: Phone = { queue: new Set(), running: 0 };
    return (host, signal) => this.#ask(phone, host, signal);
  }

  async #ask(phone: Phone, host: string, signal: AbortSignal | undefined): Promise<Addresses> {
    signal?.throwIfAborted();
    const found = this.#found.get(host);
    if (found !== undefined && this.#deps.now() < found.until) return found.addresses;

    const { promise, resolve, reject } = Promise.withResolvers<Addresses>();
    const waiter: Waiter = { phone, settle: resolve };
    const waiters = this.#waiters.get(host) ?? new Set();
    this.#waiters.set(host, waiters.add(waiter));
    const leave = (reason: unknown) => {
      this.#forget(waiter, host);
      reject(reason);
    };
    const onAbort = () => leave(signal?.reason);
    signal?.addEventListener("abort", onAbort);
    const stopTimer = this.#deps.setTimer(() => leave(tooLong(host)), LOOKUP_TIMEOUT);
    if (!this.#running.has(host)) {
      phone.queue.add(host);
      this.#queued.add(phone);
      this.#start();
    }
    try {
      return await promise;
    } finally {
      stopTimer();
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** A lookup that nobody waits for any more is not made. */
  #forget(waiter: Waiter, host: string): void {
    const waiters = this.#waiters.get(host);
    if (waiters?.delete(waiter) !== true) return;
    if (waiters.size === 0) this.#waiters.delete(host);
    if (![...waiters].some(({ phone }) => phone === waiter.phone)) this.#unqueue(waiter.phone, host);
  }

  #unqueue(phone: Phone, host: string): void {
    phone.queue.delete(host);
    if (phone.queue.size === 0) this.#queued.delete(phone);
  }

  /** For each new name or free place. */
  #start(): void {
    for (const phone of [...this.#queued]) {
      if (this.#running.size >= this.#deps.most) return;
      const [host] = phone.queue;
      if (host === undefined || phone.running >= this.#deps.mostPerPhone) continue;
      void this.#run(phone, host);
      // Behind the others.
      if (this.#queued.delete(phone)) this.#queued.add(phone);
    }
  }

  async #run(phone: Phone, host: string): Promise<void> {
    const waiters = this.#waiters.get(host) ?? new Set();
    for (const waiter of waiters) this.#unqueue(waiter.phone, host);
    this.#running.add(host);
    phone.running++;
    const outcome = this.#deps.lookUp(host);
    await outcome.then(
      (addresses) => this.#keep(host, addresses),
      () => {},
    );
    this.#running.delete(host);
    phone.running--;
    for (const { settle } of this.#waiters.get(host) ?? []) settle(outcome);
    this.#waiters.delete(host);
    this.#start();
  }

  #keep(host: string, addresses: Addresses): void {
    this.#found.set(host, { addresses, until: this.#deps.now() + LOOKUP_KEPT_TIME });
  }
}

function tooLong(host: string): RopewayError {
  return new RopewayError(
    ErrorCode.UPSTREAM_TIMEOUT,
    "stream",
    "origin",
    `Cannot find ${host}: looking up its name took more than ${LOOKUP_TIMEOUT} ms`,
  );
}
