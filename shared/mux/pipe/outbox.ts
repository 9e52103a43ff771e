/** Encoded frames that wait for the end of the turn, and how they are cut into messages. */
import * as limits from "../../limits.ts";
import { concat, encodeFrame } from "../../wire/frame.ts";

/** One TCP segment less WebSocket's and TLS's headers: shorter messages are no sooner there. */
const LEAST_BATCH_BYTES = 1400;

/** Token of a PING that asks whether what waited is there, and tells nothing of the link; those that do begin at 1. */
export const SETTLED = 0;

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
