const HEADER_CRC = 2;
const EXTRA_FIELD = 4;
const NAME = 8;
const COMMENT = 16;

/** Takes the header off a gzip member that comes in pieces (RFC 1952 section 2.3). Keeps nothing of it. */
export class GzipHeader {
  /** Null when it has passed. */
  #bytes: Generator<void, void, number> | null = headerBytes();
  #hasBegun = false;

  /**
   * @returns what of the piece is behind the header.
   * @throws Error where it is none.
   */
  after(piece: Uint8Array): Uint8Array {
    if (this.#bytes === null || piece.byteLength === 0) return piece;
    if (!this.#hasBegun) this.#bytes.next();
    this.#hasBegun = true;
    for (const [index, byte] of piece.entries()) {
      if (this.#bytes.next(byte).done !== true) continue;
      this.#bytes = null;
      return piece.subarray(index + 1);
    }
    return new Uint8Array();
  }

  /** @throws Error where the body ends within the header. One of no bytes is empty, as in browsers. */
  end(): void {
    if (this.#bytes !== null && this.#hasBegun) throw new Error("Cannot undo gzip: the body ends within the header");
  }
}

/** Is given the header byte by byte, and is done behind the last one. */
function* headerBytes(): Generator<void, void, number> {
  const fixed: number[] = [];
  while (fixed.length < 10) fixed.push(yield);
  const [id1, id2, method, flags = 0] = fixed;
  if (id1 !== 0x1f || id2 !== 0x8b || method !== 8) throw new Error("Cannot undo gzip: its header is no gzip header");
  if (flags & EXTRA_FIELD) {
    const low = yield;
    const length = low + 256 * (yield);
    for (let index = 0; index < length; index += 1) yield;
  }
  if (flags & NAME) while ((yield) !== 0);
  if (flags & COMMENT) while ((yield) !== 0);
  if (flags & HEADER_CRC) {
    yield;
    yield;
  }
}
