import { BoundedMap } from "../../../shared/bounded-map.ts";
import { ErrorCode } from "../../../shared/errors.ts";
import type { ClientExchange, ResponseConsumer } from "../../../shared/http/exchange.ts";
import { EDGE_SCHEME, headerValue } from "../../../shared/http/head-fields.ts";
import type { HeaderList, RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import {
  cacheModeOf,
  type Decision,
  decide,
  isLifetimeGuessed,
  selectVariant,
} from "../../../shared/http-cache/cache-rules.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { type StoreQuestion, type StoreStats, siteName } from "../../messages/tunnel-messages.ts";
import { type Ask, laterWith, type PhoneRequest, passingOn, type ResponseSource } from "../exchange/exchange.ts";
import { type AskedAhead, AskingAhead } from "./ahead/asking-ahead.ts";
import { PageRequests } from "./ahead/page-visits.ts";
import { PartitionIndex, type ResponseStore } from "./database/response-store.ts";
import { openStoreDatabase } from "./database/store-database.ts";
import { AwayAnswers, StoredAnswers, type StoredInstead } from "./exchanges/answers.ts";
import { CookieMirror } from "./exchanges/cookie-mirror.ts";
import { EdgeQuestions } from "./exchanges/edge-questions.ts";
import { Invalidations } from "./exchanges/invalidations.ts";
import { cached, type Lookup, type SourceParts, scriptCookiesOf, telling, withinDiskTime } from "./exchanges/lookup.ts";
import { type Alike, alikeOf, type StoredDictionaries } from "./exchanges/named-bodies.ts";
import {
  contextOf,
  fitsAway,
  isOwnWrite,
  isPage,
  movedHead,
  partitionOf,
  type StoredExchange,
  type Variant,
  variantsIn,
  variantsOf,
} from "./exchanges/stored-exchange.ts";
import { answerTo } from "./questions.ts";
import {
  bounded,
  FORGETTING_TIME,
  failingWith,
  type LoadedStore,
  NOT_CLEARED,
  STORE_NAME,
  type StorePlatform,
} from "./store.ts";

/** Milliseconds without a request after which the store looks after itself. */
const IDLE_TIME = 10_000;

/**
 * Answers requests out of the phone's store by the rules of RFC 9111 and the cache modes of Fetch, and stores what comes
 * from the edge. Between the pushed responses and the network.
 */
export class StoredSource implements LoadedStore {
  readonly #forgotten = new ForgottenSites();
  readonly #parts: SourceParts;
  readonly #answers: StoredAnswers;
  readonly #edge: EdgeQuestions;
  readonly #ahead: AskingAhead;
  readonly #away: AwayAnswers;
  readonly #newer: NewerPages;
  #cancelUpkeep: () => void = () => {};

  /** @param tellCookies for `cookiesChanged` of the other windows. */
  constructor(
    store: ResponseStore<StoredExchange>,
    platform: StorePlatform,
    tellCookies: (urls: readonly string[]) => void,
    dictionaries: StoredDictionaries | null = null,
  ) {
    this.#parts = {
      store,
      platform,
      cookies: new CookieMirror(() => platform.now(), tellCookies),
      invalidations: new Invalidations(store),
      pages: new PageRequests(),
      dictionaries,
      counters: {
        storeAnswers: 0,
        storeValidations: 0,
        storeReferences: 0,
        storeReferencedBytes: 0,
        storeDictionaries: 0,
        storeBytes: 0,
        storeAsked: 0,
        storeAskedUsed: 0,
      },
    };
    this.#answers = new StoredAnswers(this.#parts);
    this.#edge = new EdgeQuestions(this.#parts, this.#answers);
    this.#ahead = new AskingAhead(this.#parts, this.#edge);
    this.#away = new AwayAnswers(platform);
    this.#newer = new NewerPages(this.#parts, this.#edge);
  }

  get opened(): Promise<unknown> {
    return this.#parts.store.opened;
  }

  get stats(): StoreStats {
    const { counters, store } = this.#parts;
    return { ...counters, storedBytes: store.use.bytes, storedBytesMax: store.bytesMax };
  }

  /** All that answers and stores here. */
  get parts(): SourceParts {
    return this.#parts;
  }

  get cookies(): CookieMirror {
    return this.#parts.cookies;
  }

  answer(question: StoreQuestion, ask: Ask): Promise<unknown> {
    return answerTo(question, { ask, open: () => openStoreDatabase(STORE_NAME), parts: this.#parts });
  }

  makeRoom(): Promise<void> {
    return this.#parts.store.remove([]);
  }

  writeDown(): void {
    this.#ahead.visits.keepAll();
    this.#parts.store.hurry();
  }

  linkLeft(): void {
    this.#away.linkLeft();
  }

  linkBack(): void {
    this.#newer.linkBack();
  }

  /** Another window may have changed cookies of these URLs' sites. */
  cookiesChanged(urls: readonly string[]): void {
    this.#parts.cookies.forgetSites(urls);
  }

  hasNoCookies(head: Pick<RequestHead, "url" | "topLevelOrigin">): boolean {
    return this.#parts.cookies.cookiesFor(head)?.length === 0;
  }

  forget(word: Parameters<ForgottenSites["tell"]>[0]): void {
    this.#forgotten.tell(word);
  }

  unpaired(): Promise<void> {
    return this.#ahead.visits.forget();
  }

  passedBy(head: RequestHead, response: ResponseHead): void {
    this.#parts.invalidations.answered(head, response);
  }

  readonly source: ResponseSource = (request, consumer, next) => {
    const { head } = request;
    const holding = this.#forgotten.holding(head);
    if (holding !== null) return laterWith(holding, () => this.source(request, consumer, next));
    this.#lookAfterLater();
    const isChanged = this.#parts.cookies.sent(head);
    if (isChanged || isOwnWrite(head)) {
      this.#ahead.outdate(head.origin);
      this.#parts.platform.onChange(head.origin);
    }
    const asked = this.#edge.watching(next);
    const isForgotten = forgottenBy(head);
    if (isForgotten !== null) return this.#forget(isForgotten, request, consumer, next);
    const context = head.url.startsWith(EDGE_SCHEME) || head.method !== "GET" ? null : contextOf(head);
    if (context !== null || isPage(head)) this.#parts.pages.asked(head);
    if (context === null) return asked(request, isPage(head) ? this.#sayingPage(consumer) : consumer);
    const asCached = cached(head, this.#parts.platform, head.cache);
    const lookup: Lookup = { request, head: asCached, partition: partitionOf(head), context, consumer, next: asked };
    this.#away.pageBegins(asCached);
    this.#newer.pageBegins(asCached);
    if (head.mode === "navigate") return this.#navigate(lookup);
    this.#ahead.note(lookup);
    return request.push === null ? this.#find(lookup) : this.#edge.fetch(lookup, []);
  };

  #sayingPage(consumer: ResponseConsumer): ResponseConsumer {
    return passingOn(consumer, {
      onHead: (response) => {
        this.#away.pageCame(response);
        consumer.onHead(response);
      },
    });
  }

  /** The edge is told what it need not push, and then asked about what is stale of that. */
  #navigate(lookup: Lookup): ClientExchange {
    const plan = this.#ahead.plan(lookup);
    // Nothing is to be waited for where no page was before, or where the edge cannot be told.
    const index = this.#parts.store.index(lookup.partition);
    const isNew = !(index instanceof Promise) && index.isEmpty;
    if (isNew || this.#parts.platform.isAway()) return this.#find(lookup);
    return laterWith(withinDiskTime(this.#parts, plan, null), (known) => {
      const exchange = this.#find(known === null ? lookup : telling(lookup, known.told));
      known?.ask();
      return exchange;
    });
  }

  isAtHand(head: RequestHead): boolean {
    const context = contextOf(head);
    const index = this.#parts.store.index(partitionOf(head));
    if (context === null || index instanceof Promise) return false;
    const { kind } = decide(cached(head, this.#parts.platform), variantsOf(index, head, context), this.#now());
    return kind === "answer" || kind === "answer-and-validate";
  }

  #lookAfterLater(): void {
    this.#cancelUpkeep();
    const upkeep = (): void => {
      void this.#parts.store.upkeep();
      void this.#ahead.visits.upkeep();
    };
    this.#cancelUpkeep = this.#parts.platform.setTimer(upkeep, IDLE_TIME);
  }

  /** The edge is asked to forget what it has of sites, after what is here. */
  #forget(
    isOf: (partition: string) => boolean,
    request: PhoneRequest,
    consumer: ResponseConsumer,
    next: Ask,
  ): ClientExchange {
    const { store, platform } = this.#parts;
    const forgotten = store.forget(isOf);
    const setTimer = (task: () => void, delay: number) => platform.setTimer(task, delay);
    return laterWith(bounded(forgotten, false, setTimer, FORGETTING_TIME), (isForgotten) => {
      const error = platform.failure(ErrorCode.INTERNAL_ERROR, NOT_CLEARED);
      return next(request, isForgotten ? consumer : failingWith(error, consumer));
    });
  }

  /** @param asked a question that was asked ahead, and is over. */
  #find(lookup: Lookup, asked: AskedAhead | null = null): ClientExchange {
    const { store, invalidations } = this.#parts;
    const { partition, head } = lookup;
    const pending = invalidations.pendingFor(partition, head.url);
    const known = store.index(partition);
    if (pending === null && !(known instanceof Promise)) return this.#lookUp(lookup, known, asked);
    const index = Promise.resolve(pending).then(() => store.index(partition));
    const nothing = new PartitionIndex<StoredExchange>([]);
    return laterWith(withinDiskTime(this.#parts, index, nothing), (loaded) => this.#lookUp(lookup, loaded, asked));
  }

  #lookUp(lookup: Lookup, index: PartitionIndex<StoredExchange>, asked: AskedAhead | null): ClientExchange {
    const kept = this.#keptFor(lookup, index);
    if (kept.length === 0) return this.#lookUpNow(lookup, index, asked);
    return laterWith(this.#instead(lookup, kept), (instead) =>
      instead === null ? this.#lookUpNow(lookup, index, asked) : instead(lookup.consumer),
    );
  }

  /** The request's kept copies, where a kept page is shown as it was kept. */
  #keptFor({ head, context }: Lookup, index: PartitionIndex<StoredExchange>): readonly Variant[] {
    const page = this.#away.keptPage(head);
    if (page === null) return [];
    return variantsIn(index.findKept(page, head.url), (stored) => fitsAway(head, context, stored));
  }

  #lookUpNow(lookup: Lookup, index: PartitionIndex<StoredExchange>, asked: AskedAhead | null): ClientExchange {
    const decision = this.#decide(lookup.head, variantsOf(index, lookup.head, lookup.context));
    switch (decision.kind) {
      case "answer":
      case "answer-and-validate":
        this.#newer.shown(lookup, decision);
        if (this.#parts.platform.isAway()) this.#tellPage(lookup.head, decision.stored);
        return this.#answer(lookup, decision.stored);
      case "validate":
        if (asked !== null && decision.stored.responseTime >= asked.since) {
          this.#parts.counters.storeAskedUsed += 1;
          return this.#answer(lookup, decision.stored);
        }
        return this.#askOrAway(lookup, (asking) => this.#confirm(asking, decision.stored, decision.fields));
      case "fetch":
        return this.#askOrAway(lookup, (asking) =>
          this.#edge.fetch(asking, decision.fields, this.#alike(asking, index)),
        );
      case "unavailable":
        return this.#unavailable(lookup);
    }
  }

  #alike({ head, context }: Lookup, index: PartitionIndex<StoredExchange>): Alike | null {
    return cacheModeOf(head) === "default" ? alikeOf(index, head, context) : null;
  }

  /** A document needs its cookies, too. */
  #decide(head: Lookup["head"], variants: readonly Variant[]): Decision<Variant> {
    const decision = decide(head, variants, this.#now());
    const isAnswer = decision.kind === "answer" || decision.kind === "answer-and-validate";
    if (!isAnswer || scriptCookiesOf(this.#parts, head) !== null) return decision;
    const asked = decide({ ...head, cacheMode: "no-cache" }, variants, this.#now());
    if (asked.kind !== "validate") return { kind: "fetch", fields: [] };
    return { ...asked, fields: asked.fields.filter(([name]) => name !== "cache-control") };
  }

  #answer(lookup: Lookup, variant: Variant): ClientExchange {
    return this.#answers.answer(lookup, variant, () => this.#edge.fetch(lookup, []));
  }

  /** Joins the question that was asked ahead, or asks. */
  #confirm(lookup: Lookup, variant: Variant, fields: HeaderList): ClientExchange {
    return (
      this.#ahead.join(lookup, (asked) => this.#find(lookup, asked)) ?? this.#edge.validate(lookup, variant, fields)
    );
  }

  #askOrAway(lookup: Lookup, start: (lookup: Lookup) => ClientExchange): ClientExchange {
    if (this.#away.lacksNow(lookup.head)) {
      return laterWith(this.#findInstead(lookup), (instead) => instead?.(lookup.consumer) ?? this.#unavailable(lookup));
    }
    return this.#away.ask(
      lookup.head,
      lookup.consumer,
      (consumer) => start({ ...lookup, consumer }),
      () => this.#findInstead(lookup),
    );
  }

  /** The copy, however old, to show without the edge. @param isMoved a redirect led here: no other is followed. */
  async #findInstead(lookup: Lookup, isMoved = false): Promise<StoredInstead | null> {
    const { store, invalidations } = this.#parts;
    const { head, partition, context } = lookup;
    const settled = store.opened.then(() => invalidations.pendingFor(partition, head.url));
    const index = await withinDiskTime(
      this.#parts,
      settled.then(() => store.index(partition)),
      null,
    );
    if (index === null) return null;
    const all = variantsOf(index, head, (stored) => fitsAway(head, context, stored));
    const isEnd = ({ movedTo }: Variant) => !isMoved || movedTo === undefined;
    const kept = await this.#instead(lookup, this.#keptFor(lookup, index).filter(isEnd));
    return kept ?? this.#instead(lookup, all.filter(isEnd));
  }

  async #instead(lookup: Lookup, variants: readonly Variant[]): Promise<StoredInstead | null> {
    const { head } = lookup;
    const stored = this.#away.choose(head, variants, this.#now());
    if (stored === null) return null;
    if (stored.movedTo !== undefined) return this.#findMoved(lookup, stored.movedTo);
    return (consumer) => {
      this.#tellPage(head, stored);
      this.#newer.shownInstead(lookup, stored);
      return this.#answer({ ...lookup, consumer }, stored);
    };
  }

  #tellPage(head: Lookup["head"], { responseTime }: StoredExchange): void {
    if (isPage(head)) this.#parts.platform.onStoredPage({ url: head.url, storedAt: responseTime });
  }

  /** Where a redirect led when it was stored. */
  async #findMoved(lookup: Lookup, url: string): Promise<StoredInstead | null> {
    const head = movedHead(lookup.head, url);
    const found = await this.#findInstead({ ...lookup, head, partition: partitionOf(head) }, true);
    if (found === null) return null;
    return (consumer) =>
      found(passingOn(consumer, { onHead: (response) => consumer.onHead({ ...response, redirected: true }) }));
  }

  #unavailable({ consumer }: Lookup): ClientExchange {
    const message = "Cannot load: it is not stored, and nobody may be asked";
    return laterWith(Promise.resolve(), () => {
      consumer.onError(this.#parts.platform.failure(ErrorCode.REFUSED_STREAM, message));
      return { cancel() {} };
    });
  }

  #now(): number {
    return this.#parts.platform.now();
  }
}

