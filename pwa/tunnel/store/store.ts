/**
 * The door of the store: its answers, its upkeep, and questions about its entries. Its own script comes late,
 * when no page waits for it. Until then requests pass by, and only those wait that empty the store, or of which it is
 * likely to save more than waiting costs.
 */
import type { Clock, SetTimer } from "../../../shared/clock.ts";
import { ErrorCode, later, RopewayError } from "../../../shared/errors.ts";
import type { ResponseConsumer } from "../../../shared/http/exchange.ts";
import { isSafe, type RequestHead, type ResponseHead } from "../../../shared/http/heads.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { parseUrl } from "../../../shared/web/origin.ts";
import type { StoreQuestion, StoreStats } from "../../messages/tunnel-messages.ts";
import { type Ask, laterWith, type PhoneRequest, type ResponseSource, tapped } from "../exchange/exchange.ts";

/** Its milliseconds are those since the epoch. */
export interface StorePlatform extends Clock {
  /** Whether the link is gone, and not only slow. */
  isAway(): boolean;
  /** Whether origins get `Save-Data: on` with all requests. */
  savesData(): boolean;
  /** `Accept-Language` of all requests that do not say it themselves; "" for none. */
  acceptLanguage(): string;
  /** Whether what pages' scripts will ask for is named with navigations, to come before. */
  namesLearned(): boolean;
  /** Whether bodies that are stored are named with requests that they may answer. */
  namesBodies(): boolean;
  /** A page may have changed what its origin answers: it wrote there, or changed a cookie. */
  onChange(origin: string | null): void;
  /**
   * A page's document is shown as it was stored, since nobody could be asked. `storedAt`: milliseconds since the epoch
   * when its origin last answered for it.
   */
  onStoredPage(page: { readonly url: string; readonly storedAt: number }): void;
  /** A page that is shown as it was stored has a newer version, which is stored by now. */
  onNewerPage(url: string): void;
  /** The key with which the edge may seal bodies of this phone, in base64url: it is told so. */
  onDictionaryKey(key: string): void;
  /** The tunnel makes the errors of requests: this script has no class of its own that others would know. */
  failure(code: ErrorCode, message: string): RopewayError;
}

/** The store, once its script is there. */
export interface LoadedStore {
  readonly source: ResponseSource;
  /** Settles when it is known what is stored. */
  readonly opened: Promise<unknown>;
  readonly stats: StoreStats;
  readonly cookies: CookieWitness & { mayHaveChanged(urls: readonly string[]): void };
  /** The edge has answered a request that did not come by here. */
  passedBy(head: RequestHead, response: ResponseHead): void;
  /** Whether the page would get what is stored: nobody needs to send it. */
  isAtHand(head: RequestHead): boolean;
  /** Whether scripts of a document with this head are known to have no cookies. */
  hasNoCookies(head: Pick<RequestHead, "url" | "topLevelOrigin">): boolean;
  /** The app may be closed at any moment: changes that rest are written. */
  writeDown(): void;
  /** Less may be stored than before. */
  makeRoom(): Promise<void>;
  /** The link went away: requests under way whose responses are stored are answered from the store. */
  linkLeft(): void;
  /** The link may be there again: pages that were shown without it are asked about. */
  linkBack(): void;
  /** Documents of a site wait from its first word until the word that all of it is forgotten, or cannot be. */
  forget(word: { readonly site: string; readonly isOver: boolean }): void;
  /** The phone is not paired any more: the requests of pages' visits go. Stored responses stay, kept pages too. */
  unpaired(): Promise<void>;
  /** @param ask the tunnel. @returns as the methods of the shell's `TunnelClient` say. */
  answer(question: StoreQuestion, ask: Ask): Promise<unknown>;
}

interface StoreHost extends Pick<Clock, "setTimer"> {
  /** As of `StorePlatform`. */
  isAway(): boolean;
  load(): Promise<LoadedStore>;
  /** As `emptyStore`. */
  deleteStored(): Promise<void>;
}

