import { BoundedMap } from "../../../../shared/bounded-map.ts";
import type { RequestHead, ResponseHead } from "../../../../shared/http/heads.ts";
import type { StoreChanges } from "../database/store-changes.ts";
import type { NotedRequest, StoredVisit } from "../database/store-database.ts";
import { isPage } from "../exchanges/stored-exchange.ts";

/** Requests of one visit: nearly all that a page has; the edge asks a host for six at once. */
const REQUESTS = 60;

/** Rows that need not be read again: those of the pages that a person goes to and fro between. */
const AT_HAND = 16;

/** Partitions whose visits go on, of tabs and of frames in them. Visits of older ones are written down. */
const UNDER_WAY = 32;

/** Milliseconds after its navigation in which a page asks by itself; later it may be the person's doing. */
const BY_ITSELF = 10_000;

const DAY = 86_400_000;
/** Milliseconds that a visit is remembered: a page read a month ago helps nobody, and is nobody's business. */
const REMEMBERED = 30 * DAY;

/** The store, as the visits need it. */
export interface VisitStore {
  readonly era: number;
  change(era: number, run: (changes: Pick<StoreChanges, "dropVisits">) => Promise<void>): Promise<unknown>;
  visit(partition: string, document: string): Promise<StoredVisit | undefined>;
  keepVisit(visit: StoredVisit, era: number): Promise<void>;
}

interface Visit {
  readonly document: string;
  readonly pattern: PagePattern;
  readonly era: number;
  /** Milliseconds since the epoch. */
  readonly began: number;
  readonly requests: Map<string, NotedRequest>;
  /** The rows of the page and of its kind when the visit began; null until they are read. */
  before: readonly [page: StoredVisit | undefined, kind: StoredVisit | undefined] | null;
  /** URLs that the edge was told of. */
  told: ReadonlySet<string>;
  isKept: boolean;
}

