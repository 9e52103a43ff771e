import { BoundedMap } from "../../../../shared/bounded-map.ts";
import { ErrorCode, type RopewayError } from "../../../../shared/errors.ts";
import type { ClientExchange, ResponseConsumer } from "../../../../shared/http/exchange.ts";
import type { HeaderList, RequestHead, ResponseHead, ScriptCookie } from "../../../../shared/http/heads.ts";
import {
  answerRange,
  type CacheRequest,
  headersWithAge,
  mayAnswerStale,
} from "../../../../shared/http-cache/cache-rules.ts";
import { laterWith, passingOn } from "../../exchange/exchange.ts";
import type { BodyReader } from "../database/shared-bodies.ts";
import type { StorePlatform } from "../store.ts";
import { type Lookup, type SourceParts, scriptCookiesOf, withinDiskTime } from "./lookup.ts";
import { asStored, type ExchangeEntry, isPage, mayShow, type StoredExchange, type Variant } from "./stored-exchange.ts";

/** Asks for the whole response, since the stored one cannot be read. */
type AskForWhole = () => ClientExchange;

const UNREADABLE = 64;

/** Answers that are read out of the store. */
export class StoredAnswers {
  readonly #parts: SourceParts;
  /** Ids of bodies of which a later part could not be read. The disk may have lost it for good, so the next request fetches the body. */
  readonly #unreadable = new BoundedMap<string, true>(UNREADABLE);

  constructor(parts: SourceParts) {
    this.#parts = parts;
  }

  /**
   * Without asking anybody.
   *
   * @param cookies that scripts of a document may read, where nobody knows it any more.
   */
  answer(
    lookup: Lookup,
    { entry }: Variant,
    whole: AskForWhole,
    cookies: readonly ScriptCookie[] = entry.meta.scriptCookies,
  ): ClientExchange {
    const { platform, counters } = this.#parts;
    return this.#read(lookup, entry, whole, () => {
      counters.storeAnswers += 1;
      const { meta } = entry;
      const showsAge = mayShow("age", lookup.head, meta.headers);
      const headers = showsAge ? headersWithAge(meta, platform.now()) : meta.headers;
      return { headers, scriptCookies: scriptCookiesOf(this.#parts, lookup.head) ?? cookies };
    });
  }

  /** The answer of the network is the stored body, as it has said or shown, under the head that holds now. */
  confirmed(
    lookup: Lookup,
    entry: ExchangeEntry,
    { headers }: StoredExchange,
    { scriptCookies, isReference }: ResponseHead,
    whole: AskForWhole,
  ): ClientExchange {
    return this.#read(lookup, entry, whole, () => {
      const { counters } = this.#parts;
      if (isReference === true) {
        counters.storeReferences += 1;
        counters.storeReferencedBytes += entry.body.size;
      } else counters.storeValidations += 1;
      return { headers, scriptCookies };
    });
  }

  #read(
    { head, consumer, isBeside }: Lookup,
    entry: ExchangeEntry,
    whole: AskForWhole,
    headOf: () => Pick<StoredAnswer, "headers" | "scriptCookies">,
  ): ClientExchange {
    if (isBeside === true) {
      headOf();
      // The caller needs to know only that the answer holds.
      return laterWith(Promise.resolve(), () => {
        consumer.onEnd();
        return { cancel() {} };
      });
    }
    const isUnreadable = this.#unreadable.delete(entry.body.id) && !this.#parts.platform.isAway();
    const reading = isUnreadable ? Promise.resolve(null) : this.#parts.store.read(entry);
    let isRead = false;
    const closeLate = () => void reading.then((body) => body?.close());
    const answer = laterWith(withinDiskTime(this.#parts, reading, null), (body) => {
      if (body === null) {
        closeLate();
        return whole();
      }
      isRead = true;
      this.#parts.counters.storeBytes += entry.body.size;
      return answerStored({ request: head, entry, ...headOf() }, body, consumer, (isBroken) =>
        this.#failed(entry, isBroken),
      );
    });
    return {
      cancel() {
        if (!isRead) closeLate();
        answer.cancel();
      },
    };
  }

  #failed(entry: ExchangeEntry, isBroken: boolean): RopewayError {
    if (isBroken) this.#parts.store.dropBody(entry);
    else this.#unreadable.set(entry.body.id, true);
    const message = `Cannot read what is stored: ${isBroken ? "a part of it is gone" : "try again"}`;
    return this.#parts.platform.failure(ErrorCode.INTERNAL_ERROR, message);
  }
}

