/** Encoded frames that wait for the end of the turn, and how they are cut into messages. */
import { limits } from "../limits.ts";
import { concat } from "../wire/frame.ts";

/** One TCP segment less headers: shorter messages are no sooner there. */
const LEAST_BATCH_BYTES = 1400;

export class Outbox {
  #frames: Uint8Array[] = [];
  #beginsWithHello = false;
  #batchBytes: number = limits.firstBatchBytes;

  get isEmpty(): boolean {
    return this.#frames.length === 0;
  }

  /** Bytes at which messages are cut, so that an urgent frame does not wait behind a long one. */
  get batchBytes(): number {
    return this.#batchBytes;
  }

  /** Takes what is nearest of the values that make sense. */
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

  /** Before all that waits, but for HELLO. */
  addFirst(frame: Uint8Array): void {
    this.#frames.splice(this.#beginsWithHello ? 1 : 0, 0, frame);
  }

  clear(): void {
    this.#frames = [];
    this.#beginsWithHello = false;
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
