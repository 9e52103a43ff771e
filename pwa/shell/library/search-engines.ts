/**
 * Search engines: those that come with the app, and the person's own. Each may have a shortcut: a word that is typed before
 * those to search for, with or without "@" ("w rope").
 */
import { t } from "../app/language.ts";
import { DEFAULT_SEARCH_URL, type KeyValueStorage } from "../app/settings.ts";
import { parseAddress } from "../tab/address-input.ts";

export interface SearchEngine {
  readonly name: string;
  /** `%s` stands for the percent-encoded words. */
  readonly searchUrl: string;
  /** "" for none. */
  readonly shortcut: string;
  /** The person has added it. */
  readonly isOwn: boolean;
}

/** A search with another engine than the one of choice. */
export interface MeantSearch {
  readonly engine: string;
  readonly words: string;
  readonly url: string;
}

const PRESETS: readonly (readonly [name: string, searchUrl: string, shortcut: string])[] = [
  ["DuckDuckGo (light)", DEFAULT_SEARCH_URL, "d"],
  ["DuckDuckGo", "https://duckduckgo.com/?q=%s", "ddg"],
  ["Google", "https://www.google.com/search?q=%s", "g"],
  ["Bing", "https://www.bing.com/search?q=%s", "b"],
  ["Brave", "https://search.brave.com/search?q=%s", "br"],
  ["Mojeek", "https://www.mojeek.com/search?q=%s", "m"],
  ["Wikipedia", "https://en.wikipedia.org/w/index.php?search=%s", "w"],
];

const STORAGE_KEY = "ropeway.search-engines";
const MOST_OWN = 100;

/** As stored: an engine of the person's, or a shortcut that the person has given to one of the app's. */
type Kept = Pick<SearchEngine, "searchUrl" | "shortcut">;

export class SearchEngines {
  readonly #storage: KeyValueStorage;

  constructor(storage: KeyValueStorage) {
    this.#storage = storage;
  }

  /** @param chosen search URL of the settings, which is among them. */
  list(chosen = ""): readonly SearchEngine[] {
    const kept = this.#read();
    const isPreset = (searchUrl: string) => PRESETS.some((preset) => preset[1] === searchUrl);
    const presets = PRESETS.map(([name, searchUrl, shortcut]) => {
      const own = kept.find((each) => each.searchUrl === searchUrl);
      return { name, searchUrl, shortcut: own?.shortcut ?? shortcut, isOwn: false };
    });
    const isKnown = chosen === "" || isPreset(chosen) || kept.some(({ searchUrl }) => searchUrl === chosen);
    const own = [...kept.filter(({ searchUrl }) => !isPreset(searchUrl))];
    if (!isKnown) own.push({ searchUrl: chosen, shortcut: "" });
    return [...presets, ...own.map((each) => ({ ...each, name: hostOf(each.searchUrl), isOwn: true }))];
  }

  /** Its host for one that the person has entered. */
  nameOf(searchUrl: string): string {
    const preset = PRESETS.find((each) => each[1] === searchUrl);
    return preset === undefined ? hostOf(searchUrl) : preset[0].replace(" (light)", "");
  }

  /** @returns why it cannot be used, or null. */
  add({ searchUrl, shortcut }: Kept): string | null {
    const isThere = this.list().some((engine) => engine.searchUrl === searchUrl);
    const problem = isThere ? t("This one is in the list.") : searchUrlProblem(searchUrl);
    return problem ?? this.setShortcut({ searchUrl, shortcut });
  }

  /** Likewise. */
  setShortcut({ searchUrl, shortcut: given }: Kept): string | null {
    const shortcut = given.trim().toLowerCase().replace(/^@/, "");
    if (/[\s@?/:.]/.test(shortcut)) return t("A shortcut is one word, without signs.");
    const others = this.list().filter((engine) => engine.searchUrl !== searchUrl);
    const taken = others.find((engine) => shortcut !== "" && engine.shortcut === shortcut);
    if (taken !== undefined) return t("{name} has this shortcut.", { name: taken.name });
    const rest = this.#read().filter((engine) => engine.searchUrl !== searchUrl);
    this.#write([...rest, { searchUrl, shortcut }]);
    return null;
  }

  remove(searchUrl: string): void {
    this.#write(this.#read().filter((engine) => engine.searchUrl !== searchUrl));
  }

  /** Null where it begins with no shortcut. */
  meant(typed: string): MeantSearch | null {
    const [first = "", ...rest] = typed.trim().split(/\s+/);
    const words = rest.join(" ");
    const shortcut = first.toLowerCase().replace(/^@/, "");
    if (shortcut === "" || (words === "" && !first.startsWith("@"))) return null;
    const engine = this.list().find((each) => each.shortcut === shortcut);
    if (engine === undefined) return null;
    const address = parseAddress(`?${words}`, engine.searchUrl);
    const home = URL.parse(engine.searchUrl.replace("%s", ""))?.origin;
    const url = address.kind === "search" && words !== "" ? address.url : `${home}/`;
    return { engine: this.nameOf(engine.searchUrl), words, url };
  }

  #read(): readonly Kept[] {
    try {
      const value: unknown = JSON.parse(this.#storage.getItem(STORAGE_KEY) ?? "[]");
      return (Array.isArray(value) ? value : []).filter(isKept).slice(-MOST_OWN);
    } catch {
      return [];
    }
  }

  #write(kept: readonly Kept[]): void {
    this.#storage.setItem(STORAGE_KEY, JSON.stringify(kept.slice(-MOST_OWN)));
  }
}

function isKept(value: Partial<Record<keyof Kept, unknown>> | null): value is Kept {
  return (
    typeof value?.searchUrl === "string" &&
    typeof value.shortcut === "string" &&
    searchUrlProblem(value.searchUrl) === null
  );
}

function hostOf(searchUrl: string): string {
  return URL.parse(searchUrl)?.host.replace(/^www\./, "") ?? "the web";
}

/** Why a search URL cannot be used, or null if it can. */
export function searchUrlProblem(searchUrl: string): string | null {
  if (!searchUrl.includes("%s")) return t("The address needs %s where the words go.");
  const filled = URL.parse(searchUrl.replace("%s", "words"));
  return filled !== null && /^https?:$/.test(filled.protocol) ? null : t("This is not a web address.");
}
