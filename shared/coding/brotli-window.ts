/**
 * Low bits of the first byte (RFC 7932 section 9.1): where they are odd, this and more are windows of 2 MB and more.
 */
const LARGE = 0b1001;
/** The same of a window that is larger than the RFC allows. */
const LARGER = 0b001_0001;
/** 1 MB. */
const MOST = 0b0111;
/** Bytes that such a window reaches back. */
const REACH = (1 << 20) - 16;

/** Whether brotli that begins so has a larger window than the link takes (PROTOCOL.md section 5.3). */
export function hasLargeWindow(first: number): boolean {
  const low = first & 0b1111;
  return (low % 2 === 1 && low >= LARGE) || (first & 0b111_1111) === LARGER;
}

/**
 * Lowers the window that a body of brotli names to the largest that the link takes. The body means the same if it is no
 * longer than that window reaches back. Only a body of one meta-block says how long it is (section 9.2); most that were
 * coded whole have one.
 *
 * @param opening the first bytes.
 * @returns the first byte to send in place of the one that came; null where the body is too long, or does not say.
 */
export function linkWindow(opening: Uint8Array): number | null {
  const [first = LARGER, low = 0, middle = 0, high = 0] = opening;
  if (!hasLargeWindow(first)) return first;
  const nibbles = 4 + (first >> 6);
  const isWhole = (first & 0b11_0000) === 0b01_0000 && nibbles < 7 && opening.length >= 4;
  if ((first & 0b111_1111) === LARGER || !isWhole) return null;
  const length = 1 + ((low | (middle << 8) | (high << 16)) & (2 ** (4 * nibbles) - 1));
  return length <= REACH ? (first & 0b1111_0000) | MOST : null;
}
