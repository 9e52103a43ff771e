/** An access key with so many random bits is strong: 22 characters of base64url, or 32 hexadecimal digits. */
const STRONG_BITS = 128;
/** Different characters that a key must have: a random one of STRONG_BITS has more. */
const LEAST_CHARACTERS = 8;
/**
 * The smallest first: a key counts as drawn from the first alphabet that has all of its characters, else from
 * base64url.
 */
const ALPHABETS: readonly (readonly [pattern: RegExp, size: number])[] = [
  [/^[0-9]*$/, 10],
  [/^[0-9a-f]*$/i, 16],
  [/^[0-9a-z]*$/, 36],
];
const LARGEST_ALPHABET = 64;

/** Said where a key pairs nobody. */
export const STRONGER_KEY =
  "the access key of the edge is easy to guess; set ROPEWAY_ACCESS_KEY to 32 or more characters of `openssl rand -hex 32`";

/** An upper bound: it cannot tell whether the characters were drawn at random. */
export function isStrongAccessKey(key: string): boolean {
  const alphabet = ALPHABETS.find(([pattern]) => pattern.test(key))?.[1] ?? LARGEST_ALPHABET;
  return new Set(key).size >= LEAST_CHARACTERS && key.length * Math.log2(alphabet) >= STRONG_BITS;
}
