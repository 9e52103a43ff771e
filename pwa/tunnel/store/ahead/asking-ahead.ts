import { type ClientExchange, isPushable } from "../../../../shared/http/exchange.ts";
import { headerValue } from "../../../../shared/http/head-fields.ts";
import type { RequestHead } from "../../../../shared/http/heads.ts";
import {
  isLearned,
  knownUrls,
  type LearnedRequest,
  sayLearned,
  withoutDefaultAccept,
} from "../../../../shared/http/phone-fields.ts";
import { type Decision, decide } from "../../../../shared/http-cache/cache-rules.ts";
import { isSameOrigin } from "../../../../shared/web/origin.ts";
import { DEAF, laterWith } from "../../exchange/exchange.ts";
import type { PartitionIndex } from "../database/response-store.ts";
import { byUse } from "../database/store-database.ts";
import type { EdgeQuestions } from "../exchanges/edge-questions.ts";
import { cached, type Lookup, type SourceParts } from "../exchanges/lookup.ts";
import {
  contextOf,
  type ExchangeEntry,
  type StoredExchange,
  type Variant,
  variantsOf,
} from "../exchanges/stored-exchange.ts";
import { type Expected, PageVisits, tellsNothing } from "./page-visits.ts";

/** The plan for a page, made when its document is asked for. */
interface PagePlan {
  /** Responses that the edge need not push, since they are stored; and those that it may, since they are not. */
  readonly told: Pick<RequestHead, "known" | "learned">;
  /** Asks about stale copies. */
  ask(): void;
}

interface Wanted {
  readonly expected: Expected;
  readonly lookup: Lookup;
  readonly decision: Decision<Variant>;
}

/** Milliseconds in which what a page asks for gathers before it is written down. */
const KEPT_AFTER = 1500;

/** URLs that a navigation names in 171 characters; of the page itself as many as there may be. */
const KNOWN = 64;

/** A page that made a request at its last visit, and not in place of another, makes it again. */
const LEAST_SHARE = 0.4;
/** A script's request may do something at its origin: the page must have made it twice in a row. */
const LEAST_OF_SCRIPTS = 0.7;

/**
 * With a navigation, and before its document has come, asks origins about what the document's page asked for at its last
 * visit and what has become stale since: the page's own requests find it confirmed.
 */
export class AskingAhead {
  readonly #parts: SourceParts;
  readonly #questions: EdgeQuestions;
  readonly #visits: PageVisits;
  readonly #asked: AskedQuestions;
  #isToBeKept = false;

  constructor(parts: SourceParts, questions: EdgeQuestions) {
    this.#parts = parts;
    this.#questions = questions;
    this.#visits = new PageVisits(parts.store, () => parts.platform.now());
    this.#asked = new AskedQuestions(() => parts.platform.now());
  }

  /** Pages' requests at their visits. */
  get visits(): Pick<PageVisits, "keepAll" | "upkeep" | "forget"> {
    return this.#visits;
  }

  /** A page asks for something. */
  note({ head, partition, request }: Lookup): void {
    const isPlain = head.cacheMode === "default" && tellsNothing(request.head);
    const isNoted = isPlain && this.#visits.note(partition, request.head, request.push !== null);
    if (isNoted) this.#keepSoon();
  }

  /**
   * A document is asked for. The plan follows the requests of its page's last visit, or of pages of its kind, and the
   * responses that other pages used lately, which this page may use too.
   *
   * @returns null where no response for its page may come from here.
   */
  async plan(document: Lookup): Promise<PagePlan | null> {
    const { head, partition } = document;
    const ofPage = await this.#visits.begin(
      partition,
      head.url,
      head.origin === null || isSameOrigin(head.origin, head.url),
    );
    const expected = head.isScriptless === true ? ofPage.filter(isOfMarkup) : ofPage;
    if (head.cacheMode === "reload") return null;
    const index = await this.#parts.store.index(partition);
    // What a page behind a password loads is asked for with that.
    const isOpenToAll = headerValue(head.headers, "authorization") === null;
    const isAsking = head.cacheMode === "default" && isOpenToAll;
    const wanted = this.#find(document, expected, index);
    const stored = wanted.flatMap((each) => this.#storedFor(each, isAsking));
    this.#parts.store.readAhead(stored);
    const known = stored.map(({ url }) => url);
    const isWanted = new Set(expected.map((each) => each.head.url));
    const others = index.all().filter(({ url }) => !isWanted.has(url));
    const lately = others.sort(byUse).slice(0, Math.max(0, KNOWN - known.length));
    const learned = isAsking ? this.#learned(document, wanted, index) : null;
    return {
      told: { known: knownUrls([...known, ...lately.map(({ url }) => url)]), ...(learned === null ? {} : { learned }) },
      ask: () => void (isAsking && this.#ask(document, expected)),
    };
  }

  /** Requests that the page will make whose answers are not stored, and that the edge does not find in its markup. */
  #learned(
    { head, partition, context }: Lookup,
    wanted: readonly Wanted[],
    index: PartitionIndex<StoredExchange>,
  ): string | null {
    if (!this.#parts.platform.namesLearned()) return null;
    // The edge sees no policies of a page that has not changed. They allow the page's own earlier requests.
    const isStored = variantsOf(index, head, context).length > 0;
    const lacking = wanted
      .filter((each) => this.#storedFor(each, true).length === 0)
      .filter(({ expected }) => !(isStored && expected.isGuessed === true))
      .filter(({ expected }) => !expected.isNamed && expected.share >= leastShareOf(expected.head))
      // Scripts ask for pictures, too.
      .filter(({ expected }) => head.isScriptless !== true || expected.head.destination === "font")
      .sort((a, b) => b.expected.share - a.expected.share)
      .flatMap(({ expected }) => toLearned(expected.head) ?? []);
    const urls = lacking.map(({ url }) => url);
    this.#visits.told(partition, urls);
    return sayLearned(lacking, head.url);
  }

  /** Scripts of the origin have written there, or set a cookie: answers for scripts from before that may be out of date. */
  outdate(origin: string | null): void {
    this.#asked.outdate(origin);
  }

  /** @returns null where nothing was asked ahead; else what `start` answers when that is over. */
  join({ head, partition, request }: Lookup, start: (asked: AskedAhead) => ClientExchange): ClientExchange | null {
    const isPlain = head.cacheMode === "default" && tellsNothing(request.head);
    const asked = isPlain ? this.#asked.take(partition, head.url) : null;
    return asked === null ? null : laterWith(asked.over, () => start(asked));
  }

  /** The app may be closed as soon as the page is there. */
  #keepSoon(): void {
    if (this.#isToBeKept) return;
    this.#isToBeKept = true;
    this.#parts.platform.setTimer(() => {
      this.#isToBeKept = false;
      this.#visits.keepAll();
    }, KEPT_AFTER);
  }

