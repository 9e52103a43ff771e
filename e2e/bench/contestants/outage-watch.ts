/** An outage of the link in the middle of a visit: begun by what has come, ended by time. */
import { setTimeout as wait } from "node:timers/promises";

export interface OutagePlan {
  /** On the link towards the phone since the page was asked for, IP headers included; then the outage begins. */
  readonly afterBytes: number;
  /** Milliseconds. */
  readonly duration: number;
}

export interface OutageRecord {
  /** Milliseconds since 1970. */
  readonly returnedAt: number;
  /** On the link towards the phone, from when the page was asked for until the outage began. */
  readonly bytesBefore: number;
}

/** Milliseconds between two looks at the link's counters. */
const POLL = 20;

/** What an outage needs of the lab. */
export interface CuttableLink {
  counters(): Promise<{ readonly down: { readonly bytes: number } }>;
  setOutage(on: boolean): Promise<void>;
}

/** From the moment before a page is asked for. */
export class OutageWatch {
  /** Once the link is back. */
  readonly returned: Promise<OutageRecord>;

  readonly #lab: CuttableLink;
  readonly #plan: OutagePlan;
  /** Milliseconds since 1970. */
  readonly startedAt = Date.now();
  #outage: [from: number, to: number] | null = null;
  #isOver = false;
  readonly #ended: Promise<void>;

  constructor(lab: CuttableLink, plan: OutagePlan) {
    this.#lab = lab;
    this.#plan = plan;
    const { promise, resolve, reject } = Promise.withResolvers<OutageRecord>();
    this.returned = promise;
    // Who does not wait for the return hears of a failure by `end`.
    promise.catch(() => {});
    this.#ended = this.#watch(resolve);
    this.#ended.catch(reject);
  }

  /** Looks no more; the link is there from then on. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
  }

  /** Milliseconds since the page was asked for. */
  elapsed(): number {
    return Date.now() - this.startedAt;
  }

  async #watch(onReturn: (record: OutageRecord) => void): Promise<void> {
    const { afterBytes, duration } = this.#plan;
    const start = (await this.#lab.counters()).down.bytes;
    let bytesBefore = 0;
    try {
      while (!this.#isOver) {
        const bytes = (await this.#lab.counters()).down.bytes - start;
        const now = this.elapsed();
        if (this.#outage === null && bytes >= afterBytes) {
          await this.#lab.setOutage(true);
          this.#outage = [now, now + duration];
          bytesBefore = bytes;
        } else if (this.#outage !== null && now >= this.#outage[1] && bytesBefore > 0) {
          await this.#lab.setOutage(false);
          this.#outage = [this.#outage[0], this.elapsed()];
          onReturn({ returnedAt: Date.now(), bytesBefore });
          bytesBefore = 0;
        }
        await wait(POLL);
      }
    } finally {
      await this.#lab.setOutage(false);
    }
  }
}
