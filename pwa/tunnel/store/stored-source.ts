/**
 * Answers requests out of the phone's store by the rules of RFC 9111 and the cache modes of Fetch, and stores what comes
 * from the edge. Between the pushed responses and the network.
 */
import { ErrorCode } from "../../../shared/errors.ts";
import type { ClientExchange, ResponseConsumer } from "../../../shared/http/exchange.ts";
import { EDGE_SCHEME } from "../../../shared/http/head-fields.ts";
import type { HeaderList, RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import { type Decision, decide } from "../../../shared/http-cache/cache-rules.ts";
import type { StoreStats } from "../../messages/tunnel-messages.ts";
import { type Ask, type PhoneRequest, passingOn, type ResponseSource } from "../requests/response-source.ts";
import type { AskedAhead } from "./ahead/asked-questions.ts";
import { AskingAhead } from "./ahead/asking-ahead.ts";
import { PageRequests } from "./ahead/page-requests.ts";
import { bounded, FORGETTING_TIME } from "./bounded.ts";
import { PartitionIndex } from "./database/partition-index.ts";
import type { ResponseStore } from "./database/response-store.ts";
import type { StoredDictionaries } from "./dictionary/stored-dictionaries.ts";
import { type Alike, alikeOf } from "./exchanges/alike.ts";
import { AwayAnswers, type StoredInstead } from "./exchanges/away-answers.ts";
import { CookieMirror } from "./exchanges/cookie-mirror.ts";
import { EdgeQuestions } from "./exchanges/edge-questions.ts";
import { Invalidations } from "./exchanges/invalidations.ts";
import { cached, type Lookup, telling } from "./exchanges/lookup.ts";
import { NewerPages } from "./exchanges/newer-pages.ts";
import { fitsAway, movedHead } from "./exchanges/redirected.ts";
import { type SourceParts, scriptCookiesOf, withinDiskTime } from "./exchanges/source-parts.ts";
import { StoredAnswers } from "./exchanges/stored-answers.ts";
import { contextOf, isOwnWrite, isPage, partitionOf, type StoredExchange } from "./exchanges/stored-exchange.ts";
import { type Variant, variantsIn, variantsOf } from "./exchanges/variants-of.ts";
import { forgottenBy } from "./forgetting.ts";
import { ForgottenSites } from "./forgotten-sites.ts";
import { laterWith } from "./later-with.ts";
import { failingWith, NOT_CLEARED } from "./not-cleared.ts";
import type { StoredSourcePlatform } from "./stored-source-platform.ts";

/** Milliseconds without a request after which the store looks after itself. */
const IDLE_TIME = 10_000;

export class StoredSource {
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
    platform: StoredSourcePlatform,
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

  /** Settles when it is known what is stored. */
  get opened(): Promise<unknown> {
    return this.#parts.store.opened;
  }

  get stats(): StoreStats {
    const { counters, store } = this.#parts;
    return { ...counters, storedBytes: store.use.bytes, storedBytesMax: store.bytesMax };
  }

  /** For what is asked about what is stored. */
  get parts(): SourceParts {
    return this.#parts;
  }

  /** Less may be stored than before. */
  makeRoom(): Promise<void> {
    return this.#parts.store.remove([]);
  }

  /** The app may be closed at any moment: what rests is written. */
  writeDown(): void {
    this.#ahead.visits.keepAll();
    this.#parts.store.hurry();
  }

  /** The link went away: what is asked of the edge and stored is answered so. */
  linkLeft(): void {
    this.#away.linkLeft();
  }

  /** Another window may have changed cookies of these URLs' sites. */
  cookiesChanged(urls: readonly string[]): void {
    this.#parts.cookies.forgetSites(urls);
  }

  /** Whether scripts of a document with this head are known to have no cookies. */
  hasNoCookies(head: Pick<RequestHead, "url" | "topLevelOrigin">): boolean {
    return this.#parts.cookies.cookiesFor(head)?.length === 0;
  }

  /** As `ForgottenSites.tell`. */
  forget(word: Parameters<ForgottenSites["tell"]>[0]): void {
    this.#forgotten.tell(word);
  }

  /** The phone is not paired any more: what pages asked for at their visits goes. What is stored stays, kept pages too. */
  unpaired(): Promise<void> {
    return this.#ahead.visits.forget();
  }

  /** The edge has answered a request that did not come by here. */
  passedBy(head: RequestHead, response: ResponseHead): void {
    this.#parts.invalidations.answered(head, response);
  }

  readonly source: ResponseSource = (request, consumer, next) => {
    const { head } = request;
    const holding = this.#forgotten.holding(head);
    if (holding !== null) return laterWith(holding, () => this.source(request, consumer, next));
    this.#lookAfterLater();
    const isChanged = this.#parts.cookies.sent(head);
    if (isChanged || isOwnWrite(head)) this.#parts.platform.onChange(head.origin);
    const asked = this.#edge.watching(next);
    const isForgotten = forgottenBy(head);
    if (isForgotten !== null) return this.#forget(isForgotten, request, consumer, next);
    const context = head.url.startsWith(EDGE_SCHEME) || head.method !== "GET" ? null : contextOf(head);
    if (context !== null || isPage(head)) this.#parts.pages.asked(head);
    if (context === null) return asked(request, consumer);
    const asCached = cached(head, this.#parts.platform, head.cache);
    const lookup: Lookup = { request, head: asCached, partition: partitionOf(head), context, consumer, next: asked };
    this.#away.pageBegins(asCached);
    if (head.mode === "navigate") return this.#navigate(lookup);
    this.#ahead.note(lookup);
    return request.push === null ? this.#find(lookup) : this.#edge.fetch(lookup, []);
  };

  /** The edge is told what it need not push, and then asked about what is stale of that. */
  #navigate(lookup: Lookup): ClientExchange {
    const plan = this.#ahead.plan(lookup);
    // Nothing is to be waited for where no page was before.
    const index = this.#parts.store.index(lookup.partition);
    if (!(index instanceof Promise) && index.isEmpty) return this.#find(lookup);
    return laterWith(withinDiskTime(this.#parts, plan, null), (known) => {
      const exchange = this.#find(known === null ? lookup : telling(lookup, known.told));
      known?.ask();
      return exchange;
    });
  }

  /** Whether the page would get what is stored: nobody needs to send it. */
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

  /** What this is where a kept page is shown as it was kept. */
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
    return head.cacheMode === "default" ? alikeOf(index, head, context) : null;
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

  /** What is shown since the edge cannot be asked, however old. @param isMoved a redirect led here: no other is followed. */
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
