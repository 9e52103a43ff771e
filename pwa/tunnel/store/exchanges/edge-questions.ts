import { ErrorCode } from "../../../../shared/errors.ts";
import type { ClientExchange, ResponseConsumer } from "../../../../shared/http/exchange.ts";
import { headerValue } from "../../../../shared/http/head-fields.ts";
import type { HeaderList, RequestHead, ResponseHead, StoredBody } from "../../../../shared/http/heads.ts";
import {
  asWhole,
  type BodyPart,
  type ExchangeTimes,
  freshenByHead,
  hidesError,
  isSameVariant,
  judgeValidation,
  partOf,
  selectVariant,
  toStored,
} from "../../../../shared/http-cache/cache-rules.ts";
import {
  type Ask,
  DEAF,
  type Outcome,
  type PhoneRequest,
  passingOn,
  seenBy,
  type Tap,
  tapped,
} from "../../exchange/exchange.ts";
import type { ResponseCopy } from "../database/response-store.ts";
import { witnessed } from "../store.ts";
import type { StoredAnswers } from "./answers.ts";
import { cached, type Lookup, naming, type SourceParts, scriptCookiesOf, withFields } from "./lookup.ts";
import { type Alike, dictionaryOf, storedBodyOf } from "./named-bodies.ts";
import {
  contextOf,
  type ExchangeEntry,
  isBasic,
  isMoved,
  marksOf,
  partitionOf,
  placeOf,
  type StoredExchange,
  type StoredPlace,
  type Variant,
  variantsOf,
} from "./stored-exchange.ts";

/** Requests to the edge that the store cannot answer alone, and the answers of these that are stored. */
export class EdgeQuestions {
  readonly #parts: SourceParts;
  readonly #answers: StoredAnswers;
  readonly #joined = new JoinedParts();
  /** By entries that the edge is asked about beside. */
  readonly #checked = new Map<number, Promise<void>>();

  constructor(parts: SourceParts, answers: StoredAnswers) {
    this.#parts = parts;
    this.#answers = answers;
  }

  /** @returns `next`, whose answers do to what is stored what any answer of the edge does. */
  watching(next: Ask): Ask {
    const { platform, cookies, invalidations } = this.#parts;
    return (request, consumer) => {
      const requestTime = platform.now();
      const learning = tapped(request, {
        onHead: (response) => {
          invalidations.answered(request.head, response);
          this.#learnOfHead(request.head, response, requestTime);
        },
      });
      return next(witnessed(learning, cookies), consumer);
    };
  }

  /** @param alike is named, since the answer may have the same body, or one like it. */
  fetch(lookup: Lookup, fields: HeaderList, alike: Alike | null = null): ClientExchange {
    const name = alike === null ? null : this.#nameOfAlike(lookup.head, alike);
    const request = naming(withFields(lookup, isBasic(lookup.head) ? fields : []), name);
    const copy = this.#copyOf(lookup, this.#parts.platform.now());
    if (alike !== null && name !== null) return this.#fetchOrAlike(lookup, request, alike.variant, copy);
    return lookup.next(tapped(tapped(request, copy), { onHead: (response) => copy.begin(response) }), lookup.consumer);
  }

