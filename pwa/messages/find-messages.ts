/** Rules of "Find in page" for the app and the documents of a page: how texts are compared, and how much is told. */

/** Name of the element that holds the reader, and what is searched while it is there. */
export const READER_ELEMENT = "ropeway-reader";

/** Matches that a document tells of; no person steps through more. */
export const MOST_MATCHES = 1_000;

/**
 * Signs above letters, which people leave out: of Latin, Greek, Cyrillic, Hebrew and Arabic, and those that are not seen. In
 * other scripts they are letters of their own.
 */
const ACCENTS = [
  ...[0xad, 0xad, 0x300, 0x36f, 0x483, 0x487, 0x591, 0x5bd, 0x5bf, 0x5c7, 0x610, 0x61a, 0x64b, 0x65f, 0x670, 0x670],
  ...[0x6d6, 0x6dc, 0x1ab0, 0x1aff, 0x1dc0, 0x1dff, 0x200b, 0x200d, 0x2060, 0x2060, 0x20d0, 0x20ff, 0xfe20, 0xfe2f],
];

const isAccent = (letter: string): boolean =>
  ACCENTS.findIndex((bound) => bound > letter.charCodeAt(0)) % 2 === 1 || ACCENTS.includes(letter.charCodeAt(0));

/** Letters that no decomposition of Unicode makes plain, as browsers' searches take them (DUCET's primary weights). */
const PLAIN: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ł: "l",
  ı: "i",
  ς: "σ",
  "’": "'",
  "‘": "'",
  "‚": "'",
  "“": '"',
  "”": '"',
  "„": '"',
};

const known = new Map<string, string>();

/** @param character one of Unicode's. @returns the characters that count of it; " " for any white space. */
export function foldCharacter(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 128) return code <= 32 ? " " : code >= 65 && code <= 90 ? String.fromCharCode(code + 32) : character;
  // Kana with a sign, and syllables of Hangul, are letters of their own.
  if (code >= 0x3041 && code < 0xd800) return character;
  const before = known.get(character);
  if (before !== undefined) return before;
  const folded = foldRare(character);
  if (known.size < 10_000) known.set(character, folded);
  return folded;
}

function foldRare(character: string): string {
  if (/\s/.test(character)) return character === "\ufeff" ? "" : " ";
  const letters = Array.from(character.toLowerCase().normalize("NFKD").toLowerCase());
  return letters.map((letter) => (isAccent(letter) ? "" : (PLAIN[letter] ?? letter))).join("");
}

/** A text as it is compared: without case and accents, and with one space where there are several. */
export function foldText(text: string): string {
  return Array.from(text.normalize("NFC"), foldCharacter).join("").replace(/ +/g, " ");
}
