/**
 * The app's words in the language of the person. English stands in the code, and is the key; a catalogue
 * (`pwa/languages`) has the same in another language. The phone keeps the one that it uses, in synchronous storage: the
 * first paint needs it, and it is there without a link. Which one that is, is chosen later (`language-choice.ts`).
 */
import { ENGLISH, filledWords, type Language, type Places, textOf } from "../../slot/words.ts";

/** A language that the app speaks, as the phone keeps it. */
export interface Spoken extends Language {
  /** Where the catalogue came from: it names the release. */
  readonly path: string;
}

export type LanguageStorage = Pick<Storage, "getItem" | "setItem">;

export const LANGUAGE_KEY = "ropeway.language";

/** The language of the code. */
export const SOURCE: Spoken = { ...ENGLISH, path: "" };

let spoken = SOURCE;

/** The text in the person's language, with values in its named places: `{name}`. */
export function t(text: string, places: Places = {}): string {
  return textOf(tParts(text, places), spoken);
}

/** As `t`, with elements in some places. */
export function tParts<Part>(text: string, places: Places<Part>): readonly (string | Part)[] {
  const words = spoken.catalogue[text];
  return filledWords(typeof words === "string" ? words : text, places);
}

/**
 * What a typed error says: in the person's language where there are words for it, or for its reason, which stands behind the
 * colon. English else.
 */
export function reasonText(message: string): string {
  const reason = message.slice(message.indexOf(": ") + 2);
  const key = reason.replace(/\d+/, "{number}");
  return key in spoken.catalogue ? t(key, { number: reason.replace(/\D+/g, "") }) : t(message);
}

/** A number, as the language writes it. @param digits behind the comma. */
export function numberText(value: number, digits = 0): string {
  const fractionDigits = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString(spoken.locale, { ...fractionDigits, useGrouping: false });
}

/** The language of the app now. */
export function spokenLanguage(): Spoken {
  return spoken;
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
