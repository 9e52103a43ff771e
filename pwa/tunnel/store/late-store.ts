/** The store as long as its script is not there: requests pass by, and only what empties it waits. */
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import type { ResponseSource } from "../requests/response-source.ts";
import type { StoredSource } from "./stored-source.ts";

export class LateStore {
  #loaded: StoredSource | null = null;
  #loading: Promise<StoredSource | null> | null = null;
  readonly #load: () => Promise<StoredSource>;

  constructor(load: () => Promise<StoredSource>) {
    this.#load = load;
  }

  /** Null until it is there. */
  get loaded(): StoredSource | null {
    return this.#loaded;
  }

  /** @returns null where it cannot be had; it is tried again the next time. */
  load(): Promise<StoredSource | null> {
    this.#loading ??= this.#load().then(
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
    let cancel = (): void => {};
    void this.load().then((store) => {
      const exchange = store?.source(request, consumer, next) ?? next(request, consumer);
      cancel = () => exchange.cancel();
    });
    return { cancel: () => cancel() };
  };
}
