/**
 * A body whose pieces may come on several channels, and so in any order: PROTOCOL.md section 4.6. What it holds is bounded
 * by the credit that the peer had.
 */
import { ErrorCode, RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";

export interface BodyPiece {
  readonly bytes: Uint8Array;
  readonly end: boolean;
}

export class BodyAssembly {
  /** In order and without a gap, not taken yet. */
  #ready: BodyPiece[] = [];
  /** Pieces behind a gap, by their offset. */
  #early = new Map<number, BodyPiece>();
  #received = 0;
  #length: number | null = null;

  /** Bytes that have come without a gap from the first on. */
  get received(): number {
    return this.#received;
  }

  /**
   * @param offset bytes of the body before the piece.
   * @throws RopewayError of scope "stream": PROTOCOL_ERROR when it overlaps another or lies behind the end,
   *   ENHANCE_YOUR_CALM when too many wait for one before them.
   */
  add(offset: number, bytes: Uint8Array, end: boolean): void {
    if (bytes.length === 0 && !end) return;
    const behind = offset + bytes.length;
    if (offset < this.#received || this.#overlaps(offset, behind)) throw refusal("it came before");
    if (this.#length !== null && (end || behind > this.#length)) throw refusal("the body has ended");
    if (end && [...this.#early.keys()].some((other) => other >= behind)) throw refusal("more came behind its end");
    if (end) this.#length = behind;
    if (offset > this.#received) {
      if (this.#early.size >= limits.earlyPieces) {
        const message = `Cannot keep more than ${limits.earlyPieces} pieces of a body: one before them is missing`;
        throw new RopewayError(ErrorCode.ENHANCE_YOUR_CALM, "stream", "peer", message);
      }
      this.#early.set(offset, { bytes, end });
      return;
    }
    let next: BodyPiece | undefined = { bytes, end };
    while (next !== undefined) {
      this.#ready.push(next);
      this.#received += next.bytes.length;
      const following: BodyPiece | undefined = next.end ? undefined : this.#early.get(this.#received);
      this.#early.delete(this.#received);
      next = following;
    }
  }

  /** The next piece in order, or null if it has not come. */
  take(): BodyPiece | null {
    return this.#ready.shift() ?? null;
  }

  clear(): void {
    this.#ready = [];
    this.#early.clear();
  }

  #overlaps(offset: number, behind: number): boolean {
    for (const [other, { bytes }] of this.#early) {
      if (other === offset || (other < behind && offset < other + bytes.length)) return true;
    }
    return false;
  }
}

function refusal(reason: string): RopewayError {
  return new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", `Cannot take a piece of a body: ${reason}`);
}
