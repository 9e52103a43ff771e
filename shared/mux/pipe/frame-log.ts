import * as limits from "../../limits.ts";
import { concat, encodeFrame, type SequencedFrame } from "../../wire/frame.ts";

/** Frame buffers a channel keeps for reuse: 2 MiB, about what is unacknowledged on a fast link. */
const POOLED_BUFFERS = 64;

/** Room for a frame's type, stream id and length beside its payload. */
const FRAME_HEADER_BYTES = 17;

/**
 * Buffers of DATA frames, used again once the peer has acknowledged what was in them. Without it a large download
 * leaves its whole size behind as garbage, faster than collectors that count only their own heap care to run.
 */
class BufferPool {
  #free: ArrayBuffer[] = [];

  /** An array of exactly `length` bytes with anything in it. */
  take(length: number): Uint8Array {
    if (!isPooled(length)) return new Uint8Array(length);
    return new Uint8Array(this.#free.pop() ?? new ArrayBuffer(CAPACITY), 0, length);
  }

  /** Takes an array of `take` back: nobody may read it any more. Others are left to the collector. */
  give(bytes: Uint8Array): void {
    if (bytes.buffer.byteLength !== CAPACITY || this.#free.length >= POOLED_BUFFERS) return;
    this.#free.push(bytes.buffer as ArrayBuffer);
  }

  /** Leaves all that is free to the collector: nothing large is to be sent for a while. */
  clear(): void {
    this.#free = [];
  }

  /** Bytes that are kept for reuse. */
  get freeBytes(): number {
    return this.#free.length * CAPACITY;
  }
}

const CAPACITY = limits.batchBytes + FRAME_HEADER_BYTES;

/** Small frames are cheaper to allocate than to keep large buffers for. */
function isPooled(length: number): boolean {
  return length > CAPACITY / 4 && length <= CAPACITY;
}

/** RFC 6928: ten segments. */
export const FRESH_WINDOW_BYTES = 14_600;
/**
 * A connection that has carried less counts as carrying this: half of a fresh window. The measures of the others are a
 * round trip old: in slow start they carry twice as much by now. By its whole window, a connection that joins in the
 * middle of a page would get more than it can bring in time.
 */
export const FRESH_FLIGHT_BYTES = FRESH_WINDOW_BYTES / 2;
/** The bytes of a fresh window that small pieces can use, since their segments are not full. */
const FRESH_PIECES_BYTES = 0.75 * FRESH_WINDOW_BYTES;
/** Bytes of a fresh connection beyond that come a round trip later. So they count so many times. */
const BEYOND_WEIGHT = 4;
/**
 * While more waits than a channel seems to carry, each acknowledgement lowers what it is taken to carry by this factor.
 */
const DECAY = 0.95;

/**
 * How many bytes a channel carries in a round trip, by what was acknowledged between the sending of a frame and its own
 * acknowledgement (BBR's delivery sample, without a clock). A fresh TCP connection carries ten segments and grows by use,
 * so channels of one session differ by much, and what is spread evenly over them comes as late as the freshest allows.
 */
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

  /** Round trips that the connection needs for so many bytes: where these are fewest, the next piece is there first. */
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

export interface RetainedSnapshot {
  readonly sent: number;
  /** Bytes that the socket carried in a round trip. */
  readonly flight: number;
}

/** The total that all channels of a session keep, counted as RetainedFrames does. */
export interface RetainedTotal {
  bytes: number;
  /** Bytes that channels have sent again over the first one's present link, less those that were acknowledged since. */
  replayed: number;
  /** Bytes that the peer has acknowledged since the session began, each frame counted once. */
  acknowledged: number;
}

/**
 * Sequenced frames of a channel that the peer has not acknowledged, oldest first, as they are on the wire: PROTOCOL.md
 * section 4.3. They are sent again on every fresh transport. Their memory is used anew once they are acknowledged.
 */
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

  /** The frames that are kept, as the transport's work in round trips. */
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

export interface ArrivedSnapshot {
  readonly received: number;
  /** Number of the next sequenced frame on the socket; below `received` while the peer still replays. */
  readonly incoming: number;
}

/**
 * An ACK goes out as a message of its own when so many frames or bytes are unacknowledged, and beside other frames when
 * so many are.
 */
const ACK_FRAMES = 128;
const ACK_BYTES = 256 * 1024;
const ACK_PIGGYBACK_FRAMES = 16;
const ACK_PIGGYBACK_BYTES = 32 * 1024;
/**
 * Or when this part of `ackBytes` is, if that is less. Beside other frames an ACK costs five bytes, as a message of its
 * own a hundred.
 */
const ACK_PIGGYBACK_PART = 1 / 4;

/**
 * Which sequenced frames of the peer have arrived on a channel, and how much of that the peer was told: PROTOCOL.md
 * sections 4.2 and 4.3. Frames are numbered by their order, so a count says which.
 */
export class ArrivedFrames {
  /** Bytes after which an ACK goes out alone, if not ACK_BYTES. */
  ackBytes: number | null = null;
  #received: number;
  #incoming: number;
  #told: number;
  #bytesUntold = 0;

  constructor(snapshot?: ArrivedSnapshot) {
    this.#received = snapshot?.received ?? 0;
    this.#incoming = snapshot?.incoming ?? this.#received;
    this.#told = this.#received;
  }

  /** Frames, in all. */
  get received(): number {
    return this.#received;
  }

  get snapshot(): ArrivedSnapshot {
    return { received: this.#received, incoming: this.#incoming };
  }

  get isUntold(): boolean {
    return this.#received > this.#told;
  }

  /** Bytes of messages since the peer was told last. */
  get untoldBytes(): number {
    return this.#bytesUntold;
  }

  /** @param next number of the next frame on the transport: no larger than `received`. */
  restart(next: number): void {
    this.#incoming = next;
  }

  /** @param bytes of messages; below 0 to take some back. */
  count(bytes: number): void {
    this.#bytesUntold += bytes;
  }

  /** The next frame of the transport is here. @returns false when it had arrived before. */
  take(): boolean {
    const number = this.#incoming;
    this.#incoming += 1;
    if (number < this.#received) return false;
    this.#received = this.#incoming;
    return true;
  }

  /** The peer is told in another way. */
  told(): void {
    this.#told = this.#received;
    this.#bytesUntold = 0;
  }

  /** An ACK as bytes, if anything is untold. */
  ack(): Uint8Array | null {
    return this.#ackAbove(1, 0);
  }

  /** The same, if it is worth sending alone. */
  ackAlone(): Uint8Array | null {
    return this.#ackAbove(ACK_FRAMES, this.ackBytes ?? ACK_BYTES);
  }

  /** The same, if it is worth its bytes beside other frames. */
  ackAlong(): Uint8Array | null {
    const part = ACK_PIGGYBACK_PART * (this.ackBytes ?? ACK_BYTES);
    return this.#ackAbove(ACK_PIGGYBACK_FRAMES, Math.min(part, ACK_PIGGYBACK_BYTES));
  }

  #ackAbove(frames: number, bytes: number): Uint8Array | null {
    const untold = this.#received - this.#told;
    if (untold === 0 || (untold < frames && this.#bytesUntold < bytes)) return null;
    this.told();
    return encodeFrame({ type: "ack", received: this.#received });
  }
}

/** One TCP segment less WebSocket's and TLS's headers: shorter messages are no sooner there. */
const LEAST_BATCH_BYTES = 1400;

/** Token of a PING that asks whether what waited is there, and tells nothing of the link; those that do begin at 1. */
export const SETTLED = 0;

/** Encoded frames that wait for the end of the turn, and how they are cut into messages. */
export class Outbox {
  #frames: Uint8Array[] = [];
  #beginsWithHello = false;
  /** Token of the last PING that measures the link and waits for its PONG: one answer for any number of them. */
  #pongDue: number | null = null;
  #settledDue = false;
  #batchBytes: number = limits.firstBatchBytes;

  get isEmpty(): boolean {
    return this.#frames.length === 0;
  }

  /** Bytes at which messages are cut, so that an urgent frame does not wait behind a long one. */
  get batchBytes(): number {
    return this.#batchBytes;
  }

  /** Set to the nearest value that makes sense. */
  set batchBytes(bytes: number) {
    this.#batchBytes = Math.min(limits.batchBytes, Math.max(LEAST_BATCH_BYTES, bytes));
  }

  add(frame: Uint8Array): void {
    this.#frames.push(frame);
  }

  /** The first frame of a link. */
  addHello(frame: Uint8Array): void {
    this.#frames.push(frame);
    this.#beginsWithHello = true;
  }

  /** Owes a PONG. */
  answer(token: number): void {
    if (token === SETTLED) this.#settledDue = true;
    else this.#pongDue = token;
  }

  /**
   * The answers that are owed: one before all that waits but for HELLO, so that the peer measures the link and not the
   * queue here, and one behind all that waits.
   */
  addPongs(): void {
    const due = this.#pongDue;
    if (due !== null) this.#frames.splice(this.#beginsWithHello ? 1 : 0, 0, encodeFrame({ type: "pong", token: due }));
    if (this.#settledDue) this.#frames.push(encodeFrame({ type: "pong", token: SETTLED }));
    this.#pongDue = null;
    this.#settledDue = false;
  }

  clear(): void {
    this.#frames = [];
    this.#beginsWithHello = false;
    this.#pongDue = null;
    this.#settledDue = false;
  }

  /** All that waits, which is forgotten; a frame that is longer than a batch is a message of its own. */
  takeMessages(): Uint8Array[] {
    const messages: Uint8Array[] = [];
    let batch: Uint8Array[] = [];
    let size = 0;
    for (const frame of this.#frames) {
      if (size > 0 && size + frame.length > this.#batchBytes) {
        messages.push(joined(batch));
        batch = [];
        size = 0;
      }
      batch.push(frame);
      size += frame.length;
    }
    if (size > 0) messages.push(joined(batch));
    this.clear();
    return messages;
  }
}

function joined(frames: readonly Uint8Array[]): Uint8Array {
  return frames.length === 1 ? (frames[0] as Uint8Array) : concat(...frames);
}
