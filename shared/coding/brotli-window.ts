/** In the low bits of the first byte (RFC 7932 section 9.1): 8 MB, 16 MB. Others are 4 MB at most. */
const LARGE = new Set([0b1101, 0b1111]);
/** What asks for more than the RFC has. */
const LARGER = 0b001_0001;

/** Whether brotli that begins so has a larger window than the link takes (PROTOCOL.md section 5.3). */
export function hasLargeWindow(first: number): boolean {
  return LARGE.has(first & 0b1111) || (first & 0b111_1111) === LARGER;
}
