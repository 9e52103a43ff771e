/** Parts of the app's languages that no first page needs: the choice, whose outcome the next start finds on the phone, and numbers. */
import { filledWords, languageFor, languageOf, type Places, textOf } from "../../slot/words.ts";
import {
  keptLanguage,
  LANGUAGE_KEY,
  type LanguageStorage,
  SOURCE,
  type Spoken,
  speak,
  spokenLanguage,
} from "./language.ts";

declare global {
  interface Window {
    /** Path of a catalogue, with `*` in the place of its code; the build puts it here. */
    readonly __LANGUAGE: string;
  }
}

/** The choice that leaves it to the system. */
export const OF_SYSTEM = "system";

/** Codes of all languages that the app has words for. */
export function allLanguages(): readonly string[] {
  return [SOURCE.code, ...self.__LANGUAGES];
}

interface LanguagePlatform {
  readonly storage: LanguageStorage;
  /** Of the app's page. */
  readonly html: { lang: string; dir: string };
  /** The system's, the most wanted first. */
  readonly system: readonly string[];
  fetch(path: string): Promise<Response>;
}

/** The language chosen last: a catalogue that comes later than the next choice is not used. */
let latest = "";

/**
 * Has the app speak the language that the person chose, at once where the phone has its words.
 *
 * @param chosen `system`, or a code. Where there are no words, or they cannot be had now, the app speaks English.
 *
 * @param draw all is to be drawn again.
 */
export async function chooseLanguage(chosen: string, draw: () => void, platform = ofWindow()): Promise<void> {
  const { storage, html, system } = platform;
  const all = allLanguages();
  const code = all.includes(chosen) ? chosen : languageOf(system, all);
  latest = code;
  const kept = keptLanguage(storage);
  const path = code === SOURCE.code ? "" : self.__LANGUAGE.replace("*", code);
  const isSame = kept?.code === code;
  const { catalogue: _, ...next } = languageFor(code, system);
  const use = (catalogue: Spoken["catalogue"], from: string) => {
    keepLanguage(storage, { ...next, catalogue, path: from });
    speak({ ...next, catalogue, path: from }, html);
    draw();
  };
  if (!isSame || kept.locale !== next.locale) use(isSame ? kept.catalogue : {}, isSame ? kept.path : "");
  if (path === "" || (isSame && kept.path === path)) return;
  const catalogue = await fetchCatalogue(path, platform);
  // A catalogue that cannot be had is asked for again with the next start.
  if (catalogue !== null && latest === code) use(catalogue, path);
}

function ofWindow(): LanguagePlatform {
  return {
    storage: localStorage,
    html: document.documentElement,
    system: navigator.languages,
    fetch: (path) => fetch(path, { credentials: "omit" }),
  };
}

async function fetchCatalogue(path: string, platform: LanguagePlatform): Promise<Spoken["catalogue"] | null> {
  try {
    const response = await platform.fetch(path);
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

function keepLanguage(storage: LanguageStorage, next: Spoken): void {
  try {
    storage.setItem(LANGUAGE_KEY, JSON.stringify(next));
  } catch {
    // No room: it is fetched with each start.
  }
}

/** As `t`, by a number, which has the place `{count}`. */
export function tCount(count: number, one: string, several: string, places: Places = {}): string {
  const spoken = spokenLanguage();
  const words = spoken.catalogue[several];
  const [forms, locale] = typeof words === "object" ? [words, spoken.code] : [{ one, other: several }, SOURCE.code];
  const form = forms[new Intl.PluralRules(locale).select(count)] ?? several;
  return textOf(filledWords(form, { ...places, count }), spoken);
}

/** Its tag for `Intl`. */
export function localeTag(): string {
  return spokenLanguage().locale;
}
