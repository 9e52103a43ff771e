/** What the pages of documents asked for at their last visits. The record never leaves the phone. */
import { BoundedMap } from "../../../../shared/bounded-map.ts";
import type { RequestHead } from "../../../../shared/http/heads.ts";
import type { StoreChanges } from "../database/store-changes.ts";
import type { NotedRequest, StoredVisit } from "../database/store-database.ts";
import { type Expected, expectedOfKind, expectedOfPage, learnOfKind, learnOfPage, UNLEARNED } from "./learning.ts";
import { type PagePattern, patternOf } from "./page-pattern.ts";

/** Requests of one visit: nearly all that a page has; the edge asks a host for six at once. */
const REQUESTS = 60;

/** Rows that need not be read again: those of the pages that a person goes to and fro between. */
const AT_HAND = 16;

/** Milliseconds after its navigation in which a page asks by itself; later it may be the person's doing. */
const BY_ITSELF = 10_000;

const DAY = 86_400_000;
/** Milliseconds that a visit is remembered: what was read a month ago helps nobody, and is nobody's business. */
const REMEMBERED = 30 * DAY;

/** What it needs of the store. */
export interface VisitStore {
  readonly era: number;
  change(era: number, run: (changes: Pick<StoreChanges, "dropVisits">) => Promise<void>): Promise<void>;
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
  /** What was known of the page, and of its kind, when it began; null until that is read. */
  before: readonly [page: StoredVisit | undefined, kind: StoredVisit | undefined] | null;
  /** URLs that the edge was told of. */
  told: ReadonlySet<string>;
  isKept: boolean;
}

export class PageVisits {
  readonly #store: VisitStore;
  readonly #now: () => number;
  /** Under way, by partition: what follows a navigation there is its page's. */
  readonly #visits = new Map<string, Visit>();
  /** What was written last, by partition and document. */
  readonly #rows = new BoundedMap<string, { readonly era: number; readonly row: StoredVisit }>(AT_HAND);
  /** When what is too old was dropped. */
  #droppedAt = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds since the epoch. */
  constructor(store: VisitStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /**
   * A navigation begins: what follows in its partition is its page's.
   *
   * @param mayGuess where another site leads to a page that was not visited, nothing is to be expected of it.
   * @returns what the page asked for at its last visit; or where there was none, what all pages of its kind ask for.
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

  #drop(isGone: (visit: StoredVisit) => boolean): Promise<void> {
    return this.#store.change(this.#store.era, (changes) => changes.dropVisits(isGone));
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
    return row !== undefined && this.#isRemembered(row) ? row : undefined;
  }
}
