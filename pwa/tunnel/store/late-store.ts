/** The store as long as its script is not there: requests pass by, and only what empties it waits. */
import type { Clock } from "../../../shared/clock.ts";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { ResponseConsumer } from "../../../shared/http/exchange.ts";
import { isSafe, type RequestHead, type ResponseHead } from "../../../shared/http/heads.ts";
import { parseUrl } from "../../../shared/web/origin.ts";
import type { StoreStats } from "../../messages/tunnel-messages.ts";
import { type Ask, passingOn, type ResponseSource } from "../requests/response-source.ts";
import { bounded, FORGETTING_TIME } from "./bounded.ts";
import { watchCookies } from "./exchanges/watch-cookies.ts";
import { isForgetting } from "./forgetting.ts";
import { laterWith } from "./later-with.ts";
import { failingWith, NOT_CLEARED } from "./not-cleared.ts";
import type { StoredSource } from "./stored-source.ts";

export interface LateStorePlatform extends Pick<Clock, "setTimer"> {
  load(): Promise<StoredSource>;
  /** What is stored goes, without the script. */
  deleteStored(): Promise<void>;
}

/** Answers that the store has to hear of when it is there; if there are more, it is emptied. */
const MISSED = 64;

const NO_STORE: StoreStats = {
  storeAnswers: null,
  storeValidations: null,
  storeAsked: null,
  storeAskedUsed: null,
  storeReferences: null,
  storeReferencedBytes: null,
  storeDictionaries: null,
  storeBytes: null,
  storedBytes: null,
  storedBytesMax: null,
};

export class LateStore {
  #missed: (readonly [RequestHead, ResponseHead])[] = [];
  /** URLs whose sites may have changed cookies by what was answered before. */
  readonly #changing = new Set<string>();
  #loaded: StoredSource | null = null;
  #loading: Promise<StoredSource | null> | null = null;
  readonly #platform: LateStorePlatform;

  constructor(platform: LateStorePlatform) {
    this.#platform = platform;
  }

  /** Null until it is there. */
  get loaded(): StoredSource | null {
    return this.#loaded;
  }

  /** @returns null where it cannot be had; it is tried again the next time. */
  load(): Promise<StoredSource | null> {
    this.#loading ??= this.#platform.load().then(
      (store) => {
        this.#loaded = store;
        for (const [head, response] of this.#missed.splice(0)) store.passedBy(head, response);
        store.parts.cookies.mayHaveChanged([...this.#changing]);
        return store;
      },
      () => {
        this.#loading = null;
        return null;
      },
    );
    return this.#loading;
  }

  get stats(): StoreStats {
    return this.#loaded?.stats ?? NO_STORE;
  }

  /** Loads it. Settles when it is known what is stored, or that it cannot be had. */
  async open(): Promise<void> {
    await (await this.load())?.opened;
  }

  readonly source: ResponseSource = (request, consumer, next) => {
    if (this.#loaded !== null) return this.#loaded.source(request, consumer, next);
    if (!isForgetting(request.head)) {
      return this.#watching(next)(
        request,
        passingOn(consumer, { onHead: (response) => this.#passed(request.head, response, consumer) }),
      );
    }
    return laterWith(bounded(this.load(), null, this.#platform.setTimer), (store) => {
      if (store !== null) return store.source(request, consumer, next);
      return laterWith(this.#delete(), (isDeleted) => {
        const error = new RopewayError(ErrorCode.INTERNAL_ERROR, "stream", "library", NOT_CLEARED);
        return next(request, isDeleted ? consumer : failingWith(error, consumer));
      });
    });
  };

  /** What is asked before the store is there may be answered after that. */
  #watching(next: Ask): Ask {
    const note = (...urls: readonly string[]): void => {
      for (const url of urls) this.#changing.add(parseUrl(url)?.origin ?? "");
    };
    return watchCookies(
      {
        answered: (head, response) => {
          if (this.#loaded === null) note(head.url, response.url, head.origin ?? "");
          else this.#loaded.parts.cookies.answered(head, response);
        },
        lost: (head) => {
          if (this.#loaded === null) note(head.url, head.origin ?? "");
          else this.#loaded.parts.cookies.lost(head);
        },
      },
      next,
    );
  }

  #passed(head: RequestHead, response: ResponseHead, consumer: ResponseConsumer): void {
    const clears = response.headers.some(([name]) => name === "clear-site-data");
    if (clears || !isSafe(head.method)) {
      if (this.#loaded !== null) this.#loaded.passedBy(head, response);
      else if (this.#missed.push([head, response]) > MISSED) {
        this.#missed = [];
        void this.#delete();
      }
    }
    consumer.onHead(response);
  }

  #delete(): Promise<boolean> {
    const deleted = this.#platform.deleteStored().then(
      () => true,
      () => false,
    );
    return bounded(deleted, false, this.#platform.setTimer, FORGETTING_TIME);
  }
}