  /** Takes the body of another URL where the answer has that one. The body is stored under this URL, too. */
  #fetchOrAlike(lookup: Lookup, request: PhoneRequest, { entry }: Variant, copy: BodyTap): ClientExchange {
    const { consumer } = lookup;
    const { url } = lookup.head;
    const copyOfAlike = this.#copyOf(lookup, this.#parts.platform.now());
    const whole = () => this.fetch(lookup, []);
    let passes = consumer;
    let other: ClientExchange | null = null;
    const answerAlike = (response: ResponseHead): void => {
      passes = DEAF;
      const stored = seenBy([copyOfAlike], consumer);
      const asOwn = passingOn(stored, {
        onHead: (head) => {
          copyOfAlike.begin({ ...head, url });
          consumer.onHead({ ...head, url });
        },
      });
      const meta = { ...entry.meta, headers: response.headers };
      other = this.#answers.confirmed({ ...lookup, consumer: asOwn }, entry, meta, response, whole);
    };
    const exchange = lookup.next(tapped(request, copy), {
      onHead: (response) => {
        if (response.isReference === true) return answerAlike(response);
        copy.begin(response);
        if (response.coding !== "dcz") return consumer.onHead(response);
        const again = () => (other = whole());
        passes = this.#onceDecoded(response, consumer, again, () => (passes = consumer));
      },
      onBody: (chunk) => passes.onBody(chunk),
      onEnd: () => passes.onEnd(),
      onError: (error) => passes.onError(error),
    });
    return {
      cancel() {
        exchange.cancel();
        copyOfAlike.onOver("cancelled");
        other?.cancel();
      },
    };
  }

  /** Whether there is a way to ask whether what is stored holds, and not only for the whole. */
  canConfirm({ head }: Pick<Lookup, "head">, variant: Variant, fields: HeaderList): boolean {
    return (isBasic(head) && fields.length > 0) || this.#nameOf(head, variant) !== null;
  }

  #onceDecoded(...decoded: Parameters<typeof onceDecoded>): ResponseConsumer {
    this.#parts.counters.storeDictionaries += 1;
    return onceDecoded(...decoded);
  }

  #nameOfAlike(head: RequestHead, { kind, variant }: Alike): StoredBody | null {
    if (kind === "version") return this.#nameOf(head, variant);
    return this.#parts.platform.namesBodies() ? dictionaryOf(variant, this.#parts.dictionaries) : null;
  }

  #nameOf(head: RequestHead, variant: Variant): StoredBody | null {
    return this.#parts.platform.namesBodies() ? storedBodyOf(head, variant, this.#parts.dictionaries) : null;
  }

  /** Asks whether what is stored holds: by its validators, and by its body's name. */
  validate(lookup: Lookup, variant: Variant, fields: HeaderList): ClientExchange {
    const { platform } = this.#parts;
    const requestTime = platform.now();
    // A failure makes its host unknown.
    const cookies = scriptCookiesOf(this.#parts, lookup.head) ?? undefined;
    const stored = this.#nameOf(lookup.head, variant);
    const copy = this.#copyOf(lookup, requestTime, stored !== null);
    const asking = naming(withFields(lookup, isBasic(lookup.head) ? fields : []), stored);
    const askForWhole = () => this.fetch(lookup, []);
    const { consumer } = lookup;
    let passes: ResponseConsumer = consumer;
    let isAnswered = false;
    let other: ClientExchange | null = null;
    const answerBy = (answer: () => ClientExchange): void => {
      passes = DEAF;
      other = answer();
    };
    const network = lookup.next(tapped(asking, copy), {
      onHead: (response) => {
        isAnswered = true;
        const times = { requestTime, responseTime: platform.now() };
        if (response.isReference === true) {
          return answerBy(() => this.#answerNamed(lookup, variant.entry, response, times));
        }
        const verdict = judgeValidation(variant.entry.meta, lookup.head, response, times);
        if (verdict.kind === "replaced") {
          copy.begin(response);
          if (response.coding !== "dcz") return consumer.onHead(response);
          const again = () => answerBy(askForWhole);
          passes = this.#onceDecoded(response, consumer, again, () => (passes = consumer));
        } else if (verdict.kind === "stale-if-error") {
          answerBy(() => this.#answers.answer(lookup, variant, askForWhole));
          network.cancel();
        } else if (response.redirected) {
          // The condition went to another URL than that which it was made of.
          answerBy(askForWhole);
        } else {
          const meta = this.#metaOf(lookup, verdict.stored, response);
          answerBy(() => this.#answers.confirmed(lookup, variant.entry, meta, response, askForWhole));
          this.#keep(lookup.head, variant.entry, meta, times);
        }
      },
      onBody: (chunk) => passes.onBody(chunk),
      onEnd: () => passes.onEnd(),
      onError: (error) => {
        if (!isAnswered && hidesError(variant.entry.meta, error, platform.now())) {
          answerBy(() => this.#answers.answer(lookup, variant, askForWhole, cookies));
        } else passes.onError(error);
      },
    });
    return {
      cancel() {
        network.cancel();
        other?.cancel();
      },
    };
  }

  /** The same body came again, under this head. */
  #answerNamed(lookup: Lookup, entry: ExchangeEntry, response: ResponseHead, times: ExchangeTimes): ClientExchange {
    const meta = this.#metaOf(lookup, { ...entry.meta, headers: response.headers }, response);
    const answer = this.#answers.confirmed(lookup, entry, meta, response, () => this.fetch(lookup, []));
    const stored = toStored(lookup.head, response, times);
    const { store } = this.#parts;
    if (stored === null) void store.remove([entry]);
    else void store.refresh(entry, this.#metaOf(lookup, { ...stored, ...marksOf(lookup.request, response) }, response));
    return answer;
  }

  /** Asks beside an answer that was given, or ahead, whether it holds. Settles when that is known, or will not be. */
  check(lookup: Lookup, variant: Variant, fields: HeaderList): Promise<void> {
    const { id } = variant.entry;
    const before = this.#checked.get(id);
    if (before !== undefined) return before;
    const checked = new Promise<void>((resolve) => {
      const consumer = { ...DEAF, onEnd: resolve, onError: () => resolve() };
      this.validate({ ...lookup, consumer, isBeside: true }, variant, fields);
    }).then(() => void this.#checked.delete(id));
    this.#checked.set(id, checked);
    return checked;
  }

  /** HEAD tells what GET would have got (RFC 9111 section 4.3.5), of the page's own origin all of it. */
  #learnOfHead(head: RequestHead, response: ResponseHead, requestTime: number): void {
    const { store, platform, invalidations } = this.#parts;
    const context = contextOf(head);
    if (head.method !== "HEAD" || !isBasic(head) || context === null || isMoved(head, response)) return;
    const times: ExchangeTimes = { requestTime, responseTime: platform.now() };
    const request = cached(head, platform, head.cache);
    const partition = partitionOf(head);
    const pending = invalidations.pendingFor(partition, head.url);
    const learn = async (): Promise<void> => {
      await pending;
      const index = await store.index(partition);
      const known = selectVariant(request, variantsOf(index, head, context))?.entry;
      const fresh = known === undefined ? null : freshenByHead(known.meta, request, response, times);
      if (known === undefined || fresh === null) return;
      await (fresh === "outdated" ? store.remove([known]) : store.refresh(known, { ...known.meta, ...fresh }));
    };
    invalidations.add(partition, head.url, learn());
  }

  /** The body stays under another head, unless that says that it is not to be stored. */
  #keep(head: Lookup["head"], entry: ExchangeEntry, meta: StoredExchange, times: ExchangeTimes): void {
    const { store } = this.#parts;
    if (toStored(head, meta, times) === null) void store.remove([entry]);
    else void store.refresh(entry, meta);
  }

  /** Stores the answer that goes by, if it may be stored. */
  #copyOf(lookup: Lookup, requestTime: number, isNamed = false): BodyTap {
    const { store, platform, invalidations, pages } = this.#parts;
    const { head } = lookup;
    const number = invalidations.begin();
    const { era } = store;
    return new BodyTap(
      (response) => {
        const times: ExchangeTimes = { requestTime, responseTime: platform.now() };
        const place = store.isOpen && store.era === era ? placeOf(lookup, response) : null;
        const part = partOf(response);
        const whole = asWhole(response, part);
        const stored = place === null ? null : toStored(head, whole, times);
        pages.answered(head, response, place !== null && stored === null);
        if (place === null || stored === null) return null;
        const meta = this.#metaOf(
          { ...lookup, ...place },
          { ...stored, ...marksOf(lookup.request, response) },
          response,
        );
        const start = () => ({ copy: store.startCopy(), number });
        const body = part === null ? start() : this.#joined.begin(nameOf(place), part, start);
        return body && { meta: isNamed ? { ...meta, wasOther: true } : meta, copy: body.copy };
      },
      (response, meta, copy) => {
        const place = placeOf(lookup, response);
        if (place === null || store.era !== era) return copy.body.giveUp();
        const part = partOf(response);
        const body = part === null ? { number } : this.#joined.end(nameOf(place), part, copy);
        if (body === null) return;
        this.#store(place, meta, copy, body.number);
        if (!isMoved(head, response)) return;
        const from = { ...place, partition: lookup.partition, url: head.url };
        this.#store(from, { ...meta, movedTo: response.url }, store.startCopy(), number);
      },
    );
  }

  /** @param number of the request, as of `Invalidations`. */
  #store({ partition, url, context }: StoredPlace, meta: StoredExchange, copy: ResponseCopy, number: number): void {
    const { store, invalidations } = this.#parts;
    if (invalidations.isDropped(number, partition, url)) return copy.body.giveUp();
    const replaces = ({ meta: old }: ExchangeEntry) => old.context === context && isSameVariant(meta, old);
    invalidations.add(partition, url, store.add({ partition, url, meta, replaces }, copy));
  }

  #metaOf(
    { head, context }: Pick<Lookup, "head" | "context">,
    stored: Omit<StoredExchange, "context" | "scriptCookies">,
    response: ResponseHead,
  ): StoredExchange {
    return { ...stored, context, scriptCookies: head.mode === "navigate" ? response.scriptCookies : [] };
  }
}

