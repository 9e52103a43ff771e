/** How much there is to guess of an access key: 22 random characters of base64url, or 32 hexadecimal digits, are enough. */
const STRONG_BITS = 128;
/** A random key of so many bits repeats itself less. */
const LEAST_CHARACTERS = 8;
/** From the smallest on: a key counts as drawn from the first that has all of its characters, any other from all of base64url. */
const ALPHABETS: readonly (readonly [pattern: RegExp, size: number])[] = [
  [/^[0-9]*$/, 10],
  [/^[0-9a-f]*$/i, 16],
  [/^[0-9a-z]*$/, 36],
];
const LARGEST_ALPHABET = 64;

/** Said where a key pairs nobody. */
export const STRONGER_KEY =
  "the access key of the edge is easy to guess; set ROPEWAY_ACCESS_KEY to 32 or more characters of `openssl rand -hex 32`";

/** At most so much: whether the characters were drawn at random it cannot tell. */
export function isStrongAccessKey(key: string): boolean {
  const alphabet = ALPHABETS.find(([pattern]) => pattern.test(key))?.[1] ?? LARGEST_ALPHABET;
  return new Set(key).size >= LEAST_CHARACTERS && key.length * Math.log2(alphabet) >= STRONG_BITS;
}