/** The requests of documents' pages at their last visits. The record never leaves the phone. */
export class PageVisits {
  readonly #store: VisitStore;
  readonly #now: () => number;
  /** Visits under way, by partition: the requests that follow a navigation there are its page's. */
  readonly #visits = new BoundedMap<string, Visit>(UNDER_WAY);
  /** The rows that were written last, by partition and document. */
  readonly #rows = new BoundedMap<string, { readonly era: number; readonly row: StoredVisit }>(AT_HAND);
  /** When what is too old was dropped. */
  #droppedAt = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds since the epoch. */
  constructor(store: VisitStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /**
   * A navigation begins: the requests that follow in its partition are its page's.
   *
   * @param mayGuess where another site leads to a page that was not visited, nothing is to be expected of it.
   * @returns the page's requests at its last visit; or where there was none, those that all pages of its kind make.
   */
  async begin(partition: string, document: string, mayGuess: boolean): Promise<readonly Expected[]> {
    const { era } = this.#store;
    this.keepAll();
    const pattern = patternOf(document);
    const visit: Visit = {
      document,
      pattern,
      era,
      began: this.#now(),
      requests: new Map(),
      before: null,
      told: new Set(),
      isKept: true,
    };
    this.#visits.set(partition, visit);
    const isOfKind = pattern.values.length > 0;
    const [page, kind] = await Promise.all([
      this.#row(partition, document),
      isOfKind ? this.#row(partition, pattern.name) : undefined,
    ]);
    visit.before = [page, kind];
    // Another navigation may have been quicker than the disk.
    if (this.#visits.get(partition) !== visit) this.#keepVisit(partition, visit);
    const ofKind = mayGuess ? expectedOfKind(kind, pattern) : [];
    return page === undefined ? ofKind : expectedOfPage(page, ofKind);
  }

  /** The edge is told that the page under way will ask for these. */
  told(partition: string, urls: readonly string[]): void {
    const visit = this.#visits.get(partition);
    if (visit !== undefined) visit.told = new Set(urls);
  }

  /**
   * A page asks for what may be stored.
   *
   * @param isPushed the edge has pushed it.
   * @returns whether there is more to write down.
   */
  note(partition: string, head: RequestHead, isPushed: boolean): boolean {
    const visit = this.#visits.get(partition);
    if (visit === undefined || visit.requests.size >= REQUESTS || visit.requests.has(head.url)) return false;
    const isNamed = isPushed && !visit.told.has(head.url);
    const isLate = Math.abs(this.#now() - visit.began) > BY_ITSELF;
    const noted = isNamed ? { ...head, isNamed } : head;
    visit.requests.set(head.url, isLate ? { ...noted, share: UNLEARNED } : noted);
    visit.isKept = false;
    return true;
  }

  /** Writes down what pages have asked for since. */
  keepAll(): void {
    for (const [partition, visit] of this.#visits) this.#keepVisit(partition, visit);
  }

  /** While nobody waits: drops what is too old. */
  async upkeep(): Promise<void> {
    const now = this.#now();
    if (Math.abs(now - this.#droppedAt) < DAY) return;
    this.#droppedAt = now;
    await this.#drop((visit) => !this.#isRemembered(visit));
  }

  /** Drops all, and what is under way is not written down any more. */
  async forget(): Promise<void> {
    for (const visit of this.#visits.values()) visit.isKept = true;
    this.#visits.clear();
    this.#rows.clear();
    await this.#drop(() => true);
  }

  async #drop(isGone: (visit: StoredVisit) => boolean): Promise<void> {
    await this.#store.change(this.#store.era, (changes) => changes.dropVisits(isGone));
  }

  /** Not if it is of a day to come, either: the clock was set back. */
  #isRemembered({ at }: StoredVisit): boolean {
    return Math.abs(this.#now() - at) < REMEMBERED;
  }

  #keepVisit(partition: string, visit: Visit): void {
    if (visit.isKept || visit.before === null) return;
    visit.isKept = true;
    const { document, pattern, before, began: at } = visit;
    const requests = [...visit.requests.values()];
    this.#keep({ partition, document, at, requests: learnOfPage(before[0], requests) }, visit.era);
    if (pattern.values.length === 0) return;
    const kind = learnOfKind(before[1], { document, requests }, pattern);
    this.#keep({ ...kind, partition, document: pattern.name, at }, visit.era);
  }

  #keep(row: StoredVisit, era: number): void {
    this.#rows.set(`${row.partition} ${row.document}`, { era, row });
    void this.#store.keepVisit(row, era);
  }

  async #row(partition: string, document: string): Promise<StoredVisit | undefined> {
    const atHand = this.#rows.get(`${partition} ${document}`);
    const isOfNow = atHand?.era === this.#store.era;
    const row = isOfNow ? atHand.row : await this.#store.visit(partition, document);
    if (row === undefined || !this.#isRemembered(row)) return undefined;
    // Earlier versions wrote down all.
    return { ...row, requests: row.requests.filter(tellsNothing) };
  }
}

/** Fields that say nothing of the person. Any other may hold a secret: a token, a password, a key. */
const PLAIN =
  /^(?:accept|accept-language|content-language|content-type|range|if-range|x-requested-with|save-data|dnt|sec-.*)$/;

/** Whether a request may be written down, and be answered by one that was made before it. */
export function tellsNothing({ headers }: Pick<RequestHead, "headers">): boolean {
  return headers.every(([name]) => PLAIN.test(name));
}

/** A request that a page is expected to make. */
export interface Expected {
  readonly head: RequestHead;
  /** From 0 to 1: which part of the visits had it, the latest counting as much as all before. */
  readonly share: number;
  /** The document's markup names it: the edge finds it by itself. */
  readonly isNamed: boolean;
  /** Pages of its kind have asked for it, the page itself has not. */
  readonly isGuessed?: true;
}

/** Share of a request that is not learned from: the person may have caused it, and not the page. */
const UNLEARNED = 0;

/** So many of a kind are kept. */
const OF_KIND = 60;
/** A request that both of the last two pages of a kind made has a share of three quarters. */
const LEAST_OF_KIND = 0.7;
/** A request with a smaller share is forgotten. */
const LEAST_KEPT = 0.1;
const FIRST = 0.5;
/** Share of a request that took the place of another at the same path: the next time it may be another again. */
const FIRST_OF_ANOTHER = 0.25;

/** The last visit's requests, with what is known of them from those before. */
export function learnOfPage(before: StoredVisit | undefined, now: readonly NotedRequest[]): NotedRequest[] {
  const known = new Map(before?.requests.map((each) => [each.url, each]));
  const asked = new Set(now.map(({ url }) => url));
  const gone = new Set([...known.keys()].filter((url) => !asked.has(url)).map(pathOf));
  return now.map((each) => {
    if (each.share === UNLEARNED) return each;
    const share = known.get(each.url)?.share;
    if (share !== undefined) return { ...each, share: (share + 1) / 2 };
    return { ...each, share: gone.has(pathOf(each.url)) ? FIRST_OF_ANOTHER : FIRST };
  });
}

/** Requests of the kind's pages, with places in them. A page that was the latest before is not counted again. */
export function learnOfKind(
  before: StoredVisit | undefined,
  { document, requests }: Pick<StoredVisit, "document" | "requests">,
  { values }: PagePattern,
): Pick<StoredVisit, "requests" | "latest"> {
  if (before?.latest === document) return before;
  const shares = new Map(
    (before?.requests ?? []).map((each) => [each.url, { ...each, share: (each.share ?? FIRST) / 2 }]),
  );
  for (const each of requests.filter(({ share }) => share !== UNLEARNED)) {
    const url = toTemplate(each.url, values);
    const share = (shares.get(url)?.share ?? 0) + FIRST;
    shares.set(url, { ...each, url, referrer: each.referrer && toTemplate(each.referrer, values), share });
  }
  const kept = [...shares.values()].filter(({ share }) => share >= LEAST_KEPT);
  return { latest: document, requests: kept.sort((a, b) => b.share - a.share).slice(0, OF_KIND) };
}

/** @param ofKind what pages of its kind ask for: that speaks for a request, too. */
function expectedOfPage(visit: StoredVisit, ofKind: readonly Expected[]): Expected[] {
  const shares = new Map(ofKind.map(({ head, share }) => [head.url, share]));
  return visit.requests.map(toExpected).map((each) => {
    const isLearned = each.share !== UNLEARNED;
    return isLearned ? { ...each, share: Math.max(each.share, shares.get(each.head.url) ?? 0) } : each;
  });
}

/** The requests that a page of the kind will make at its first visit. */
export function expectedOfKind(kind: StoredVisit | undefined, { values }: PagePattern): Expected[] {
  return (kind?.requests ?? []).map(toExpected).flatMap((each) => {
    const url = fromTemplate(each.head.url, values);
    const referrer = fromTemplate(each.head.referrer, values);
    if (each.share < LEAST_OF_KIND || url === null || !URL.canParse(url)) return [];
    return [{ ...each, head: { ...each.head, url, referrer: referrer ?? "" }, isGuessed: true }];
  });
}

/** Visits that a former release noted say neither. */
function toExpected({ share = FIRST, isNamed = false, ...head }: NotedRequest): Expected {
  return { head, share, isNamed };
}

function pathOf(url: string): string {
  return url.replace(/\?.*$/s, "");
}

/** Parts of one URL that may vary; if more do, they are hardly the name of a page. */
const VALUES = 4;
/**
 * Up to 200 characters that mean nothing in a URL: whoever links to a page writes its URL, and must not lead what it asks for
 * elsewhere.
 */
const NAME = /^(?!\.+$)[\w.~-]{1,200}$/;
/** No URL has it as it is: browsers escape it. */
const PLACE = /<(\d)>/g;

/**
 * Pages of one kind, such as all articles of a site. The part of their URLs that says which page it is stands in what they
 * ask for, too: `/article/7` asks for `/api/articles/7`.
 */
interface PagePattern {
  /** Name of the kind: the page's URL with places in it, as `https://a.example/article/<0>`. */
  readonly name: string;
  /** This page's values in those places; none where there is no other page of its kind. */
  readonly values: readonly string[];
}

/** By the looks of it: the end of a path, what has a digit or several words in it, and all that a query says. */
export function patternOf(document: string): PagePattern {
  const url = new URL(document);
  const values: string[] = [];
  const place = (text: string): string => {
    if (!NAME.test(text) || values.length >= VALUES) return text;
    values.push(text);
    return `<${values.length - 1}>`;
  };
  const segments = url.pathname.split("/");
  const end = segments.findLastIndex((segment) => segment !== "");
  const path = segments.map((segment, at) => {
    const isName = (at === end && end > 1) || /\d|-.*-/.test(segment);
    return isName ? segment.replace(/^.+?(?=(?:\.[a-z]+)?$)/, place) : segment;
  });
  const query = url.search.replace(/=([^&]*)/g, (_, value: string) => `=${place(value)}`);
  return { name: `${url.origin}${path.join("/")}${query}`, values };
}

/** The URL with places where it names the page. */
export function toTemplate(url: string, values: readonly string[]): string {
  const { origin } = new URL(url);
  const rest = values.reduce((text, value, at) => {
    const literal = value.replace(/[^A-Za-z0-9]/g, "\\$&");
    // Whole words only: 1 is none in v1, nor in a place.
    return text.replace(new RegExp(`(?<![A-Za-z0-9<])${literal}(?![A-Za-z0-9>])`, "g"), `<${at}>`);
  }, url.slice(origin.length));
  return `${origin}${rest}`;
}

/** @returns null where the page has no value for a place. */
export function fromTemplate(template: string, values: readonly string[]): string | null {
  const url = template.replace(PLACE, (place, at: string) => values[Number(at)] ?? place);
  return url.includes("<") || URL.parse(url)?.href !== url ? null : url;
}

/** Pages, the oldest dropped first: that which is shown, and those that were on the way since. */
const PAGES = 8;

/** Requests of one; nobody keeps a page that goes on for ever. */
const PAGE_REQUESTS = 500;

export interface OpenPage {
  /** URL without a fragment. */
  readonly document: string;
  readonly method: string;
  readonly requests: Map<string, RequestHead>;
  /** Its document came, and must not be stored. */
  isForbidden: boolean;
}

/** The requests of open pages, frames and all: those that it takes to keep a page. They are in memory only. */
export class PageRequests {
  /** By document, in the order in which they began. */
  readonly #pages = new Map<string, OpenPage>();

  find(document: string): OpenPage | null {
    return this.#pages.get(document) ?? null;
  }

  /** A request that the store sees begins, or one for a page. */
  asked(head: RequestHead): void {
    if (isPage(head)) return this.#begin(head.url, head.method);
    for (const { requests } of this.#pagesOf(head)) {
      if (requests.size < PAGE_REQUESTS) requests.set(`${head.origin} ${head.url}`, head);
    }
  }

  /** The page that the referrer names. Requests of styles and frames, and of other origins, do not name it: any page of the site may be theirs. */
  #pagesOf({ referrer, topLevelOrigin }: RequestHead): readonly OpenPage[] {
    const own = this.#pages.get(referrer.split("#", 1)[0] ?? "");
    const pages = own === undefined ? [...this.#pages.values()] : [own];
    return pages.filter(({ document }) => new URL(document).origin === topLevelOrigin);
  }

  /** The edge has answered. @param isForbidden it must not be stored. */
  answered(head: RequestHead, { url }: Pick<ResponseHead, "url">, isForbidden: boolean): void {
    if (!isPage(head)) return;
    // Where it was redirected to, its page is another origin's.
    if (url !== head.url) this.#begin(url, head.method);
    const page = this.#pages.get(url);
    if (page !== undefined) page.isForbidden = isForbidden;
  }

  #begin(document: string, method: string): void {
    const page: OpenPage = { document, method, requests: new Map(), isForbidden: false };
    this.#pages.delete(document);
    this.#pages.set(document, page);
    const [oldest] = this.#pages.values();
    if (this.#pages.size > PAGES && oldest !== undefined) this.#pages.delete(oldest.document);
  }
}