function nameOf({ partition, url, context }: StoredPlace): string {
  return `${partition} ${url} ${context}`;
}

/** Copies the body that goes by, from its head on, and stores it when it is whole. */
class BodyTap implements Tap {
  /** The response's record and a copy of its body, which begins; or null where the response is not to be stored. */
  readonly #begin: (head: ResponseHead) => { readonly meta: StoredExchange; readonly copy: ResponseCopy } | null;
  readonly #store: (head: ResponseHead, meta: StoredExchange, copy: ResponseCopy) => void;
  #state:
    | { readonly kind: "idle" }
    | {
        readonly kind: "copying";
        readonly head: ResponseHead;
        readonly meta: StoredExchange;
        readonly copy: ResponseCopy;
        bytes: number;
      } = { kind: "idle" };

  constructor(
    begin: (head: ResponseHead) => { readonly meta: StoredExchange; readonly copy: ResponseCopy } | null,
    store: (head: ResponseHead, meta: StoredExchange, copy: ResponseCopy) => void,
  ) {
    this.#begin = begin;
    this.#store = store;
  }

  /** The response with this head is the page's. */
  begin(head: ResponseHead): void {
    const begun = this.#begin(head);
    if (begun !== null) this.#state = { kind: "copying", head, ...begun, bytes: 0 };
  }

