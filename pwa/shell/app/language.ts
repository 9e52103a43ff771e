/**
 * The app's words in the language of the person. English stands in the code, and is the key; a catalogue
 * (`pwa/languages`) has the same in another language. The phone keeps the one that it uses, in synchronous storage: the
 * first paint needs it, and it is there without a link. Which one that is, is chosen later (`language-choice.ts`).
 */

/** A text, or what it is for each plural category of the language (`Intl.PluralRules`). */
type Words = string | { readonly [category: string]: string };

/** By the English text; where it depends on a number, by that for several. */
export type Catalogue = Readonly<Record<string, Words>>;

/** A language that the app speaks, as the phone keeps it. */
export interface Spoken {
  readonly code: string;
  /** Its tag for `Intl`, with the region that the system has for it. */
  readonly locale: string;
  readonly isRightToLeft: boolean;
  readonly catalogue: Catalogue;
  /** Where the catalogue came from: it names the release. */
  readonly path: string;
}

export type LanguageStorage = Pick<Storage, "getItem" | "setItem">;

export type Places<Part = string | number> = Readonly<Record<string, Part>>;

export const LANGUAGE_KEY = "ropeway.language";

/** The language of the code. */
export const SOURCE: Spoken = { code: "en", locale: "en-GB", isRightToLeft: false, catalogue: {}, path: "" };

let spoken = SOURCE;

/** The text in the person's language, with values in its named places: `{name}`. */
export function t(text: string, places: Places = {}): string {
  return textOf(tParts(text, places));
}

/** As `t`, with elements in some places. */
export function tParts<Part>(text: string, places: Places<Part>): readonly (string | Part)[] {
  const words = spoken.catalogue[text];
  return filledWords(typeof words === "string" ? words : text, places);
}

/** A number, as the language writes it. @param digits behind the comma. */
export function numberText(value: number, digits = 0): string {
  const fractionDigits = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString(spoken.locale, { ...fractionDigits, useGrouping: false });
}

/** That in which the app speaks now. */
export function spokenLanguage(): Spoken {
  return spoken;
}

/** @returns the words, and what is in the places between them. */
export function filledWords<Part>(text: string, places: Places<Part>): readonly (string | Part)[] {
  return text.split(/\{(\w+)\}/).map((part, index) => (index % 2 === 0 ? part : (places[part] ?? "")));
}

/** A name of a site, or a title, neither changes the order of what is around it nor is changed by that. */
export function textOf(parts: readonly (string | number)[]): string {
  const { isRightToLeft, locale } = spoken;
  const shown = (part: string | number, index: number) =>
    typeof part === "number"
      ? part.toLocaleString(locale)
      : isRightToLeft && index % 2 === 1
        ? `\u2068${part}\u2069`
        : part;
  return parts.map(shown).join("");
}

/** From now on: what is drawn already stays as it is. @param html of the app's page. */
export function speak(next: Spoken, html: { lang: string; dir: string }): void {
  spoken = next;
  html.lang = spoken.code;
  html.dir = spoken.isRightToLeft ? "rtl" : "ltr";
}

export function keptLanguage(storage: LanguageStorage): Spoken | null {
  try {
    return JSON.parse(storage.getItem(LANGUAGE_KEY) ?? "null") as Spoken | null;
  } catch {
    return null;
  }
}
