/**
 * Answers requests out of the phone's store by the rules of RFC 9111 and the cache modes of Fetch, and stores what comes
 * from the edge. Between the pushed responses and the network.
 */
import { ErrorCode } from "../../../shared/errors.ts";
import type { ClientExchange, ResponseConsumer } from "../../../shared/http/client-exchange.ts";
import { EDGE_SCHEME } from "../../../shared/http/head-fields.ts";
import type { HeaderList, RequestHead, ResponseHead, ScriptCookie } from "../../../shared/http/heads.ts";
import { type Decision, decide } from "../../../shared/http-cache/decide.ts";
import { headersWithAge } from "../../../shared/http-cache/freshness.ts";
import { toStored } from "../../../shared/http-cache/storable.ts";
import type { CacheRequest, ExchangeTimes } from "../../../shared/http-cache/stored-response.ts";
import { judgeValidation } from "../../../shared/http-cache/validation.ts";
import { isSameVariant } from "../../../shared/http-cache/variants.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { isRedirectStatus } from "../../../shared/web/status.ts";
import type { StoreStats } from "../../messages/tunnel-messages.ts";
import { type Ask, type PhoneRequest, passingOn, type ResponseSource } from "../requests/response-source.ts";
import { answerStored, type StoredAnswer } from "./answer-stored.ts";
import { type AskedAhead, AskingAhead } from "./asking-ahead.ts";
import { AwayAnswers, type StoredInstead } from "./away-answers.ts";
import type { BodyReader } from "./body-reader.ts";
import { bounded } from "./bounded.ts";
import { CookieMirror } from "./cookie-mirror.ts";
import { Invalidations } from "./invalidations.ts";
import { laterWith } from "./later-with.ts";
import { failingWith, NOT_CLEARED } from "./not-cleared.ts";
import { PartitionIndex } from "./partition-index.ts";
import type { ResponseStore } from "./response-store.ts";
import { contextOf, type ExchangeEntry, isBasic, isPage, partitionOf, type StoredExchange } from "./stored-exchange.ts";
import type { StoredSourcePlatform } from "./stored-source-platform.ts";
import { StoringConsumer } from "./storing-consumer.ts";
import { PAGE, type Variant, variantsOf } from "./variants-of.ts";
import { watchCookies } from "./watch-cookies.ts";

/** Milliseconds without a request after which the store looks after itself. */
const IDLE_TIME = 10_000;

/** One request, and what is known of it before anybody answers. */
interface Lookup {
  readonly request: PhoneRequest;
  readonly head: CacheRequest & RequestHead;
  readonly partition: string;
  readonly context: string;
  readonly consumer: ResponseConsumer;
  readonly next: Ask;
}

export class StoredSource {
  readonly counters = { storeAnswers: 0, storeValidations: 0, storeBytes: 0, storeAsked: 0, storeAskedUsed: 0 };
  readonly #store: ResponseStore<StoredExchange>;
  readonly #platform: StoredSourcePlatform;
  readonly #cookies: CookieMirror;
  /** Entries that the edge is asked about beside. */
  readonly #checked = new Map<number, Promise<void>>();
  readonly #ahead: AskingAhead;
  readonly #invalidations: Invalidations;
  readonly #away: AwayAnswers;
  #cancelUpkeep: () => void = () => {};

  /** @param tellCookies for `cookiesChanged` of the other windows. */
  constructor(
    store: ResponseStore<StoredExchange>,
    platform: StoredSourcePlatform,
    tellCookies: (urls: readonly string[]) => void,
  ) {
    this.#store = store;
    this.#platform = platform;
    this.#cookies = new CookieMirror(() => platform.now(), tellCookies);
    this.#invalidations = new Invalidations(store);
    this.#ahead = new AskingAhead(store, () => platform.now());
    this.#away = new AwayAnswers(() => platform.isAway());
  }