  onChunk(chunk: Uint8Array): void {
    if (this.#state.kind === "idle") return;
    this.#state.bytes += chunk.length;
    this.#state.copy.body.write(chunk);
  }

  onOver(outcome: Outcome): void {
    const state = this.#state;
    this.#state = { kind: "idle" };
    if (state.kind === "idle") return;
    const announced = headerValue(asWhole(state.head).headers, "content-length");
    // A body may break off where neither its origin nor the edge could know.
    const isWhole = outcome === "done" && (announced === null || Number(announced) === state.bytes);
    if (isWhole) this.#store(state.head, state.meta, state.copy);
    else state.copy.body.giveUp();
  }
}

/** Bodies that wait for their next part, the oldest given up first. */
const WAITING = 4;

interface JoinedBody {
  readonly copy: ResponseCopy;
  /** Of the request for its first part, as of `Invalidations`. */
  readonly number: number;
  /** First byte that is missing; null while a part is under way. */
  next: number | null;
}

/** Parts of bodies that come one after the other, from the first byte on: together they are the whole (RFC 9111 section 3.4). */
class JoinedParts {
  /** By what the parts of one body have in common. */
  readonly #bodies = new Map<string, JoinedBody>();

  /**
   * A part begins.
   *
   * @returns where its bytes go; null where they do not follow those before. A part that gives up the copy gives up all parts.
   */
  begin(place: string, part: BodyPart, start: () => Omit<JoinedBody, "next">): JoinedBody | null {
    const key = keyOf(place, part);
    const before = this.#bodies.get(key);
    if (part.first > 0) {
      if (before?.next !== part.first) return null;
      before.next = null;
      return before;
    }
    before?.copy.body.giveUp();
    const body: JoinedBody = { ...start(), next: null };
    this.#bodies.delete(key);
    this.#bodies.set(key, body);
    const [oldest] = this.#bodies;
    if (this.#bodies.size > WAITING && oldest !== undefined) {
      this.#bodies.delete(oldest[0]);
      oldest[1].copy.body.giveUp();
    }
    return body;
  }

  /** All bytes of a part that began have come. @returns the body where that was the last part. */
  end(place: string, part: BodyPart, copy: ResponseCopy): JoinedBody | null {
    const key = keyOf(place, part);
    const body = this.#bodies.get(key);
    if (body?.copy !== copy) return null;
    body.next = part.last + 1;
    if (body.next < part.total) return null;
    this.#bodies.delete(key);
    return body;
  }
}

function keyOf(place: string, { tag, total }: BodyPart): string {
  return `${place} ${tag} ${total}`;
}

/**
 * For a response that is coded against what is stored: its consumer hears of it with the first bytes that were decoded.
 *
 * @param onBegun the consumer has heard of it, and hears the rest as it comes.
 * @param again what to do where none can be: what is stored is broken, or the decoder is not to be had.
 */
export function onceDecoded(
  head: ResponseHead,
  consumer: ResponseConsumer,
  again: () => void,
  onBegun: () => void = () => {},
): ResponseConsumer {
  let isBegun = false;
  const begin = (): void => {
    if (isBegun) return;
    isBegun = true;
    onBegun();
    consumer.onHead(head);
  };
  return {
    onHead() {},
    onBody(chunk) {
      begin();
      return consumer.onBody(chunk);
    },
    onEnd() {
      begin();
      consumer.onEnd();
    },
    onError(error) {
      if (!isBegun && error.code === ErrorCode.COMPRESSION_ERROR) again();
      else consumer.onError(error);
    },
  };
}
