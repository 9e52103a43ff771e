import { ErrorCode, type RopewayError } from "../../../../shared/errors.ts";
import type { ClientExchange, ResponseConsumer } from "../../../../shared/http/exchange.ts";
import { headerValue } from "../../../../shared/http/head-fields.ts";
import type { HeaderList, RequestHead, ResponseHead, StoredBody } from "../../../../shared/http/heads.ts";
import {
  asWhole,
  asWholeOf,
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
import { type Ask, DEAF, passingOn } from "../../exchange/exchange.ts";
import type { ResponseCopy } from "../database/response-store.ts";
import { watchCookies } from "../store.ts";
import type { StoredAnswers } from "./answers.ts";
import { cached, type Lookup, naming, type SourceParts, scriptCookiesOf, withFields } from "./lookup.ts";
import { type Alike, dictionaryOf, storedBodyOf } from "./named-bodies.ts";
import {
  contextOf,
  type ExchangeEntry,
  isBasic,
  isMoved,
  partitionOf,
  placeOf,
  type StoredExchange,
  type StoredPlace,
  type Variant,
  variantsOf,
} from "./stored-exchange.ts";

/** What the edge is asked because the store cannot answer alone, and what of its answers is stored. */
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
    const watched = watchCookies(cookies, next);
    return (request, consumer) => {
      const requestTime = platform.now();
      return watched(
        request,
        passingOn(consumer, {
          onHead: (response) => {
            invalidations.answered(request.head, response);
            this.#learnOfHead(request.head, response, requestTime);
            consumer.onHead(response);
          },
        }),
      );
    };
  }

  /** @param alike is named, since the answer may have the same body, or one like it. */
  fetch(lookup: Lookup, fields: HeaderList, alike: Alike | null = null): ClientExchange {
    const storing = this.#storing(lookup, this.#parts.platform.now());
    const name = alike === null ? null : this.#nameOfAlike(lookup.head, alike);
    const asking = naming(withFields(lookup, isBasic(lookup.head) ? fields : []), name);
    let other: ClientExchange | null = null;
    const exchange = lookup.next(
      asking,
      alike === null || name === null
        ? storing
        : this.#orAlike(lookup, alike.variant, storing, (answer) => (other = answer)),
    );
    return {
      cancel() {
        storing.giveUp();
        exchange.cancel();
        other?.cancel();
      },
    };
  }

  /** Passes an answer on to be stored, with the body of another URL where it has that one. */
  #orAlike(
    lookup: Lookup,
    { entry }: Variant,
    storing: ResponseConsumer,
    onAnswer: (answer: ClientExchange) => void,
  ): ResponseConsumer {
    let passes = storing;
    const { url } = lookup.head;
    const consumer = passingOn(storing, { onHead: (head) => storing.onHead({ ...head, url }) });
    return {
      onHead: (response) => {
        const whole = () => this.fetch(lookup, []);
        if (response.coding === "dcz") {
          passes = this.#onceDecoded(response, storing, () => onAnswer(whole()));
          return;
        }
        if (response.isReference !== true) return storing.onHead(response);
        passes = DEAF;
        const meta = { ...entry.meta, headers: response.headers };
        onAnswer(this.#answers.confirmed({ ...lookup, consumer }, entry, meta, response, whole));
      },
      onBody: (chunk) => passes.onBody(chunk),
      onEnd: () => passes.onEnd(),
      onError: (error) => passes.onError(error),
    };
  }

  /** Whether there is a way to ask whether what is stored holds, and not only for the whole. */
  canConfirm({ head }: Pick<Lookup, "head">, variant: Variant, fields: HeaderList): boolean {
    return (isBasic(head) && fields.length > 0) || this.#nameOf(head, variant) !== null;
  }

  #onceDecoded(response: ResponseHead, consumer: ResponseConsumer, again: () => void): ResponseConsumer {
    this.#parts.counters.storeDictionaries += 1;
    return onceDecoded(response, consumer, again);
  }

  #nameOfAlike(head: RequestHead, { kind, variant }: Alike): StoredBody | null {
    return kind === "version" ? this.#nameOf(head, variant) : dictionaryOf(variant, this.#parts.dictionaries);
  }

  #nameOf(head: RequestHead, variant: Variant): StoredBody | null {
    return storedBodyOf(head, variant, this.#parts.dictionaries);
  }

  /** Asks whether what is stored holds: by its validators, and by its body's name. */
  validate(lookup: Lookup, variant: Variant, fields: HeaderList): ClientExchange {
    const { platform } = this.#parts;
    const requestTime = platform.now();
    // A failure makes its host unknown.
    const cookies = scriptCookiesOf(this.#parts, lookup.head) ?? undefined;
    const stored = this.#nameOf(lookup.head, variant);
    const whole = this.#storing(lookup, requestTime, stored !== null);
    const asking = naming(withFields(lookup, isBasic(lookup.head) ? fields : []), stored);
    const askForWhole = () => this.fetch(lookup, []);
    let passes: ResponseConsumer = lookup.consumer;
    let other: ClientExchange | null = null;
    const answerBy = (answer: () => ClientExchange): void => {
      passes = DEAF;
      other = answer();
    };
    const network = lookup.next(asking, {
      onHead: (response) => {
        const times = { requestTime, responseTime: platform.now() };
        if (response.isReference === true) {
          return answerBy(() => this.#answerNamed(lookup, variant.entry, response, times));
        }
        const verdict = judgeValidation(variant.entry.meta, lookup.head, response, times);
        if (verdict.kind === "replaced") {
          passes = response.coding === "dcz" ? this.#onceDecoded(response, whole, () => answerBy(askForWhole)) : whole;
          passes.onHead(response);
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
        // No head has come.
        const isUnanswered = passes === lookup.consumer;
        if (isUnanswered && hidesError(variant.entry.meta, error, platform.now())) {
          answerBy(() => this.#answers.answer(lookup, variant, askForWhole, cookies));
        } else passes.onError(error);
      },
    });
    return {
      cancel() {
        whole.giveUp();
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
    else void store.refresh(entry, this.#metaOf(lookup, stored, response));
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

  #storing(lookup: Lookup, requestTime: number, isNamed = false): StoringConsumer<StoredExchange> {
    const { store, platform, invalidations, pages } = this.#parts;
    const { head, consumer } = lookup;
    const number = invalidations.begin();
    const { era } = store;
    return new StoringConsumer<StoredExchange>(
      consumer,
      (response) => {
        const times: ExchangeTimes = { requestTime, responseTime: platform.now() };
        const place = store.isOpen && store.era === era ? placeOf(lookup, response) : null;
        const part = partOf(response);
        const whole = part === null ? asWhole(response) : asWholeOf(part.total, response);
        const stored = place === null ? null : toStored(head, whole, times);
        pages.answered(head, response, place !== null && stored === null);
        if (place === null || stored === null) return null;
        const meta = this.#metaOf({ ...lookup, ...place }, stored, response);
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

/** Passes a response on and copies it, if it may be stored. */
class StoringConsumer<Meta> implements ResponseConsumer {
  readonly #consumer: ResponseConsumer;
  /** What to store with the response, and a copy of its body that begins; or null where it is not to be stored. */
  readonly #begin: (head: ResponseHead) => { readonly meta: Meta; readonly copy: ResponseCopy } | null;
  readonly #store: (head: ResponseHead, meta: Meta, copy: ResponseCopy) => void;
  #state:
    | { readonly kind: "idle" }
    | { readonly kind: "copying"; readonly head: ResponseHead; readonly meta: Meta; readonly copy: ResponseCopy } = {
    kind: "idle",
  };
  #bytes = 0;

  constructor(
    consumer: ResponseConsumer,
    begin: (head: ResponseHead) => { readonly meta: Meta; readonly copy: ResponseCopy } | null,
    store: (head: ResponseHead, meta: Meta, copy: ResponseCopy) => void,
  ) {
    this.#consumer = consumer;
    this.#begin = begin;
    this.#store = store;
  }

  onHead(head: ResponseHead): void {
    const begun = this.#begin(head);
    if (begun !== null) this.#state = { kind: "copying", head, ...begun };
    this.#consumer.onHead(head);
  }

  onBody(chunk: Uint8Array): Promise<void> | undefined {
    this.#bytes += chunk.length;
    if (this.#state.kind === "copying") this.#state.copy.body.write(chunk);
    return this.#consumer.onBody(chunk);
  }

  onEnd(): void {
    const state = this.#state;
    this.#state = { kind: "idle" };
    if (state.kind === "copying") {
      const announced = headerValue(asWhole(state.head).headers, "content-length");
      // It broke off where neither its origin nor the edge could know.
      if (announced === null || Number(announced) === this.#bytes) this.#store(state.head, state.meta, state.copy);
      else state.copy.body.giveUp();
    }
    this.#consumer.onEnd();
  }

  onError(error: RopewayError): void {
    this.giveUp();
    this.#consumer.onError(error);
  }

  giveUp(): void {
    if (this.#state.kind === "copying") this.#state.copy.body.giveUp();
    this.#state = { kind: "idle" };
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
   * @returns where its bytes go; null where they do not follow those before. Who gives up that copy gives up all of it.
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
 * @param again what to do where none can be: what is stored is broken, or the decoder is not to be had.
 */
export function onceDecoded(head: ResponseHead, consumer: ResponseConsumer, again: () => void): ResponseConsumer {
  let isBegun = false;
  const begin = (): void => {
    if (!isBegun) consumer.onHead(head);
    isBegun = true;
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
