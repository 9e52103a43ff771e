/** Congestion control as far as it matters to who shares a link with it: after RFC 9438 (CUBIC) and BBR version 1. */

export const SEGMENT_BYTES = 1448;
const INITIAL_WINDOW = 10 * SEGMENT_BYTES;

export interface Acknowledgement {
  readonly now: number;
  readonly bytes: number;
  readonly rtt: number;
  /** Bytes under way before this one arrived. */
  readonly inFlight: number;
  /** Bytes per ms that arrived between this segment's leaving and its acknowledgement. */
  readonly rate: number;
  /** The sender had nothing more to send when the segment left. */
  readonly appLimited: boolean;
  /** The segment left after the last round's were acknowledged. */
  readonly roundStart: boolean;
}

export interface CongestionControl {
  /** Bytes that may be under way. */
  readonly window: number;
  /** Bytes per ms, or null for as fast as the window allows. */
  readonly pace: number | null;
  acknowledged(event: Acknowledgement): void;
  /** Segments were lost; told once a round trip. */
  lost(now: number): void;
  timedOut(): void;
}

export type CongestionName = "cubic" | "bbr" | "fixed";

export function congestionControl(name: CongestionName, window = INITIAL_WINDOW): CongestionControl {
  if (name === "bbr") return new Bbr();
  if (name === "cubic") return new Cubic(window);
  return { window, pace: null, acknowledged() {}, lost() {}, timedOut() {} };
}

class Cubic implements CongestionControl {
  readonly pace = null;
  #window: number;
  #threshold = Number.POSITIVE_INFINITY;
  #minRtt = Number.POSITIVE_INFINITY;
  /** In segments, at the last loss. */
  #peak = 0;
  #epoch: number | null = null;
  /** Segments that Reno would have. */
  #reno = 0;

  constructor(window: number) {
    this.#window = window;
  }

  get window(): number {
    return this.#window;
  }

  acknowledged({ now, bytes, rtt, inFlight }: Acknowledgement): void {
    this.#minRtt = Math.min(this.#minRtt, rtt);
    if (this.#window < this.#threshold) {
      // RFC 7661: a window that is not used does not grow. HyStart: growing queues end the slow start.
      if (inFlight * 2 > this.#window) this.#window += bytes;
      if (this.#window > 16 * SEGMENT_BYTES && rtt > this.#minRtt + clamp(this.#minRtt / 8, 4, 16)) {
        this.#threshold = this.#window;
      }
      return;
    }
    if (inFlight + 3 * SEGMENT_BYTES < this.#window) return;
    const segments = this.#window / SEGMENT_BYTES;
    if (this.#epoch === null) {
      this.#epoch = now;
      this.#peak = Math.max(this.#peak, segments);
      this.#reno = segments;
    }
    const k = Math.cbrt((Math.max(0, this.#peak - segments) * (1 - 0.7)) / 0.4);
    const elapsed = (now - this.#epoch + this.#minRtt) / 1000;
    const target = Math.min(1.5 * segments, 0.4 * (elapsed - k) ** 3 + this.#peak);
    this.#reno += (0.53 * bytes) / SEGMENT_BYTES / this.#reno;
    this.#window += (Math.max(0, Math.max(target, this.#reno) - segments) / segments) * bytes;
  }

  lost(): void {
    this.#peak = this.#window / SEGMENT_BYTES;
    this.#window = Math.max(2 * SEGMENT_BYTES, this.#window * 0.7);
    this.#threshold = this.#window;
    this.#epoch = null;
  }

  timedOut(): void {
    // One that follows another says nothing new.
    if (this.#window > 2 * SEGMENT_BYTES) this.#threshold = Math.max(2 * SEGMENT_BYTES, this.#window * 0.7);
    this.#window = 2 * SEGMENT_BYTES;
    this.#epoch = null;
  }
}

const STARTUP_GAIN = 2.89;
const PROBE_GAINS = [1.25, 0.75, 1, 1, 1, 1, 1, 1] as const;

class Bbr implements CongestionControl {
  #minRtt = Number.POSITIVE_INFINITY;
  /** The best rate of each of the last ten rounds, bytes per ms. */
  #rates: number[] = [0];
  #phase: "startup" | "drain" | "probe" = "startup";
  #fullRate = 0;
  #roundsWithoutGrowth = 0;
  #cycle = 2;

  get #rate(): number {
    const least =
      this.#phase === "startup" && this.#minRtt < Number.POSITIVE_INFINITY ? INITIAL_WINDOW / this.#minRtt : 0;
    return Math.max(least, ...this.#rates);
  }

  get window(): number {
    if (this.#rate === 0) return INITIAL_WINDOW;
    const gain = this.#phase === "probe" ? 2 : STARTUP_GAIN;
    return Math.max(
      4 * SEGMENT_BYTES,
      this.#phase === "startup" ? INITIAL_WINDOW : 0,
      gain * this.#rate * this.#minRtt,
    );
  }

  get pace(): number | null {
    if (this.#rate === 0) return null;
    const gain = { startup: STARTUP_GAIN, drain: 1 / STARTUP_GAIN, probe: PROBE_GAINS[this.#cycle] ?? 1 };
    return gain[this.#phase] * this.#rate;
  }

  acknowledged({ rtt, inFlight, rate, appLimited, roundStart }: Acknowledgement): void {
    this.#minRtt = Math.min(this.#minRtt, rtt);
    if (roundStart) {
      // Rounds with little to send say nothing, and push nothing out.
      if (!appLimited) this.#rates.push(0);
      if (this.#rates.length > 10) this.#rates.shift();
      this.#startRound(appLimited);
    }
    if (!appLimited || rate > this.#rate) this.#rates[this.#rates.length - 1] = Math.max(this.#rates.at(-1) ?? 0, rate);
    if (this.#phase === "drain" && inFlight <= this.#rate * this.#minRtt) this.#phase = "probe";
  }

  lost(): void {}

  timedOut(): void {}

  #startRound(appLimited: boolean): void {
    if (this.#phase === "probe") this.#cycle = (this.#cycle + 1) % PROBE_GAINS.length;
    if (this.#phase !== "startup" || appLimited) return;
    if (this.#rate >= 1.25 * this.#fullRate) {
      this.#fullRate = this.#rate;
      this.#roundsWithoutGrowth = 0;
    } else if (++this.#roundsWithoutGrowth >= 3) {
      this.#phase = "drain";
    }
  }
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