  #find({ partition, next }: Lookup, wanted: readonly Expected[], index: PartitionIndex<StoredExchange>): Wanted[] {
    const { platform } = this.#parts;
    return wanted.flatMap((expected) => {
      const each = expected.head;
      const context = contextOf(each);
      if (context === null) return [];
      const head = cached(each, platform);
      const decision = decide(head, variantsOf(index, each, context), platform.now());
      const request = { head: each, body: null, push: null };
      return [{ expected, lookup: { request, head, partition, context, consumer: DEAF, next }, decision }];
    });
  }

  async #ask(document: Lookup, wanted: readonly Expected[]): Promise<void> {
    const { store, platform, invalidations, counters } = this.#parts;
    await invalidations.allPending(document.partition);
    const index = await store.index(document.partition);
    for (const each of this.#find(document, wanted, index)) {
      if (!this.#isAskable(each)) continue;
      const since = platform.now();
      const over = this.#questions.check(each.lookup, each.decision.stored, each.decision.fields);
      const { url, destination, origin } = each.lookup.request.head;
      this.#asked.add(document.partition, url, { since, over, scriptsOf: destination === "" ? origin : null });
      counters.storeAsked += 1;
    }
  }

  /** The stored entry that the page will get, as far as is known. */
  #storedFor(each: Wanted, isAsking: boolean): ExchangeEntry[] {
    const { decision } = each;
    if (decision.kind === "answer" || decision.kind === "answer-and-validate") return [decision.stored.entry];
    return isAsking && this.#isAskable(each) ? [each.decision.stored.entry] : [];
  }

  #isAskable(each: Wanted): each is Wanted & { readonly decision: { readonly kind: "validate" } } {
    const { lookup, decision } = each;
    return decision.kind === "validate" && this.#questions.canConfirm(lookup, decision.stored, decision.fields);
  }
}

/** Whether a page that runs no scripts may make the request. */
function isOfMarkup({ head: { destination } }: Expected): boolean {
  return destination !== "" && destination !== "script";
}

function leastShareOf({ destination }: RequestHead): number {
  return destination === "" ? LEAST_OF_SCRIPTS : LEAST_SHARE;
}

/** @returns null for what no push could answer. */
function toLearned(head: RequestHead): LearnedRequest | null {
  const { url, destination, mode, credentials, redirect } = head;
  const accept = headerValue(withoutDefaultAccept(head.headers, destination), "accept") ?? "";
  const learned = { url, destination, mode, credentials, accept };
  return isPushable(head) && redirect === "follow" && isLearned(learned) ? learned : null;
}

/** Milliseconds for which the page of the navigation may take what was confirmed. */
const TAKEN_WITHIN = 60_000;

/** A question that was asked ahead. */
export interface AskedAhead {
  /** Milliseconds since the epoch: entries that came since are confirmed. */
  readonly since: number;
  /** Settles when it was answered, or will not be. */
  readonly over: Promise<void>;
  /** The origin whose scripts will ask, or null for what a document loads. */
  readonly scriptsOf: string | null;
}

/** Questions that were asked ahead, until the page's own request takes them, once. */
export class AskedQuestions {
  /** By partition and URL. */
  readonly #asked = new Map<string, AskedAhead>();
  readonly #now: () => number;

  /** @param now milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  add(partition: string, url: string, question: AskedAhead): void {
    for (const [key, { since }] of this.#asked) if (!isRecent(since, question.since)) this.#asked.delete(key);
    this.#asked.set(keyOf(partition, url), question);
  }

  outdate(origin: string | null): void {
    for (const [key, { scriptsOf }] of this.#asked) {
      if (scriptsOf !== null && scriptsOf === origin) this.#asked.delete(key);
    }
  }

  take(partition: string, url: string): AskedAhead | null {
    const key = keyOf(partition, url);
    const asked = this.#asked.get(key) ?? null;
    this.#asked.delete(key);
    return asked !== null && isRecent(asked.since, this.#now()) ? asked : null;
  }
}

function keyOf(partition: string, url: string): string {
  return `${partition} ${url}`;
}

/** The clock may have been set back since. */
function isRecent(since: number, now: number): boolean {
  return Math.abs(now - since) <= TAKEN_WITHIN;
}
