/**
 * The app's words in a language: how a text becomes one of the catalogue (`pwa/languages`), and the words of a slot's own
 * documents. Those are in the browser's language, whatever the person has chosen in the app: scripts of the page could read there
 * which that is, and `navigator.languages` tells them no more.
 */

/** A text, or what it is for each plural category of the language (`Intl.PluralRules`). */
type Words = string | { readonly [category: string]: string };

/** By the English text; where it depends on a number, by that for several. */
export type Catalogue = Readonly<Record<string, Words>>;

export interface Language {
  readonly code: string;
  /** Its tag for `Intl`, with the region that the system has for it. */
  readonly locale: string;
  readonly isRightToLeft: boolean;
  readonly catalogue: Catalogue;
}

export type Places<Part = string | number> = Readonly<Record<string, Part>>;

declare global {
  interface Window {
    /** Codes of all catalogues; the build puts them here. */
    readonly __LANGUAGES: readonly string[];
  }
}

/** The language of the code. */
export const ENGLISH: Language = { code: "en", locale: "en-GB", isRightToLeft: false, catalogue: {} };

let spoken = ENGLISH;

/** @returns the words, and what is in the places between them. */
export function filledWords<Part>(text: string, places: Places<Part>): readonly (string | Part)[] {
  return text.split(/\{(\w+)\}/).map((part, index) => (index % 2 === 0 ? part : (places[part] ?? "")));
}

/** A name of a site, or a title, neither changes the order of what is around it nor is changed by that. */
export function textOf(
  parts: readonly (string | number)[],
  { isRightToLeft, locale }: Pick<Language, "isRightToLeft" | "locale">,
): string {
  const shown = (part: string | number, index: number) =>
    typeof part === "number"
      ? part.toLocaleString(locale)
      : isRightToLeft && index % 2 === 1
        ? `\u2068${part}\u2069`
        : part;
  return parts.map(shown).join("");
}

/** Languages that are written from right to left. */
const RIGHT_TO_LEFT = /^(ar|ckb|dv|fa|he|ps|sd|ug|ur|yi)\b/;

/** @param system the system's languages, the most wanted first. */
export function languageFor(code: string, system: readonly string[], catalogue: Catalogue = {}): Language {
  const locale = system.find((tag) => fitting(tag, [code])) ?? code;
  return { code, locale, isRightToLeft: RIGHT_TO_LEFT.test(code), catalogue };
}

/** The first language of the system's that the app has, or English. */
export function languageOf(system: readonly string[], known: readonly string[]): string {
  for (const tag of system) {
    const found = fitting(tag, known);
    if (found !== undefined) return found;
  }
  return ENGLISH.code;
}

/** The catalogue of a tag's region or script, or of its language where the tag has the usual script of that. */
function fitting(tag: string, known: readonly string[]): string | undefined {
  const { language, script, region } = new Intl.Locale(tag).maximize();
  const isUsual = new Intl.Locale(language).maximize().script === script;
  const codes = [`${language}-${region}`, `${language}-${script}`, ...(isUsual ? [language] : [])];
  return codes.find((code) => known.includes(code));
}

// In a slot's document:

/** Milliseconds that a document waits for its words, on a link that is away; it is in English then. */
const PATIENCE = 4_000;

/** From then on `t` has the browser's language, where the app has words in it and they come. */
export async function learnWords(): Promise<void> {
  const code = languageOf(navigator.languages, [ENGLISH.code, ...self.__LANGUAGES]);
  if (code === ENGLISH.code) return;
  const words: Promise<{ readonly default: Catalogue }> = import(`${location.origin}/.ropeway/page.js?words-${code}`);
  const come = words.then(({ default: catalogue }) => {
    spoken = languageFor(code, navigator.languages, catalogue);
  });
  await Promise.race([come.catch(() => {}), new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
}

/** The text in the browser's language, with values in its named places: `{name}`. */
export function t(text: string, places: Places = {}): string {
  const words = spoken.catalogue[text];
  return textOf(filledWords(typeof words === "string" ? words : text, places), spoken);
}

/** Has an element that shows such texts say which language they are in. */
export function marked<Shown extends HTMLElement>(element: Shown): Shown {
  element.lang = spoken.code;
  element.dir = spoken.isRightToLeft ? "rtl" : "ltr";
  return element;
}

/** Shows a text in the place of the same in English. */
export function translate(shown: HTMLElement, text: string, places: Places = {}): void {
  const english = textOf(filledWords(text, places), ENGLISH);
  void learnWords().then(() => {
    if (shown.textContent === english) marked(shown).textContent = t(text, places);
  });
}

/** A date, as the language writes it. */
export function dateText(at: Date): string {
  return at.toLocaleString(spoken.locale, { dateStyle: "medium", timeStyle: "short" });
}

/** Of a link to a file. @param name "" where it has none. */
export async function saveWords(name: string): Promise<string> {
  await learnWords();
  return name === "" ? t("Save file") : t("Save {name}", { name });
}
