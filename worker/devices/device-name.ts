/** A name for a device until its person gives it another. By the first that its User-Agent has, as these contain others. */
const KINDS: readonly (readonly [part: RegExp, name: string])[] = [
  [/iPhone/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android.*Mobile/, "Android phone"],
  [/Android/, "Android tablet"],
  [/CrOS/, "Chromebook"],
  [/Windows/, "Windows computer"],
  [/Macintosh/, "Mac"],
  [/Linux/, "Linux computer"],
];

/** Characters of a name. */
const MOST_CHARACTERS = 40;

/** @param userAgent field of its request, or null. */
export function nameByUserAgent(userAgent: string | null): string {
  return KINDS.find(([part]) => part.test(userAgent ?? ""))?.[1] ?? "Device";
}

/** @returns null for what is no name: nothing is left of it. */
export function readName(text: unknown): string | null {
  if (typeof text !== "string") return null;
  const name = [...text.replace(/[\p{C}\p{Z}]+/gu, " ").trim()].slice(0, MOST_CHARACTERS).join("");
  return name === "" ? null : name;
}