  get stats(): StoreStats {
    return { ...this.counters, storedBytes: this.#store.use.bytes, storedBytesMax: this.#store.bytesMax };
  }

  /** The link went away: what is asked of the edge and stored is answered so. */
  linkLeft(): void {
    this.#away.linkLeft();
  }

  /** Another window may have changed those of these URLs' sites. */
  cookiesChanged(urls: readonly string[]): void {
    this.#cookies.forgetSites(urls);
  }

  /** The edge has answered a request that did not come by here. */
  passedBy(head: RequestHead, response: ResponseHead): void {
    this.#invalidations.answered(head, response);
  }

  readonly source: ResponseSource = (request, consumer, next) => {
    const { head } = request;
    this.#cancelUpkeep();
    this.#cancelUpkeep = this.#platform.setTimer(() => {
      this.#ahead.keepAll();
      void this.#store.upkeep();
    }, IDLE_TIME);
    this.#cookies.sent(head);
    if (head.url === EdgeRequest.SITE_DATA) {
      const forgotten = this.#store.forget(() => true);
      return laterWith(this.#bounded(forgotten, false), (isForgotten) => {
        const error = this.#platform.failure(ErrorCode.INTERNAL_ERROR, NOT_CLEARED);
        return next(request, isForgotten ? consumer : failingWith(error, consumer));
      });
    }
    const watched = watchCookies(this.#cookies, next);
    const asked: Ask = (request, consumer) => watched(request, this.#watched(request.head, consumer));
    const context = head.url.startsWith(EDGE_SCHEME) || head.method !== "GET" ? null : contextOf(head);
    if (context === null) return asked(request, consumer);
    const partition = partitionOf(head);
    const cached = { ...head, cacheMode: head.cache ?? "default" };
    const lookup: Lookup = { request, head: cached, partition, context, consumer, next: asked };
    this.#away.pageBegins(cached);
    if (head.mode === "navigate") void this.#askAhead(lookup);
    else if (isBasic(head) && cached.cacheMode === "default") this.#ahead.note(partition, head);
    return request.push === null ? this.#find(lookup) : this.#fetch(lookup, []);
  };

  /** Whether the page would get what is stored: nobody needs to send it. */
  isAtHand(head: RequestHead): boolean {
    const context = contextOf(head);
    const index = this.#store.index(partitionOf(head));
    if (context === null || index instanceof Promise) return false;
    const { kind } = decide({ ...head, cacheMode: "default" }, variantsOf(index, head, context), this.#now());
    return kind === "answer" || kind === "answer-and-validate";
  }

  /** @param asked a question that was asked ahead, and is over. */
  #find(lookup: Lookup, asked: AskedAhead | null = null): ClientExchange {
    const { partition, head } = lookup;
    const pending = this.#invalidations.pendingFor(partition, head.url);
    const known = this.#store.index(partition);
    if (pending === null && !(known instanceof Promise)) return this.#lookUp(lookup, known, asked);
    const index = Promise.resolve(pending).then(() => this.#store.index(partition));
    const nothing = new PartitionIndex<StoredExchange>([]);
    return laterWith(this.#bounded(index, nothing), (loaded) => this.#lookUp(lookup, loaded, asked));
  }

  #lookUp(lookup: Lookup, index: PartitionIndex<StoredExchange>, asked: AskedAhead | null): ClientExchange {
    const decision = this.#decide(lookup.head, variantsOf(index, lookup.head, lookup.context));
    switch (decision.kind) {
      case "answer":
        return this.#answer(lookup, decision.stored);
      case "answer-and-validate":
        void this.#check(lookup, decision.stored, decision.fields);
        return this.#answer(lookup, decision.stored);
      case "validate":
        if (asked !== null && decision.stored.responseTime >= asked.since) {
          this.counters.storeAskedUsed += 1;
          return this.#answer(lookup, decision.stored);
        }
        return this.#askOrAway(lookup, (asking) => this.#confirm(asking, decision.stored, decision.fields));
      case "fetch":
        return this.#askOrAway(lookup, (asked) => this.#fetch(asked, decision.fields));
      case "unavailable":
        return this.#unavailable(lookup);
    }
  }

  /** Joins the question that was asked ahead, or asks. */
  #confirm(lookup: Lookup, variant: Variant, fields: HeaderList): ClientExchange {
    const { head, partition } = lookup;
    const asked = head.cacheMode === "default" ? this.#ahead.take(partition, head.url) : null;
    if (asked === null) return this.#validate(lookup, variant, fields);
    return laterWith(asked.over, () => this.#find(lookup, asked));
  }

  #askOrAway(lookup: Lookup, start: (lookup: Lookup) => ClientExchange): ClientExchange {
    const { head, partition, context } = lookup;
    const find = async (): Promise<StoredInstead | null> => {
      const settled = this.#store.opened.then(() => this.#invalidations.pendingFor(partition, head.url));
      const index = await this.#bounded(
        settled.then(() => this.#store.index(partition)),
        null,
      );
      if (index === null) return null;
      const stored = this.#away.choose(head, variantsOf(index, head, isPage(head) ? PAGE : context), this.#now());
      if (stored === null) return null;
      return (consumer) => {
        if (isPage(head)) this.#platform.onStoredPage({ url: head.url, storedAt: stored.responseTime });
        return this.#answer({ ...lookup, consumer }, stored);
      };
    };
    return this.#away.ask(lookup.consumer, (consumer) => start({ ...lookup, consumer }), find);
  }

  /** A document needs its cookies, too. */
  #decide(head: Lookup["head"], variants: readonly Variant[]): Decision<Variant> {
    const decision = decide(head, variants, this.#now());
    const isAnswer = decision.kind === "answer" || decision.kind === "answer-and-validate";
    if (!isAnswer || this.#cookiesOf(head) !== null) return decision;
    const asked = decide({ ...head, cacheMode: "no-cache" }, variants, this.#now());
    if (asked.kind !== "validate") return { kind: "fetch", fields: [] };
    return { ...asked, fields: asked.fields.filter(([name]) => name !== "cache-control") };
  }

  #cookiesOf(head: RequestHead): readonly ScriptCookie[] | null {
    return head.mode === "navigate" ? this.#cookies.cookiesFor(head) : [];
  }

  #answer(lookup: Lookup, { entry }: Variant): ClientExchange {
    return laterWith(this.#bounded(this.#store.read(entry), null), (body) => {
      if (body === null) return this.#fetch(lookup, []);
      this.counters.storeAnswers += 1;
      this.counters.storeBytes += entry.body.size;
      const headers = headersWithAge(entry.meta, this.#now());
      const scriptCookies = this.#cookiesOf(lookup.head) ?? entry.meta.scriptCookies;
      return this.#deliver({ request: lookup.head, entry, headers, scriptCookies }, body, lookup.consumer);
    });
  }

  #deliver(answer: StoredAnswer, body: BodyReader, consumer: ResponseConsumer): ClientExchange {
    return answerStored(answer, body, consumer, {
      broken: () => {
        this.#store.dropBody(answer.entry);
        return this.#platform.failure(ErrorCode.INTERNAL_ERROR, "Cannot read what is stored: a part of it is gone");
      },
      over: this.#store.hold(answer.entry),
    });
  }

  /** Asks beside an answer that was given, or ahead, whether it holds. Settles when that is known, or will not be. */
  #check(lookup: Lookup, variant: Variant, fields: HeaderList): Promise<void> {
    const { id } = variant.entry;
    const before = this.#checked.get(id);
    if (before !== undefined) return before;
    const checked = new Promise<void>((resolve) => {
      const consumer = { ...DEAF, onEnd: resolve, onError: () => resolve() };
      this.#validate({ ...lookup, consumer }, variant, fields);
    }).then(() => void this.#checked.delete(id));
    this.#checked.set(id, checked);
    return checked;
  }

  /** A document is asked for: what its page will want, and what is stale of that, is asked about with it. */
  async #askAhead({ head, partition, next }: Lookup): Promise<void> {
    const wanted = await this.#ahead.begin(partition, head.url);
    if (head.cacheMode !== "default" || wanted.length === 0) return;
    await this.#invalidations.allPending(partition);
    const index = await this.#store.index(partition);
    for (const each of wanted) {
      const context = contextOf(each);
      const asked = { ...each, cacheMode: "default" } as const;
      const decision = context === null ? null : this.#decide(asked, variantsOf(index, each, context));
      if (context === null || decision?.kind !== "validate" || decision.fields.length === 0) continue;
      const request: PhoneRequest = { head: each, body: null, push: null };
      const lookup = { request, head: asked, partition, context, consumer: DEAF, next };
      const since = this.#now();
      this.#ahead.asked(partition, each.url, { since, over: this.#check(lookup, decision.stored, decision.fields) });
      this.counters.storeAsked += 1;
    }
  }

  /** Asks whether what is stored holds; of what the phone cannot see the validators, for the whole. */
  #validate(lookup: Lookup, variant: Variant, fields: HeaderList): ClientExchange {
    if (!isBasic(lookup.head)) return this.#fetch(lookup, []);
    const requestTime = this.#now();
    const whole = this.#storing(lookup, requestTime);
    let passes: ResponseConsumer = lookup.consumer;
    let other: ClientExchange | null = null;
    const answerBy = (answer: () => ClientExchange): void => {
      passes = DEAF;
      other = answer();
    };
    const network = lookup.next(withFields(lookup, fields), {
      onHead: (response) => {
        const times = { requestTime, responseTime: this.#now() };
        const verdict = judgeValidation(variant.entry.meta, lookup.head, response, times);
        if (verdict.kind === "replaced") {
          passes = whole;
          whole.onHead(response);
        } else if (verdict.kind === "stale-if-error") {
          answerBy(() => this.#answer(lookup, variant));
          network.cancel();
        } else if (response.redirected) {
          // The condition went to another URL than that which it was made of.
          answerBy(() => this.#fetch(lookup, []));
        } else {
          const { context } = variant.entry.meta;
          const scriptCookies = lookup.head.mode === "navigate" ? response.scriptCookies : [];
          const meta = { ...verdict.stored, context, scriptCookies };
          answerBy(() => this.#confirmed(lookup, variant.entry, meta, response));
          // What it says now may be that it is not to be stored.
          if (toStored(lookup.head, meta, times) === null) void this.#store.remove([variant.entry]);
          else void this.#store.refresh(variant.entry, meta);
        }
      },
      onBody: (chunk) => passes.onBody(chunk),
      onEnd: () => passes.onEnd(),
      onError: (error) => passes.onError(error),
    });
    return {
      cancel() {
        whole.giveUp();
        network.cancel();
        other?.cancel();
      },
    };
  }

  /** The answer of the network is the stored body under the head that holds now. */
  #confirmed(lookup: Lookup, entry: ExchangeEntry, meta: StoredExchange, response: ResponseHead): ClientExchange {
    return laterWith(this.#bounded(this.#store.read(entry), null), (body) => {
      if (body === null) return this.#fetch(lookup, []);
      this.counters.storeValidations += 1;
      this.counters.storeBytes += entry.body.size;
      const { headers } = meta;
      const { scriptCookies } = response;
      return this.#deliver({ request: lookup.head, entry, headers, scriptCookies }, body, lookup.consumer);
    });
  }

  #fetch(lookup: Lookup, fields: HeaderList): ClientExchange {
    const storing = this.#storing(lookup, this.#now());
    const exchange = lookup.next(withFields(lookup, isBasic(lookup.head) ? fields : []), storing);
    return {
      cancel() {
        storing.giveUp();
        exchange.cancel();
      },
    };
  }

  #unavailable({ consumer }: Lookup): ClientExchange {
    const message = "Cannot load: it is not stored, and nobody may be asked";
    return laterWith(Promise.resolve(), () => {
      consumer.onError(this.#platform.failure(ErrorCode.REFUSED_STREAM, message));
      return { cancel() {} };
    });
  }

  #storing({ head, partition, context, consumer }: Lookup, requestTime: number): StoringConsumer<StoredExchange> {
    const number = this.#invalidations.begin();
    return new StoringConsumer<StoredExchange>(
      consumer,
      (response) => {
        const times: ExchangeTimes = { requestTime, responseTime: this.#now() };
        // Where it was redirected from, and whether that holds, nobody said.
        const isAsked =
          this.#store.isOpen && !response.redirected && response.url === head.url && !isRedirectStatus(response.status);
        const stored = isAsked ? toStored(head, response, times) : null;
        if (stored === null) return null;
        const scriptCookies = head.mode === "navigate" ? response.scriptCookies : [];
        return { meta: { ...stored, context, scriptCookies }, copy: this.#store.startCopy() };
      },
      ({ url }, meta, copy) => {
        if (this.#invalidations.isDropped(number, partition, url)) return copy.body.giveUp();
        const replaces = ({ meta: old }: ExchangeEntry) => old.context === context && isSameVariant(meta, old);
        this.#invalidations.add(partition, url, this.#store.add({ partition, url, meta, replaces }, copy));
      },
    );
  }

  /** What any answer of the edge does to what is stored. */
  #watched(head: RequestHead, consumer: ResponseConsumer): ResponseConsumer {
    return passingOn(consumer, {
      onHead: (response) => {
        this.#invalidations.answered(head, response);
        consumer.onHead(response);
      },
    });
  }

  #now(): number {
    return this.#platform.now();
  }

  #bounded<Value, Other>(promise: Promise<Value>, otherwise: Other): Promise<Value | Other> {
    return bounded(promise, otherwise, (task, delay) => this.#platform.setTimer(task, delay));
  }
}

/** Nobody waits for it. */
const DEAF: ResponseConsumer = { onHead() {}, onBody: () => undefined, onEnd() {}, onError() {} };

function withFields({ request }: Lookup, fields: HeaderList): PhoneRequest {
  if (fields.length === 0) return request;
  return { ...request, head: { ...request.head, headers: [...request.head.headers, ...fields] } };
}