/** Milliseconds: what a page needs goes first. */
const CHECK_DELAY = 2_000;
/** Pages that are asked about once the link is back: the last ones. */
const PAGES_CHECKED = 16;

/** Whether a page that is shown as it was stored, with nobody asked, has another version by now. */
class NewerPages {
  readonly #parts: SourceParts;
  readonly #questions: EdgeQuestions;
  /** The last request for each page, by URL: nobody sees the answer to an earlier one. */
  readonly #last = new BoundedMap<string, Lookup["head"]>(PAGES_CHECKED);
  /** By URL; each asks, as soon as there is a link. */
  readonly #waiting = new BoundedMap<string, () => void>(PAGES_CHECKED);

  constructor(parts: SourceParts, questions: EdgeQuestions) {
    this.#parts = parts;
    this.#questions = questions;
  }

  pageBegins(head: Lookup["head"]): void {
    if (isPage(head)) this.#last.set(head.url, head);
  }

  #isLast({ head }: Lookup): boolean {
    return this.#last.get(head.url) === head;
  }

  /**
   * A page gets a stored copy. A copy that the edge is not asked about beside is asked about later, where nothing says how
   * long it is fresh.
   */
  shown(lookup: Lookup, decision: Decision<Variant> & { kind: "answer" | "answer-and-validate" }): void {
    const { stored } = decision;
    if (decision.kind === "answer-and-validate") this.#check(lookup, stored, decision.fields);
    else if (lookup.head.cacheMode === "default" && isLifetimeGuessed(stored)) this.shownInstead(lookup, stored);
  }

  /** A page gets a copy, however old, in place of the answer of an edge that is away. The history's pages stay as they were. */
  shownInstead(lookup: Lookup, stored: Variant): void {
    const { head } = lookup;
    if (!isPage(head) || head.cacheMode === "force-cache") return;
    // A redirect may have led to it.
    this.pageBegins(head);
    this.#askLater(lookup, stored);
  }

  /** The link is there again: pages are asked about that were shown without it. */
  linkBack(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const ask of waiting) ask();
  }

  #askLater(lookup: Lookup, shown: Variant): void {
    const { platform } = this.#parts;
    platform.setTimer(() => {
      if (!this.#isLast(lookup)) return;
      if (platform.isAway()) this.#waiting.set(lookup.head.url, () => this.#askLater(lookup, shown));
      else this.#ask(lookup, shown);
    }, CHECK_DELAY);
  }

  #ask(lookup: Lookup, shown: Variant): void {
    const { platform } = this.#parts;
    const asked = decide({ ...lookup.head, cacheMode: "no-cache" }, [shown], platform.now());
    if (asked.kind !== "validate") return;
    const fields = asked.fields.filter(([name]) => name !== "cache-control");
    if (this.#questions.canConfirm(lookup, shown, fields)) this.#check(lookup, shown, fields);
  }

  #check(lookup: Lookup, shown: Variant, fields: HeaderList): void {
    const checked = this.#questions.check(lookup, shown, fields);
    if (isPage(lookup.head)) void checked.then(() => this.#compare(lookup, shown));
  }

  async #compare(lookup: Lookup, shown: Variant): Promise<void> {
    const { head, partition, context } = lookup;
    const { store, invalidations, platform } = this.#parts;
    await invalidations.pendingFor(partition, head.url);
    const stored = selectVariant(head, variantsOf(await store.index(partition), head, context));
    if (stored === null || !this.#isLast(lookup)) return;
    if (stored.entry.body.hash !== shown.entry.body.hash) platform.onNewerPage(head.url);
  }
}

