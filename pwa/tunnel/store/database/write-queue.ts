/**
 * Changes on their way to the disk, one transaction after the other. What waits meanwhile goes together. What nobody waits
 * for rests until its page has what it asked for: the disk's work would slow that down.
 */
import type { Clock } from "../../../../shared/clock.ts";
import type { StoreChanges } from "./store-changes.ts";

/** Bytes of bodies that wait to be written, all together; what comes beyond is not stored. */
const QUEUE_BYTES = 4 * 1024 * 1024;

/** Bytes: when so much rests, it is written at once. */
const RESTING_BYTES = QUEUE_BYTES / 4;

/** Milliseconds: what rests is written when no change has come for PAUSE, at the latest REST_MAX after the first. */
const PAUSE = 300;
const REST_MAX = 3_000;

/** Changes in one transaction: whoever wants to read waits for its end. */
const TOGETHER = 32;

/** Something to be written, and what memory learns when it is. */
export interface Change {
  run(changes: StoreChanges): Promise<void>;
  readonly committed?: (changes: StoreChanges) => void;
  /** Bytes of bodies that wait with it; none by default. */
  readonly bytes?: number;
}

interface Queued {
  readonly change: Change;
  readonly settle: () => void;
}

type QueueState =
  | { readonly kind: "empty" }
  | { readonly kind: "resting"; readonly since: number; readonly cancel: () => void }
  | { readonly kind: "writing" };

export class WriteQueue {
  readonly #write: (queued: readonly Change[], bytes: number) => Promise<void>;
  readonly #clock: Clock;
  #queue: Queued[] = [];
  #bytes = 0;
  #added = 0;
  #written = 0;
  /** How many of the queued changes are to be written without a rest. */
  #wanted = 0;
  #state: QueueState = { kind: "empty" };

  /** @param write does not reject. */
  /** @param clock milliseconds of any beginning. */
  constructor(write: (queued: readonly Change[], bytes: number) => Promise<void>, clock: Clock) {
    this.#write = write;
    this.#clock = clock;
  }

  /** Settles when it is written, or will not be. */
  add(change: Change): Promise<void> {
    const written = this.#enqueue(change);
    this.hurry();
    return written;
  }

  /** As `add`, and begins when nothing else has come for a while. */
  addResting(change: Change): Promise<void> {
    const written = this.#enqueue(change);
    this.#rest();
    return written;
  }

  /** Somebody waits for what rests. */
  hurry(): void {
    this.#wanted = this.#added;
    if (this.#state.kind === "writing" || this.#wanted === this.#written) return;
    if (this.#state.kind === "resting") this.#state.cancel();
    this.#state = { kind: "writing" };
    void this.#writeWanted();
  }

  #enqueue(change: Change): Promise<void> {
    const { bytes = 0 } = change;
    if (this.#bytes + bytes > QUEUE_BYTES) return Promise.resolve();
    this.#bytes += bytes;
    this.#added += 1;
    return new Promise((settle) => this.#queue.push({ change, settle }));
  }

  #rest(): void {
    if (this.#state.kind === "writing" || this.#queue.length === 0) return;
    const now = this.#clock.now();
    const since = this.#state.kind === "resting" ? this.#state.since : now;
    if (this.#state.kind === "resting") this.#state.cancel();
    const left = this.#bytes < RESTING_BYTES ? Math.min(PAUSE, since + REST_MAX - now) : 0;
    if (left <= 0) return this.hurry();
    this.#state = { kind: "resting", since, cancel: this.#clock.setTimer(() => this.hurry(), left) };
  }

  async #writeWanted(): Promise<void> {
    while (this.#written < this.#wanted) {
      const queued = this.#queue.splice(0, TOGETHER);
      const changes = queued.map(({ change }) => change);
      const bytes = changes.reduce((sum, each) => sum + (each.bytes ?? 0), 0);
      await this.#write(changes, bytes);
      this.#bytes -= bytes;
      this.#written += queued.length;
      for (const { settle } of queued) settle();
    }
    this.#state = { kind: "empty" };
    this.#rest();
  }
}
