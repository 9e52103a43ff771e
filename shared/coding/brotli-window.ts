/** The low bits of the first byte (RFC 7932 section 9.1) from here on, where they are odd: 2 MB and more. */
const LARGE = 0b1001;
/** What asks for more than the RFC has. */
const LARGER = 0b001_0001;

/** Whether brotli that begins so has a larger window than the link takes (PROTOCOL.md section 5.3). */
export function hasLargeWindow(first: number): boolean {
  const low = first & 0b1111;
  return (low % 2 === 1 && low >= LARGE) || (first & 0b111_1111) === LARGER;
}