interface StoredAnswer {
  readonly request: RequestHead;
  readonly entry: ExchangeEntry;
  readonly headers: HeaderList;
  readonly scriptCookies: readonly ScriptCookie[];
}

/**
 * Gives a consumer what is stored, or the part of it that is asked for, as fast as the consumer takes it.
 *
 * @param body is closed when that is over.
 * @param failed says what it fails with where a part of the body is broken, or cannot be read.
 */
function answerStored(
  { request, entry, headers, scriptCookies }: StoredAnswer,
  body: BodyReader,
  consumer: ResponseConsumer,
  failed: (isBroken: boolean) => RopewayError,
): ClientExchange {
  let isCancelled = false;
  const showsRange = mayShow("content-range", request, headers);
  const { status: whole, reason } = entry.meta;
  const ranged = answerRange(request, { status: whole, headers }, entry.body.size);
  const head = (status: number, fields: HeaderList): ResponseHead => ({
    status,
    ...(reason === undefined || status !== whole ? {} : { reason }),
    headers: showsRange ? fields : fields.filter(([name]) => name !== "content-range"),
    url: entry.url,
    redirected: false,
    coding: "identity",
    scriptCookies,
  });
  const deliver = async (first: number, end: number): Promise<void> => {
    let at = 0;
    for (let block = await body.next(); block !== null && at < end && !isCancelled; block = await body.next()) {
      const part = block.subarray(Math.max(0, first - at), Math.max(0, end - at));
      at += block.length;
      // Whole buffers, since the consumer may transfer them.
      if (part.length > 0) await consumer.onBody(part.length === block.length ? block : part.slice());
    }
    if (!isCancelled) consumer.onEnd();
  };
  const run = async (): Promise<void> => {
    switch (ranged.kind) {
      case "whole":
        consumer.onHead(head(whole, headers));
        return deliver(0, entry.body.size);
      case "part":
        consumer.onHead(head(206, ranged.headers));
        return deliver(ranged.first, ranged.last + 1);
      case "unsatisfiable":
        consumer.onHead(head(416, ranged.headers));
        return consumer.onEnd();
    }
  };
  void run()
    .catch(() => {
      const error = failed(body.isBroken);
      if (!isCancelled) consumer.onError(error);
    })
    .finally(() => body.close());
  return {
    cancel() {
      isCancelled = true;
      body.close();
    },
  };
}

/** Begins the answer that is given in place of the edge's, to the consumer it gets. */
export type StoredInstead = (consumer: ResponseConsumer) => ClientExchange;

type Asked = CacheRequest & Pick<RequestHead, "topLevelOrigin" | "destination">;

/** Milliseconds that a page which is shown as it was waits with what it has to have before it goes on. */
const HELD_UP = 5_000;

type GuardState = "asked" | "answered" | "over";

/**
 * Requests that the store may answer when the link is away: nobody knows how long the edge's answer would take then.
 */
export class AwayAnswers {
  readonly #platform: Pick<StorePlatform, "isAway" | "setTimer" | "failure">;
  /** The steps to take when the link goes away, one for each request without a head. */
  readonly #onLeft = new Set<() => void>();
  /** Pages that are shown as they were, by top-level origin: what their documents ask for is, too. */
  readonly #shownAsWere = new Map<string, "as stored" | { readonly kept: string }>();

  constructor(platform: Pick<StorePlatform, "isAway" | "setTimer" | "failure">) {
    this.#platform = platform;
  }

