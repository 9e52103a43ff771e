/**
 * Which sequenced frames of the peer have arrived on a channel, and how much of that the peer was told: PROTOCOL.md
 * sections 4.2 and 4.3. Frames are numbered by their order, so a count says which.
 */
import { encodeFrame } from "../../wire/frame.ts";

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
