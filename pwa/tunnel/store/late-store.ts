/** The store as long as its script is not there: requests pass by, and only what empties it waits. */
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import type { ResponseSource } from "../requests/response-source.ts";
import { bounded } from "./bounded.ts";
import { laterWith } from "./later-with.ts";
import { failingWith, NOT_CLEARED } from "./not-cleared.ts";
import type { StoredSource } from "./stored-source.ts";

export interface LateStorePlatform {
  load(): Promise<StoredSource>;
  /** What is stored goes, without the script. */
  deleteStored(): Promise<void>;
  setTimer(task: () => void, delay: number): () => void;
}

export class LateStore {
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
        return store;
      },
      () => {
        this.#loading = null;
        return null;
      },
    );
    return this.#loading;
  }

  readonly source: ResponseSource = (request, consumer, next) => {
    if (this.#loaded !== null) return this.#loaded.source(request, consumer, next);
    if (request.head.url !== EdgeRequest.SITE_DATA) return next(request, consumer);
    return laterWith(bounded(this.load(), null, this.#platform.setTimer), (store) => {
      if (store !== null) return store.source(request, consumer, next);
      return laterWith(this.#delete(), (isDeleted) => {
        const error = new RopewayError(ErrorCode.INTERNAL_ERROR, "stream", "library", NOT_CLEARED);
        return next(request, isDeleted ? consumer : failingWith(error, consumer));
      });
    });
  };

  #delete(): Promise<boolean> {
    const deleted = this.#platform.deleteStored().then(
      () => true,
      () => false,
    );
    return bounded(deleted, false, this.#platform.setTimer);
  }
}
