/**
 * How many bytes a channel carries in a round trip, by what was acknowledged between the sending of a frame and its own
 * acknowledgement (BBR's delivery sample, without a clock). A fresh TCP connection carries ten segments and grows by use,
 * so channels of one session differ by much, and what is spread evenly over them comes as late as the freshest allows.
 */

/** RFC 6928: ten segments. */
export const FRESH_WINDOW_BYTES = 14_600;
/**
 * A connection that has carried less counts as carrying this. It is half of a fresh window, since what was measured of
 * the others is a round trip old: in slow start they carry twice as much by now. By its whole window, one that joins in
 * the middle of a page would get more than it can bring in time.
 */
export const FRESH_FLIGHT_BYTES = FRESH_WINDOW_BYTES / 2;
/** What is left of a fresh window for small pieces, whose segments are not full. */
const FRESH_PIECES_BYTES = 0.75 * FRESH_WINDOW_BYTES;
/** What a fresh connection has beyond that comes a round trip later. So it counts so many times. */
const BEYOND_WEIGHT = 4;
/**
 * While more waits than a channel seems to carry, each acknowledgement lowers what it is taken to carry by this factor.
 */
const DECAY = 0.95;

export class FlightMeter {
  #bytes: number;
  /** Bytes acknowledged in all when each unacknowledged frame was sent. */
  #sentAt: number[] = [];
  #acknowledged = 0;

  constructor(bytes = FRESH_FLIGHT_BYTES) {
    this.#bytes = bytes;
  }

  /** Bytes in a round trip. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What so many bytes are to it, in round trips: where these are fewest, the next piece is there first. */
  load(bytes: number): number {
    const beyond = this.#bytes === FRESH_FLIGHT_BYTES ? Math.max(0, bytes - FRESH_PIECES_BYTES) : 0;
    return (bytes + (BEYOND_WEIGHT - 1) * beyond) / this.#bytes;
  }

  /** A frame goes out. */
  sent(): void {
    this.#sentAt.push(this.#acknowledged);
  }

  /**
   * The oldest frames arrived.
   *
   * @param bytes of these.
   * @param left bytes that are not acknowledged yet.
   */
  acknowledged(frames: number, bytes: number, left: number): void {
    const last = this.#sentAt.splice(0, frames).at(-1);
    if (last === undefined) return;
    this.#acknowledged += bytes;
    const flight = this.#acknowledged - last;
    const isLimiting = left > this.#bytes;
    this.#bytes = Math.max(flight, isLimiting ? DECAY * this.#bytes : this.#bytes, FRESH_FLIGHT_BYTES);
  }

  /** All frames that were not acknowledged go out again, on a fresh connection. */
  restart(): void {
    this.#bytes = FRESH_FLIGHT_BYTES;
    this.#sentAt = this.#sentAt.map(() => this.#acknowledged);
  }

  clear(): void {
    this.#sentAt = [];
  }
}
