/** What of a zstd frame is read here (RFC 8878 section 3.1.1): its header, and where its blocks end. */

const MAGIC = 0xfd2fb528;
const LEAST_WINDOW_LOG = 10;
/** Bytes of the longest block: also the least window that is announced. */
const BLOCK_BYTES = 128 * 1024;
const LAST_BLOCK = 1;
const RLE = 1;

/** Bytes: more no decoder of HTTP has to offer (RFC 8878 section 3.1.1.1.2 and RFC 9659), the dictionary among them here. */
const WINDOW_MOST = 8 * 1024 * 1024;

export const BLOCK_HEADER_BYTES = 3;

export interface FrameHeader {
  /** Bytes that it takes itself. */
  readonly length: number;
  /** Bytes of its content, null where it does not say. */
  readonly contentSize: number | null;
  readonly windowSize: number;
}

/**
 * @returns null where more of it is to come.
 * @throws Error for a frame that nobody sends here: with a dictionary's number, a checksum, or another magic number.
 */
export function readFrameHeader(bytes: Uint8Array): FrameHeader | null {
  const [descriptor] = bytes.subarray(4);
  if (descriptor === undefined) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  // Reserved bit, checksum, number of a dictionary.
  if (view.getUint32(0, true) !== MAGIC || (descriptor & 0b1111) !== 0) throw badFrame();
  const isSingleSegment = (descriptor & 0b10_0000) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? (isSingleSegment ? 1 : 0) : 2 ** sizeFlag;
  const sizeAt = isSingleSegment ? 5 : 6;
  const length = sizeAt + sizeBytes;
  if (bytes.length < length) return null;
  const contentSize = readContentSize(view, sizeAt, sizeBytes);
  const windowSize = isSingleSegment ? (contentSize ?? 0) : windowOf(bytes[5] ?? 0);
  return { length, contentSize, windowSize };
}

function readContentSize(view: DataView, at: number, bytes: number): number | null {
  if (bytes === 0) return null;
  if (bytes === 1) return view.getUint8(at);
  if (bytes === 2) return view.getUint16(at, true) + 256;
  return bytes === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
}

function windowOf(descriptor: number): number {
  const base = 2 ** (LEAST_WINDOW_LOG + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

/** How many bytes follow a block's header, and whether it is the last of its frame. */
export function readBlockHeader(bytes: Uint8Array): { readonly size: number; readonly isLast: boolean } {
  const header = (bytes[0] ?? 0) | ((bytes[1] ?? 0) << 8) | ((bytes[2] ?? 0) << 16);
  const type = (header >> 1) & 3;
  return { size: type === RLE ? 1 : header >> 3, isLast: (header & LAST_BLOCK) !== 0 };
}

/**
 * The beginning of a frame that has the dictionary as its first content, in blocks that are not compressed. What follows in
 * it sees the same history as the blocks of a frame that was coded against the dictionary.
 *
 * @throws Error where both need a larger window than a phone offers.
 */
export function* frameBehind(dictionary: Uint8Array, { windowSize }: FrameHeader): Generator<Uint8Array> {
  yield frameHeader(Math.max(BLOCK_BYTES, dictionary.length + windowSize));
  for (let start = 0; start < dictionary.length; start += BLOCK_BYTES) {
    const block = dictionary.subarray(start, start + BLOCK_BYTES);
    const header = block.length << 3;
    yield Uint8Array.of(header, header >> 8, header >> 16);
    yield block;
  }
}

/** Header of a frame that does not name its size, a checksum or a dictionary. */
function frameHeader(windowSize: number): Uint8Array {
  if (windowSize > WINDOW_MOST) throw new Error("Cannot decode the response: it needs too large a window");
  let log = LEAST_WINDOW_LOG;
  while (2 ** (log + 1) <= windowSize) log += 1;
  const mantissa = Math.ceil((windowSize / 2 ** log - 1) * 8);
  const header = new Uint8Array(6);
  new DataView(header.buffer).setUint32(0, MAGIC, true);
  header[5] = ((log - LEAST_WINDOW_LOG) << 3) + mantissa;
  return header;
}

function badFrame(): Error {
  return new Error("Cannot decode the response: it has a frame that is not to be there");
}
