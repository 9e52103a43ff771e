import { t } from "../app/language.ts";
import type { Site } from "../app/state.ts";
import { parseAddress } from "../tab/address-input.ts";
import type { SearchEngines } from "./search-engines.ts";

/** A row under the address box. `input` is what is handed to `go` when it is chosen. */
export interface Suggestion {
  /** Words to search for, an address as it is typed, or a page that is known. */
  readonly kind: "search" | "url" | "page";
  readonly input: string;
  readonly label: string;
  readonly hint: string;
}

const MOST_ROWS = 6;

/** A page with the words by which it is found, and how much it is wanted. */
export interface KnownPage {
  readonly url: string;
  readonly title: string;
  /** Lower case, without `www.`. */
  readonly host: string;
  /** Lower case, with a space before each word. */
  readonly titleWords: string;
  readonly pathWords: string;
  /** Visits count by their age, and bookmarks as some visits do. */
  readonly weight: number;
}

export interface KnownSources {
  /** They come first where nothing is typed. */
  readonly pinned: readonly Pick<Site, "url" | "title">[];
  readonly bookmarks: readonly Pick<Site, "url" | "title">[];
  readonly recent: readonly Pick<Site, "url" | "title">[];
  /** @property at in milliseconds since 1970. */
  readonly visits: readonly {
    readonly url: string;
    readonly title: string;
    readonly at: number;
    readonly count: number;
  }[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

const DAY = 86_400_000;
/** Weights of a visit, by the days since. */
const WEIGHTS: readonly (readonly [days: number, weight: number])[] = [
  [4, 100],
  [14, 70],
  [31, 50],
  [90, 30],
];
const OLD_VISIT = 10;
const PIN = 100_000;
const BOOKMARK = 150;
/** Visits of a day that count: a page that is opened for every letter is not wanted a hundred times as much. */
const MOST_COUNTED = 10;

/** Each page once, the most wanted first. */
export function knownPages({ pinned, bookmarks, recent, visits, now }: KnownSources): readonly KnownPage[] {
  const pages = new Map<string, { url: string; title: string; weight: number }>();
  const add = ({ url, title }: Pick<Site, "url" | "title">, weight: number) => {
    const known = pages.get(url);
    if (known === undefined) pages.set(url, { url, title, weight });
    else known.weight += weight;
  };
  for (const [index, site] of pinned.entries()) add(site, PIN - index);
  for (const bookmark of bookmarks) add(bookmark, BOOKMARK);
  for (const visit of visits) {
    const age = (now - visit.at) / DAY;
    const weight = WEIGHTS.find(([days]) => age <= days)?.[1] ?? OLD_VISIT;
    add(visit, weight * Math.min(visit.count, MOST_COUNTED));
  }
  for (const [index, site] of recent.entries()) add(site, 1 - index / 100);
  return [...pages.values()].sort((a, b) => b.weight - a.weight).map((page) => ({ ...page, ...wordsOf(page) }));
}

function wordsOf({ url, title }: Pick<Site, "url" | "title">): Pick<KnownPage, "host" | "titleWords" | "pathWords"> {
  const address = URL.parse(url);
  const path = address === null ? url : `${address.pathname}${address.search}${address.hash}`;
  return {
    host: (address?.host ?? "").replace(/^www\./, ""),
    titleWords: spaced(title),
    pathWords: spaced(decoded(path)),
  };
}

function spaced(text: string): string {
  return ` ${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ")}`;
}

/** As people read and type it. */
export function decoded(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}

/** Rows for what is typed so far: first what Enter does, then pages that match, best first. @param pages as of `knownPages`. */
export function suggest(
  typed: string,
  pages: readonly KnownPage[],
  searchUrl: string,
  engines: SearchEngines,
): readonly Suggestion[] {
  const text = typed.trim();
  const rows = text === "" ? [] : enterRows(text, searchUrl, engines);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const byRank: KnownPage[][] = [[], [], [], []];
  for (const page of pages) {
    const ranked = byRank[rankOf(page, text.toLowerCase(), words)];
    if (ranked !== undefined && ranked.length < MOST_ROWS) ranked.push(page);
  }
  const [, some = [], title = [], host = []] = byRank;
  for (const page of [...host, ...title, ...some].slice(0, MOST_ROWS - rows.length))
    rows.push({ kind: "page", input: page.url, label: page.title || page.host, hint: hintOf(page.url) });
  return rows;
}

function enterRows(text: string, searchUrl: string, engines: SearchEngines): Suggestion[] {
  const meant = engines.meant(text);
  const ofChoice = t("Search {engine}", { engine: engines.nameOf(searchUrl) });
  if (meant !== null) {
    const { url, words, engine } = meant;
    const others = { kind: "search", input: `?${text}`, label: text, hint: ofChoice } as const;
    return [{ kind: "search", input: url, label: words || text, hint: t("Search {engine}", { engine }) }, others];
  }
  const { kind } = parseAddress(text, searchUrl);
  if (kind === "unsupported") return [];
  return [{ kind, input: text, label: text, hint: kind === "url" ? t("Open this address") : ofChoice }];
}

function hintOf(url: string): string {
  return decoded(url)
    .replace(/^https?:\/\/(?:www\.)?/, "")
    .replace(/\/$/, "");
}

/** 3: the host begins so; 2: words of the title do; 1: some words of the title or the path do; 0: one is found nowhere. */
function rankOf({ host, titleWords, pathWords, url }: KnownPage, text: string, words: readonly string[]): number {
  if (host.startsWith(text.replace(/^(?:https?:\/\/)?(?:www\.)?/, "")) || url.startsWith(text)) return 3;
  const isIn = (where: string) => (word: string) => where.includes(` ${spaced(word).trim()}`);
  const [inTitle, inPath] = [isIn(titleWords), isIn(pathWords)];
  if (words.every(inTitle)) return 2;
  return words.every((word) => inTitle(word) || inPath(word) || host.includes(word)) ? 1 : 0;
}
