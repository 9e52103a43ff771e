/**
 * Sequenced frames of a channel that the peer has not acknowledged, oldest first, as they are on the wire: PROTOCOL.md
 * section 4.3. They are sent again on every fresh transport. Their memory is used anew once they are acknowledged.
 */
import * as limits from "../../limits.ts";
import { encodeFrame, type SequencedFrame } from "../../wire/frame.ts";
import { BufferPool } from "./buffer-pool.ts";
import { FlightMeter } from "./flight-meter.ts";

export interface RetainedSnapshot {
  readonly sent: number;
  /** Bytes that the socket carried in a round trip. */
  readonly flight: number;
}

/** What all channels of a session keep, counted as RetainedFrames does. */
export interface RetainedTotal {
  bytes: number;
  /** Bytes that channels have sent again over the first one's present link, less those that were acknowledged since. */
  replayed: number;
  /** Bytes that the peer has acknowledged since the session began, each frame counted once. */
  acknowledged: number;
}

export class RetainedFrames {
  readonly #total: RetainedTotal;
  #frames: Uint8Array[] = [];
  #bytes = 0;
  #sent: number;
  #flight: FlightMeter;
  #pool = new BufferPool();
  #allocate = (length: number): Uint8Array => this.#pool.take(length);

  constructor(snapshot: RetainedSnapshot | undefined, total: RetainedTotal) {
    this.#total = total;
    this.#sent = snapshot?.sent ?? 0;
    this.#flight = new FlightMeter(snapshot?.flight);
  }

  /** Sequenced frames, in all; the number of the next. */
  get sent(): number {
    return this.#sent;
  }

  /** The number of the first that is kept, or of the next. */
  get first(): number {
    return this.#sent - this.#frames.length;
  }

  get count(): number {
    return this.#frames.length;
  }

  /** Bytes of the frames, with limits.retainedFrameBytes more for each. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether DATA may be sent: the session does not keep so much that it could crowd out frames that must not wait. */
  get takesData(): boolean {
    return this.#total.bytes < limits.retainedDataBytes;
  }

  /** Bytes that the transport carries in a round trip. */
  get flight(): number {
    return this.#flight.bytes;
  }

  /** What is kept, as the transport's work in round trips. */
  get load(): number {
    return this.#flight.load(this.#bytes);
  }

  /** Bytes of memory that are kept for frames to come. */
  get spareBytes(): number {
    return this.#pool.freeBytes;
  }

  /** @returns the frame's bytes, to be sent: its payload may be written to afterwards. */
  add(frame: SequencedFrame): Uint8Array {
    const bytes = encodeFrame(frame, this.#allocate);
    this.#sent += 1;
    this.#frames.push(bytes);
    this.#count(bytes.length + limits.retainedFrameBytes);
    this.#flight.sent();
    return bytes;
  }

  /**
   * Forgets frames below the number `received`, which the peer has; no more than were sent.
   *
   * @param isReusable no frame waits to be sent once more.
   */
  release(received: number, isReusable: boolean): void {
    const count = received - this.first;
    if (count <= 0) return;
    let acknowledged = 0;
    for (const bytes of this.#frames.splice(0, count)) {
      acknowledged += bytes.length;
      this.#count(-bytes.length - limits.retainedFrameBytes);
      if (isReusable) this.#pool.give(bytes);
    }
    this.#total.acknowledged += acknowledged;
    this.#flight.acknowledged(count, acknowledged, this.#bytes);
  }

  /** All that are kept, to be sent on a fresh transport. */
  all(): readonly Uint8Array[] {
    return this.#frames;
  }

  /** They go out on a fresh connection, which carries as little as any. */
  restartFlight(): void {
    this.#flight.restart();
  }

  /** Keeps no memory for frames to come. */
  dropSpare(): void {
    this.#pool.clear();
  }

  /** Forgets all: nothing will be sent again. */
  clear(): void {
    this.#frames = [];
    this.#count(-this.#bytes);
    this.#flight.clear();
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#total.bytes += bytes;
    if (bytes < 0) this.#total.replayed = Math.max(0, this.#total.replayed + bytes);
  }
}
