import type { Random } from "../random.ts";
import type { VirtualTime } from "./virtual-time.ts";

export interface BottleneckSettings {
  /** Bits per second, maybe changing with time (ms). */
  readonly rate: number | ((now: number) => number);
  /** One way, in ms, behind the queue. */
  readonly delay: number;
  /** Bytes that wait at most; packets beyond it are dropped. */
  readonly queueBytes?: number;
  /** Part of the packets that are lost at random, 0 to 1. */
  readonly loss?: number;
  /** A radio that sends only in the first `open` ms of each `period` ms, at a rate that keeps the mean. */
  readonly burst?: { readonly period: number; readonly open: number };
}

/** One direction of a link: a queue before a rate, then a delay. Several connections may share it. */
export class Bottleneck {
  /** Bytes that wait or are being sent. */
  queued = 0;
  dropped = 0;
  #time: VirtualTime;
  #random: Random;
  #settings: BottleneckSettings;
  #queue: { readonly bytes: number; readonly deliver: () => void }[] = [];
  #busy = false;

  constructor(time: VirtualTime, random: Random, settings: BottleneckSettings) {
    this.#time = time;
    this.#random = random;
    this.#settings = settings;
  }

  /** Bytes per ms, on average. */
  get rate(): number {
    const { rate } = this.#settings;
    return (typeof rate === "number" ? rate : rate(this.#time.now())) / 8000;
  }

  get delay(): number {
    return this.#settings.delay;
  }

  /** A packet of `bytes`, headers included, that calls `deliver` at the far end unless it is lost. */
  send(bytes: number, deliver: () => void): void {
    if (this.queued + bytes > (this.#settings.queueBytes ?? Number.POSITIVE_INFINITY)) {
      this.dropped += 1;
      return;
    }
    this.queued += bytes;
    this.#queue.push({ bytes, deliver });
    if (!this.#busy) this.#serve();
  }

  #serve(): void {
    const packet = this.#queue.shift();
    this.#busy = packet !== undefined;
    if (packet === undefined) return;
    const { burst, loss = 0 } = this.#settings;
    const speedUp = burst === undefined ? 1 : burst.period / burst.open;
    const phase = burst === undefined ? 0 : this.#time.now() % burst.period;
    const wait = burst !== undefined && phase >= burst.open ? burst.period - phase : 0;
    this.#time.in(wait + packet.bytes / (this.rate * speedUp), () => {
      this.queued -= packet.bytes;
      if (this.#random.uint32() / 2 ** 32 >= loss) this.#time.in(this.#settings.delay, packet.deliver);
      else this.dropped += 1;
      this.#serve();
    });
  }
}
