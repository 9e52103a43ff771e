/**
 * How many pieces of a body came and were not consumed. Credit bounds their bytes; but each is an object that costs more
 * than a hundred, however short it is.
 */
import { ErrorCode, RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";

/** Count for all streams of a session. */
export interface PieceCount {
  pieces: number;
}

export class UnreadPieces {
  #all: PieceCount;
  /** Lengths in order; those before `#first` are consumed, and so many bytes of that one. */
  #lengths: number[] = [];
  #first = 0;
  #consumed = 0;

  constructor(all: PieceCount) {
    this.#all = all;
  }

  /** @throws RopewayError ENHANCE_YOUR_CALM of scope "stream" when the session has limits.unreadPieces of them. */
  add(length: number): void {
    if (length === 0) return;
    if (this.#all.pieces >= limits.unreadPieces) {
      const message = `Cannot keep more than ${limits.unreadPieces} pieces of bodies that nobody reads`;
      throw new RopewayError(ErrorCode.ENHANCE_YOUR_CALM, "stream", "peer", message);
    }
    this.#all.pieces += 1;
    this.#lengths.push(length);
  }

  /** @param bytes of the oldest. */
  consume(bytes: number): void {
    this.#consumed += bytes;
    const before = this.#first;
    for (let length = this.#lengths[this.#first]; length !== undefined && length <= this.#consumed; ) {
      this.#consumed -= length;
      this.#first += 1;
      length = this.#lengths[this.#first];
    }
    this.#all.pieces -= this.#first - before;
    if (2 * this.#first < this.#lengths.length) return;
    this.#lengths.splice(0, this.#first);
    this.#first = 0;
  }

  clear(): void {
    this.#all.pieces -= this.#lengths.length - this.#first;
    this.#lengths = [];
    this.#first = 0;
    this.#consumed = 0;
  }
}

/** What may be kept: a short view would keep the whole message that it is of. */
export function toKeep(bytes: Uint8Array): Uint8Array {
  return 4 * bytes.length < bytes.buffer.byteLength ? bytes.slice() : bytes;
}