  /** The link went away. */
  linkLeft(): void {
    for (const left of [...this.#onLeft]) left();
  }

  /** A page is asked for, whoever answers. */
  pageBegins(head: Asked): void {
    if (!isPage(head)) return;
    if (this.#platform.isAway()) this.#shownAsWere.set(head.topLevelOrigin, "as stored");
    else this.#shownAsWere.delete(head.topLevelOrigin);
  }

  /** The edge has answered for a page, wherever redirects led: no other is shown there as it was. */
  pageCame({ url }: Pick<ResponseHead, "url">): void {
    this.#shownAsWere.delete(new URL(url).origin);
  }

  /**
   * Which of the stored responses is shown in place of the edge's answer, or null. A page that the person asks for is shown
   * as the history shows it (RFC 9111 section 6), whole: also what says `no-cache` or `must-revalidate`, which a page that
   * came from the edge is not given stale.
   */
  choose(head: Asked, variants: readonly Variant[], now: number): Variant | null {
    const isAsItWas = isPage(head) || this.#shownAsWere.has(head.topLevelOrigin);
    const stored = asStored(head, variants, now) ?? (isAsItWas ? inAnyLanguage(head, variants, now) : null);
    if (stored === null) return null;
    const { kept } = stored.entry;
    if (!isAsItWas && !mayAnswerStale(stored)) return null;
    if (isPage(head)) {
      this.#shownAsWere.set(head.topLevelOrigin, kept === undefined ? "as stored" : { kept });
    }
    return stored;
  }

  /** The kept page, by its URL, that this may be, or that asks for it; null where there is none. */
  keptPage(head: Asked): string | null {
    if (isPage(head)) return this.#platform.isAway() ? head.url : null;
    const shown = this.#shownAsWere.get(head.topLevelOrigin);
    return typeof shown === "object" ? shown.kept : null;
  }

  /** Whether a kept page that is shown does without this, if it is not stored: it is not held up until the link is back. */
  lacksNow(head: Asked): boolean {
    return !isPage(head) && this.#platform.isAway() && this.keptPage(head) !== null;
  }

  /** Whether a page that is shown as it was shows nothing of what follows until it has this. */
  #holdsUp(head: Asked): boolean {
    const isBlocking = head.destination === "script" || head.destination === "style";
    return isBlocking && this.#platform.isAway() && this.#shownAsWere.has(head.topLevelOrigin);
  }

  /**
   * Asks, and answers by what is stored if the link goes away first, or is away.
   *
   * @param find what is stored; null where nothing is, or it may not be shown so. Does not reject.
   */
  ask(
    head: Asked,
    consumer: ResponseConsumer,
    start: (consumer: ResponseConsumer) => ClientExchange,
    find: () => Promise<StoredInstead | null>,
  ): ClientExchange {
    let state: GuardState = "asked";
    const isDecided = () => state !== "asked";
    const decide = (next: GuardState): void => {
      state = next;
      this.#onLeft.delete(left);
      cancelTimer();
    };
    const fallBack = async (error: RopewayError | null): Promise<void> => {
      const instead = await find();
      if (isDecided()) return;
      if (instead === null) {
        if (error === null) return;
        decide("over");
        return consumer.onError(error);
      }
      decide("answered");
      exchange.cancel();
      exchange = instead(consumer);
    };
    const giveUp = (): void => {
      if (isDecided() || !this.#platform.isAway()) return;
      decide("over");
      exchange.cancel();
      consumer.onError(
        this.#platform.failure(ErrorCode.OFFLINE, "Cannot load: the link is away, and it is not stored"),
      );
    };
    const cancelTimer = this.#holdsUp(head) ? this.#platform.setTimer(giveUp, HELD_UP) : () => {};
    const left = () => void fallBack(null);
    this.#onLeft.add(left);
    let exchange = start(
      passingOn(consumer, {
        onHead: (response) => {
          decide("answered");
          if (isPage(head)) this.pageCame(response);
          consumer.onHead(response);
        },
        onError: (error) => {
          if (!isDecided() && isLinks(error)) return void fallBack(error);
          decide("over");
          consumer.onError(error);
        },
      }),
    );
    if (this.#platform.isAway()) left();
    return {
      cancel() {
        decide("over");
        exchange.cancel();
      },
    };
  }
}

/** A page in the language that the phone had before is better than none. Former releases did not say which that was. */
function inAnyLanguage(head: Asked, variants: readonly Variant[], now: number): Variant | null {
  const others = variants.map(({ selecting, ...rest }) => ({
    ...rest,
    selecting: selecting.filter(([name]) => name !== "accept-language"),
  }));
  const found = asStored(head, others, now);
  return variants.find(({ entry }) => entry === found?.entry) ?? null;
}

function isLinks({ code }: RopewayError): boolean {
  return code === ErrorCode.LINK_LOST || code === ErrorCode.OFFLINE;
}
