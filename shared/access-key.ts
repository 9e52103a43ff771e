/** How much there is to guess of an access key: 22 random characters of base64url, or 32 hexadecimal digits, are enough. */
const STRONG_BITS = 128;
/** A random key of so many bits repeats itself less. */
const LEAST_CHARACTERS = 8;
const ALPHABETS: readonly (readonly [pattern: RegExp, size: number])[] = [
  [/[0-9]/, 10],
  [/[a-f]/, 6],
  [/[g-z]/, 20],
  [/[A-F]/, 6],
  [/[G-Z]/, 20],
  [/[^0-9a-zA-Z]/, 2],
];

/** Said where a key pairs nobody. */
export const STRONGER_KEY =
  "the access key of the edge is easy to guess; set ROPEWAY_ACCESS_KEY to 32 or more characters of `openssl rand -hex 32`";

/** At most so much: whether the characters were drawn at random it cannot tell. */
export function isStrongAccessKey(key: string): boolean {
  const alphabet = ALPHABETS.reduce((sum, [pattern, size]) => sum + (pattern.test(key) ? size : 0), 0);
  return new Set(key).size >= LEAST_CHARACTERS && key.length * Math.log2(alphabet) >= STRONG_BITS;
}
