/**
 * With a navigation, and before its document has come, asks origins about what the document's page asked for at its last
 * visit and what has become stale since: the page's own requests find it confirmed.
 */
import type { ClientExchange } from "../../../../shared/http/client-exchange.ts";
import type { KnownUrls, RequestHead } from "../../../../shared/http/heads.ts";
import { knownUrls } from "../../../../shared/http/known-urls.ts";
import { type Decision, decide } from "../../../../shared/http-cache/decide.ts";
import type { PartitionIndex } from "../database/partition-index.ts";
import { byUse } from "../database/store-rows.ts";
import type { EdgeQuestions } from "../exchanges/edge-questions.ts";
import { DEAF, type Lookup } from "../exchanges/lookup.ts";
import type { SourceParts } from "../exchanges/source-parts.ts";
import { contextOf, type ExchangeEntry, type StoredExchange } from "../exchanges/stored-exchange.ts";
import { type Variant, variantsOf } from "../exchanges/variants-of.ts";
import { laterWith } from "../later-with.ts";
import { type AskedAhead, AskedQuestions } from "./asked-questions.ts";
import { PageVisits } from "./page-visits.ts";

/** What is known of a page when its document is asked for. */
export interface PagePlan {
  /** The edge need not push these: they are stored. */
  readonly known: KnownUrls;
  /** Asks about what is stale. */
  ask(): void;
}

interface Wanted {
  readonly lookup: Lookup;
  readonly decision: Decision<Variant>;
}

/** Milliseconds in which what a page asks for gathers before it is written down. */
const KEPT_AFTER = 1500;

/** URLs, which a navigation names in 171 characters. */
const KNOWN = 64;

export class AskingAhead {
  readonly #parts: SourceParts;
  readonly #questions: EdgeQuestions;
  readonly #visits: PageVisits;
  readonly #asked: AskedQuestions;
  #isToBeKept = false;

  constructor(parts: SourceParts, questions: EdgeQuestions) {
    this.#parts = parts;
    this.#questions = questions;
    this.#visits = new PageVisits(parts.store);
    this.#asked = new AskedQuestions(() => parts.platform.now());
  }

  /** A page asks for something. */
  note({ head, partition, request }: Lookup): void {
    if (head.cacheMode === "default" && this.#visits.note(partition, request.head)) this.#keepSoon();
  }

  /**
   * A document is asked for. It is known what its page asked for the last time, and what other pages used lately, which
   * this one may use too.
   *
   * @returns null where nothing of what its page will want may come from here.
   */
  async plan(document: Lookup): Promise<PagePlan | null> {
    const { head, partition } = document;
    const wanted = await this.#visits.begin(partition, head.url);
    if (head.cacheMode === "reload") return null;
    const index = await this.#parts.store.index(partition);
    const isAsking = head.cacheMode === "default";
    const stored = this.#find(document, wanted, index).flatMap((each) => this.#storedFor(each, isAsking));
    this.#parts.store.readAhead(stored);
    const known = stored.map(({ url }) => url);
    const isWanted = new Set(wanted.map(({ url }) => url));
    const others = index.all().filter(({ url }) => !isWanted.has(url));
    const lately = others.sort(byUse).map(({ url }) => url);
    return {
      known: knownUrls([...known, ...lately].slice(0, KNOWN)),
      ask: () => void (isAsking && this.#ask(document, wanted)),
    };
  }

  /** @returns null where nothing was asked ahead; else what `start` answers when that is over. */
  join({ head, partition }: Lookup, start: (asked: AskedAhead) => ClientExchange): ClientExchange | null {
    const asked = head.cacheMode === "default" ? this.#asked.take(partition, head.url) : null;
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

  #find({ partition, next }: Lookup, wanted: readonly RequestHead[], index: PartitionIndex<StoredExchange>): Wanted[] {
    const { platform } = this.#parts;
    return wanted.flatMap((each) => {
      const context = contextOf(each);
      if (context === null) return [];
      const head = { ...each, cacheMode: "default" } as const;
      const decision = decide(head, variantsOf(index, each, context), platform.now());
      const request = { head: each, body: null, push: null };
      return [{ lookup: { request, head, partition, context, consumer: DEAF, next }, decision }];
    });
  }

  async #ask(document: Lookup, wanted: readonly RequestHead[]): Promise<void> {
    const { store, platform, invalidations, counters } = this.#parts;
    await invalidations.allPending(document.partition);
    const index = await store.index(document.partition);
    for (const each of this.#find(document, wanted, index)) {
      if (!this.#isAskable(each)) continue;
      const since = platform.now();
      const over = this.#questions.check(each.lookup, each.decision.stored, each.decision.fields);
      this.#asked.add(document.partition, each.lookup.head.url, { since, over });
      counters.storeAsked += 1;
    }
  }

  /** What the page will get, as far as is known. */
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
