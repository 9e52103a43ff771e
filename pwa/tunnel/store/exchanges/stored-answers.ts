/** Answers that are read out of the store. */
import { ErrorCode, type RopewayError } from "../../../../shared/errors.ts";
import type { ClientExchange } from "../../../../shared/http/exchange.ts";
import type { ResponseHead, ScriptCookie } from "../../../../shared/http/heads.ts";
import { headersWithAge } from "../../../../shared/http-cache/cache-rules.ts";
import { laterWith } from "../later-with.ts";
import { answerStored, type StoredAnswer } from "./answer-stored.ts";
import type { Lookup } from "./lookup.ts";
import { type SourceParts, scriptCookiesOf, withinDiskTime } from "./source-parts.ts";
import { type ExchangeEntry, mayShow, type StoredExchange } from "./stored-exchange.ts";
import type { Variant } from "./variants-of.ts";

/** Asks for the whole response, since the stored one cannot be read. */
type AskForWhole = () => ClientExchange;

export class StoredAnswers {
  readonly #parts: SourceParts;

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
      // That it holds is all that is to be known.
      return laterWith(Promise.resolve(), () => {
        consumer.onEnd();
        return { cancel() {} };
      });
    }
    const reading = this.#parts.store.read(entry);
    let isRead = false;
    const closeLate = () => void reading.then((body) => body?.close());
    const answer = laterWith(withinDiskTime(this.#parts, reading, null), (body) => {
      if (body === null) {
        closeLate();
        return whole();
      }
      isRead = true;
      this.#parts.counters.storeBytes += entry.body.size;
      return answerStored({ request: head, entry, ...headOf() }, body, consumer, () => this.#broken(entry));
    });
    return {
      cancel() {
        if (!isRead) closeLate();
        answer.cancel();
      },
    };
  }

  #broken(entry: ExchangeEntry): RopewayError {
    this.#parts.store.dropBody(entry);
    const message = "Cannot read what is stored: a part of it is gone";
    return this.#parts.platform.failure(ErrorCode.INTERNAL_ERROR, message);
  }
}