/**
 * Sites that phone and edge are forgetting, on behalf of any window: documents of them wait until that is over. Each window
 * has a session of its own, so that a request of one could come to the edge, for cookies, before another's word to forget
 * them. Last requests of pages that close go out.
 */
class ForgottenSites {
  readonly #sites = new Map<string, PromiseWithResolvers<void>>();

  /** @param site as `siteName` of its pages. @param isOver whether it is forgotten by now, or cannot be. */
  tell({ site, isOver }: { readonly site: string; readonly isOver: boolean }): void {
    if (!isOver) return void this.#sites.set(site, this.#sites.get(site) ?? Promise.withResolvers());
    this.#sites.get(site)?.resolve();
    this.#sites.delete(site);
  }

  /** The forgetting that a request has to wait for; null where there is none. */
  holding({ mode, url }: Pick<RequestHead, "mode" | "url">): Promise<void> | null {
    if (this.#sites.size === 0 || mode !== "navigate") return null;
    return this.#sites.get(siteName(url))?.promise ?? null;
  }
}

/**
 * The partitions that a message to the edge has the phone forget first.
 *
 * @returns whether a partition of the store goes; null where the message is another.
 */
export function forgottenBy({
  url,
  headers,
}: Pick<RequestHead, "url" | "headers">): ((partition: string) => boolean) | null {
  if (url === EdgeRequest.SITE_DATA) return () => true;
  if (url !== EdgeRequest.SITE) return null;
  const site = headerValue(headers, "host-name");
  // As the page's own, or as a frame's in the pages of others.
  return (partition) => partition.split(" ").some((origin) => siteName(origin) === site);
}
