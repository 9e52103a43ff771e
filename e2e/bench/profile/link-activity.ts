/** When the link carried bytes, from its own counters, read every few milliseconds. */
import { setTimeout as wait } from "node:timers/promises";
import type { Lab } from "../../lab/lab.ts";

/** One reading. */
export interface LinkReading {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Bytes delivered so far. */
  readonly down: number;
  readonly up: number;
}

export interface LinkUse {
  /** Milliseconds of the time looked at in which nothing arrived, in this direction or in either. */
  readonly idleDown: number;
  readonly idleUp: number;
  readonly idle: number;
  readonly bytesDown: number;
  readonly bytesUp: number;
  /** Milliseconds from the start to the first byte down, and to the last. */
  readonly firstDown: number | null;
  readonly lastDown: number | null;
}

/** Milliseconds; shorter pauses do not show. */
const INTERVAL = 5;

export class LinkWatch {
  readonly #lab: Pick<Lab, "counters">;
  readonly #readings: LinkReading[] = [];
  #goesOn = true;
  readonly #end: Promise<void>;

  constructor(lab: Pick<Lab, "counters">) {
    this.#lab = lab;
    this.#end = this.#watch();
  }

  async stop(): Promise<readonly LinkReading[]> {
    this.#goesOn = false;
    await this.#end;
    return this.#readings;
  }

  async #watch(): Promise<void> {
    while (this.#goesOn) {
      const { up, down } = await this.#lab.counters();
      this.#readings.push({ at: performance.timeOrigin + performance.now(), down: down.bytes, up: up.bytes });
      await wait(INTERVAL);
    }
  }
}

/** @param from, to milliseconds since 1970. */
export function linkUse(readings: readonly LinkReading[], from: number, to: number): LinkUse {
  let [idleDown, idleUp, idle, bytesDown, bytesUp] = [0, 0, 0, 0, 0];
  let [firstDown, lastDown]: (number | null)[] = [null, null];
  for (const [index, reading] of readings.entries()) {
    const before = readings[index - 1];
    if (before === undefined) continue;
    const time = Math.min(to, reading.at) - Math.max(from, before.at);
    if (time <= 0) continue;
    const down = reading.down - before.down;
    const up = reading.up - before.up;
    if (down === 0) idleDown += time;
    else {
      firstDown ??= Math.max(0, reading.at - from);
      lastDown = Math.min(reading.at, to) - from;
    }
    if (up === 0) idleUp += time;
    if (down === 0 && up === 0) idle += time;
    bytesDown += down;
    bytesUp += up;
  }
  return { idleDown, idleUp, idle, bytesDown, bytesUp, firstDown: firstDown ?? null, lastDown: lastDown ?? null };
}
