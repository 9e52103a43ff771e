/** An outage of the link in the middle of a visit: begun by what has come, ended by time, with a record of all that. */
import { setTimeout as wait } from "node:timers/promises";

/** What came over the link towards the phone, and when: milliseconds since the person asked for the page. */
export interface Timeline {
  /** IP headers included. */
  readonly points: readonly (readonly [at: number, bytes: number])[];
  /** The time without a link. */
  readonly outage: { readonly from: number; readonly to: number };
  readonly load: number;
  /** When the person asked for the page a second time, and what was wrong with the first; null where once was enough. */
  readonly reload: { readonly at: number; readonly reason: string } | null;
}

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
/** Milliseconds between two points of the timeline. */
const RESOLUTION = 200;

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
  readonly #startedAt = Date.now();
  readonly #points: [at: number, bytes: number][] = [[0, 0]];
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

  /** @param loadedAt milliseconds since 1970. */
  async end(loadedAt: number, reload: Timeline["reload"]): Promise<Timeline> {
    await this.stop();
    const [from, to] = this.#outage ?? [0, 0];
    return { points: this.#points, outage: { from, to }, load: loadedAt - this.#startedAt, reload };
  }

  /** Looks no more; the link is there from then on. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
  }

  /** Milliseconds since the page was asked for. */
  elapsed(): number {
    return Date.now() - this.#startedAt;
  }

  async #watch(onReturn: (record: OutageRecord) => void): Promise<void> {
    const { afterBytes, duration } = this.#plan;
    const start = (await this.#lab.counters()).down.bytes;
    let bytesBefore = 0;
    try {
      while (!this.#isOver) {
        const bytes = (await this.#lab.counters()).down.bytes - start;
        const now = this.elapsed();
        this.#note(now, bytes);
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

  /** Where nothing comes, two points tell as much as many. */
  #note(at: number, bytes: number): void {
    const points = this.#points;
    const [last, before] = [points.at(-1), points.at(-2)];
    if (last === undefined || at - last[0] < RESOLUTION) return;
    if (before !== undefined && before[1] === bytes && last[1] === bytes) last[0] = at;
    else points.push([at, bytes]);
  }
}