/** Hears what becomes of each request to the edge: its answer may change cookies. */
interface CookieWitness {
  answered(head: RequestHead, response: ResponseHead): void;
  /** The request failed, or was given up, before a head came. */
  lost(head: RequestHead): void;
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

export class Store {
  #missed: (readonly [RequestHead, ResponseHead])[] = [];
  /** URLs whose sites may have changed cookies by what was answered before. */
  readonly #changing = new Set<string>();
  #loaded: LoadedStore | null = null;
  #loading: Promise<LoadedStore | null> | null = null;
  readonly #host: StoreHost;

  /** Origins of pages, serialized, that may be stored; null: any may. */
  #known: ReadonlySet<string> | null = new Set();
  /** The first document of those began to wait. When its time is over, others wait only while the link is away. */
  #opened: Promise<unknown> | null = null;

  constructor(host: StoreHost) {
    this.#host = host;
  }

  /**
   * Documents of these origins wait until it is known what is stored of them. Those of others go at once.
   *
   * @param origins serialized, of pages that were opened before the app was; null: nobody can say of which.
   */
  setKnown(origins: readonly string[] | null): void {
    this.#known = origins && new Set(origins);
  }

  /** Null until it is there. */
  get loaded(): LoadedStore | null {
    return this.#loaded;
  }

  /** @returns null where it cannot be had; it is tried again the next time. */
  load(): Promise<LoadedStore | null> {
    this.#loading ??= this.#host.load().then(
      (store) => {
        this.#loaded = store;
        for (const [head, response] of this.#missed.splice(0)) store.passedBy(head, response);
        store.cookies.mayHaveChanged([...this.#changing]);
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

  /** Answers with what is stored, and stores what comes. */
  readonly source: ResponseSource = (request, consumer, next) => {
    const { mode, topLevelOrigin } = request.head;
    if (mode !== "navigate" || this.#known?.has(topLevelOrigin) === false) return this.#ask(request, consumer, next);
    const { setTimer, isAway } = this.#host;
    const wait = () => bounded(this.#open(), undefined, setTimer, DISK_TIME, isAway);
    if (this.#opened === null || isAway()) this.#opened = wait();
    return laterWith(this.#opened, () => this.#ask(request, consumer, next));
  };

  /** All that is stored goes, in all windows, without the store's script. Fails where a window does not let go of it. */
  empty(): Promise<void> {
    return this.#host.deleteStored();
  }

  /** Settles when it is known what is stored, or that it cannot be had. */
  async #open(): Promise<void> {
    await (await this.load())?.opened;
  }

  readonly #ask: ResponseSource = (request, consumer, next) => {
    if (this.#loaded !== null) return this.#loaded.source(request, consumer, next);
    if (!isForgetting(request.head)) {
      const passed = tapped(request, { onHead: (response) => this.#passed(request.head, response) });
      return next(witnessed(passed, this.#witness), consumer);
    }
    return laterWith(bounded(this.load(), null, this.#host.setTimer), (store) => {
      if (store !== null) return store.source(request, consumer, next);
      return laterWith(this.#delete(), (isDeleted) => {
        const error = new RopewayError(ErrorCode.INTERNAL_ERROR, "stream", "library", NOT_CLEARED);
        return next(request, isDeleted ? consumer : failingWith(error, consumer));
      });
    });
  };

  /** A request that is made before the store is there may be answered after that. */
  readonly #witness: CookieWitness = {
    answered: (head, response) => {
      if (this.#loaded === null) this.#noteChanging(head.url, response.url, head.origin ?? "");
      else this.#loaded.cookies.answered(head, response);
    },
    lost: (head) => {
      if (this.#loaded === null) this.#noteChanging(head.url, head.origin ?? "");
      else this.#loaded.cookies.lost(head);
    },
  };

  #noteChanging(...urls: readonly string[]): void {
    for (const url of urls) this.#changing.add(parseUrl(url)?.origin ?? "");
  }

  #passed(head: RequestHead, response: ResponseHead): void {
    const clears = response.headers.some(([name]) => name === "clear-site-data");
    if (!clears && isSafe(head.method)) return;
    if (this.#loaded !== null) this.#loaded.passedBy(head, response);
    else if (this.#missed.push([head, response]) > MISSED) {
      this.#missed = [];
      void this.#delete();
    }
  }

  #delete(): Promise<boolean> {
    const deleted = this.#host.deleteStored().then(
      () => true,
      () => false,
    );
    return bounded(deleted, false, this.#host.setTimer, FORGETTING_TIME);
  }
}

/** The request, of which the witness hears what becomes. */
export function witnessed(request: PhoneRequest, witness: CookieWitness): PhoneRequest {
  let isTold = false;
  return tapped(request, {
    onHead(response) {
      isTold = true;
      witness.answered(request.head, response);
    },
    onOver() {
      if (!isTold) witness.lost(request.head);
    },
  });
}

/** Whether a message to the edge has the phone forget something first. */
export function isForgetting({ url }: Pick<RequestHead, "url">): boolean {
  return url === EdgeRequest.SITE_DATA || url === EdgeRequest.SITE;
}

const IN_OTHER_WINDOWS = later("some of it is still there. Close all other windows of the app, then try again");

export const NOT_CLEARED = `Cannot clear what this phone keeps of sites: ${IN_OTHER_WINDOWS}`;

/** Why data of sites is still there. @param error that a request to forget them ended in. */
export function whyNotForgotten(error: unknown): string {
  // Errors of the tunnel's script are of another class than those of the store's.
  const isOfStore = (error as { readonly message?: unknown }).message === NOT_CLEARED;
  return isOfStore ? IN_OTHER_WINDOWS : later("some of it is still there. Try again when the link is back");
}

/** The edge has answered, but not all was done: its answer becomes this error. */
export function failingWith(error: RopewayError, consumer: ResponseConsumer): ResponseConsumer {
  return {
    onHead() {},
    onBody: () => undefined,
    onEnd: () => consumer.onError(error),
    onError: (other) => consumer.onError(other),
  };
}

/** Milliseconds that a request waits for the disk before it does without. */
export const DISK_TIME = 1000;

/** A request waits so many times as long while the link is away: nothing but the disk can answer then. */
const AWAY_TIMES = 15;

/** Milliseconds that a person waits for the store to forget something: a slow phone has to delete 200 MB. */
export const FORGETTING_TIME = 15_000;

/**
 * The value of `promise`, or `otherwise` if that takes longer than `time`. The promise does not reject.
 *
 * @param isAway whether it is waited for longer.
 */
export function bounded<Value, Other>(
  promise: Promise<Value>,
  otherwise: Other,
  setTimer: SetTimer,
  time = DISK_TIME,
  isAway = () => false,
): Promise<Value | Other> {
  return new Promise((resolve) => {
    let times = 1;
    const over = (): void => {
      if (times++ < AWAY_TIMES && isAway()) cancel = setTimer(over, time);
      else resolve(otherwise);
    };
    let cancel = setTimer(over, time);
    void promise.then((value) => {
      cancel();
      resolve(value);
    });
  });
}

/** News of another window. */
export type StoreNews =
  | { readonly kind: "changed"; readonly partitions: readonly string[] }
  /** Responses that are under way are not to be stored. */
  | { readonly kind: "forgotten"; readonly isDatabaseNew: boolean };

/** The last way to empty the store: it needs neither the store's script nor a database that can be opened or written. */
export const STORE_NAME = "ropeway-store";

/** Settles when it is gone; that may be never, while a window of the app does not close it. */
export function deleteStoreDatabase(): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(STORE_NAME);
    request.onsuccess = () => resolve();
    request.onerror = () => reject(new Error("Cannot delete the database of the store"));
  });
}

/** As `deleteStoreDatabase`, and the stores of all windows begin anew, the own one too. */
export async function emptyStore(): Promise<void> {
  await deleteStoreDatabase();
  const channel = new BroadcastChannel(STORE_NAME);
  const news: StoreNews = { kind: "forgotten", isDatabaseNew: true };
  channel.postMessage(news);
  channel.close();
}
