/**
 * Stops a phone's requests that the edge's block list names, before anything is asked. The list is loaded when a phone
 * wants that, and opened once for all phones of an isolate. While it is not there nothing is stopped: pages do not wait
 * for it.
 */

import type { RequestType } from "@ghostery/adblocker";
import type { Clock } from "../../shared/clock.ts";
import { ErrorCode, later, RopewayError } from "../../shared/errors.ts";
import type { Destination, RequestHead } from "../../shared/http/heads.ts";
import { concat } from "../../shared/wire/frame.ts";
import type { RecordStore } from "../devices/record-store.ts";

/** Milliseconds that requests wait for a list that is being loaded, from when that began. */
export const LOAD_PATIENCE = 1_000;
/** Milliseconds after which an isolate asks whether there is a newer list. */
const OPEN_TIME = 86_400_000;
/** Milliseconds after which it asks again where there was none. */
const RETRY_TIME = 60_000;

/** The list that all phones of an isolate share. */
interface SharedList {
  list: BlockList | null;
  /** When it was last asked for, by the clock. */
  askedAt: number;
}

export const noList = (): SharedList => ({ list: null, askedAt: Number.NEGATIVE_INFINITY });

interface TrackerBlockerOptions extends Pick<Clock, "now" | "setTimer"> {
  readonly shared: SharedList;
  /** Null where there is none now. */
  readonly load: () => Promise<BlockList | null>;
}

export class TrackerBlocker {
  readonly #options: TrackerBlockerOptions;
  /** Over when the list is there, or has taken too long. */
  #patience: Promise<void> | null = null;

  constructor(options: TrackerBlockerOptions) {
    this.#options = options;
  }

  /** Begins to load the list, if need be. */
  #prepare(): void {
    const { shared, load, now, setTimer } = this.#options;
    if (now() - shared.askedAt < (shared.list === null ? RETRY_TIME : OPEN_TIME)) return;
    shared.askedAt = now();
    const loaded = load().then(
      (list) => {
        shared.list = list ?? shared.list;
      },
      () => {},
    );
    this.#patience = new Promise((resolve) => {
      const cancel = setTimer(resolve, LOAD_PATIENCE);
      void loaded.then(cancel).then(resolve);
    });
  }

  /** @throws RopewayError BLOCKED for a tracker. */
  async check(head: RequestHead, url: URL): Promise<void> {
    this.#prepare();
    if (!mayBeStopped(head)) return;
    if (this.#options.shared.list === null) await this.#patience;
    if (!this.isTracker(head, url)) return;
    const message = `Cannot load from ${url.host}: ${later("it is on the block list, and you have trackers blocked")}`;
    throw new RopewayError(ErrorCode.BLOCKED, "stream", "user", message);
  }

  /** Whether it is known to be for a tracker. */
  isTracker(head: RequestHead, url = new URL(head.url)): boolean {
    return mayBeStopped(head) && this.#options.shared.list?.names(head, url) === true;
  }
}

const OF_PROCESS = noList();

/** A blocker by the list that all phones of the process share. @param compiled as `ListKeeper` has it. */
export function sharedBlocker(compiled: () => Promise<Uint8Array | null>, clock: Clock): TrackerBlocker {
  const load = async () => {
    const bytes = await compiled();
    return bytes && openCompiled(bytes);
  };
  return new TrackerBlocker({ shared: OF_PROCESS, load, ...clock });
}

/** Nothing that a person opens, whatever its address. */
function mayBeStopped({ destination, allowsTrackers }: RequestHead): boolean {
  return destination !== "document" && allowsTrackers !== true;
}

// Block lists in the syntax of Adblock Plus, compiled by `@ghostery/adblocker`: that is evaluated when it is first needed.

export interface BlockList {
  /** @param url that the request goes to now, by a redirect say. */
  names(head: RequestHead, url: URL): boolean;
}

/** Only the rules about requests are used. What is compiled is checked where it is kept. */
const CONFIG = {
  integrityCheck: false,
  loadCosmeticFilters: false,
  loadCSPFilters: false,
  loadExtendedSelectors: false,
  loadPreprocessors: false,
};

/** Characters of an address that are looked at: rules with several wildcards go over it once for each, and once more for each. */
const LONGEST = 2_048;

const loadEngine = () => import("@ghostery/adblocker");

/** Version of the format, which other releases of the engine cannot read. */
export async function compiledFormat(): Promise<number> {
  return (await loadEngine()).ENGINE_VERSION;
}

/**
 * Some hundred milliseconds of computing for the 50,000 rules of EasyPrivacy.
 *
 * @throws Error where the text has no rule.
 */
export async function compile(text: string): Promise<Uint8Array> {
  const { FiltersEngine } = await loadEngine();
  const engine = FiltersEngine.parse(text, CONFIG);
  if (engine.getFilters().networkFilters.length === 0) throw new Error("Cannot read the block list: it has no rule");
  return engine.serialize();
}

/** @throws Error where it is of another format. */
export async function openCompiled(compiled: Uint8Array): Promise<BlockList> {
  const { FiltersEngine, Request } = await loadEngine();
  const engine = FiltersEngine.deserialize(compiled);
  return {
    names(head, url) {
      const sourceUrl = head.origin === null || head.origin === "null" ? head.topLevelOrigin : head.origin;
      const details = { url: url.href.slice(0, LONGEST), sourceUrl, type: typeOf(head) };
      return engine.match(Request.fromRawDetails(details)).match;
    },
  };
}

function typeOf({ destination, mode }: RequestHead): RequestType {
  return destination === "" && mode === "no-cors" ? "ping" : TYPES[destination];
}

const TYPES: Readonly<Record<Destination, RequestType>> = {
  "": "xhr",
  audio: "media",
  audioworklet: "script",
  document: "main_frame",
  embed: "object",
  font: "font",
  frame: "sub_frame",
  iframe: "sub_frame",
  image: "image",
  json: "xhr",
  manifest: "other",
  object: "object",
  paintworklet: "script",
  report: "csp_report",
  script: "script",
  sharedworker: "script",
  style: "stylesheet",
  track: "media",
  video: "media",
  worker: "script",
  xslt: "xhr",
};

/** Milliseconds after which the lists are fetched anew. */
export const LIST_TIME = 7 * 86_400_000;
/** Milliseconds after which what could not be had is tried again. */
export const LIST_RETRY_TIME = 3_600_000;
/** Milliseconds for all of them. */
const FETCH_TIME = 60_000;
/** Bytes of all of them: EasyPrivacy has 2 MB. */
const MOST_BYTES = 12 * 1024 * 1024;
/** Bytes in a record: Deno KV takes 64 KiB. */
const PART_BYTES = 60_000;

const HEAD = "block-list";

interface ListHead {
  readonly urls: readonly string[];
  /** As of `compiledFormat`. */
  readonly format: number;
  readonly fetchedAt: number;
  readonly parts: number;
}

interface ListKeeperOptions {
  readonly store: RecordStore;
  /** Addresses of the lists; none where nothing is to be blocked. */
  readonly urls: readonly string[];
  readonly fetch: (url: string, init: { readonly signal: AbortSignal }) => Promise<Response>;
  /** Those of the engine unless a test has its own. */
  readonly compile?: (text: string) => Promise<Uint8Array>;
  readonly format?: () => Promise<number>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: (line: string) => void;
}

/**
 * Keeps an edge's block lists, compiled, where its other records are, and fetches them anew once a week. The lists are not
 * part of Ropeway: their licences are their own, and they change every day.
 */
export class ListKeeper {
  readonly #options: Required<ListKeeperOptions>;
  #refreshing: Promise<Uint8Array | null> | null = null;
  #triedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ListKeeperOptions) {
    this.#options = { compile, format: compiledFormat, ...options };
  }

  /** As `openCompiled` takes it; null where there are no lists, or none can be had now. */
  async compiled(): Promise<Uint8Array | null> {
    const { store, urls, now } = this.#options;
    if (urls.length === 0) return null;
    const head = await store.get<ListHead>(HEAD);
    const kept = head && (await this.#isCurrent(head)) ? await this.#read(head) : null;
    if (kept === null) return this.#refresh();
    if (now() - (head?.fetchedAt ?? 0) >= LIST_TIME) void this.#refresh();
    return kept;
  }

  async #isCurrent({ urls, format }: ListHead): Promise<boolean> {
    return urls.join(" ") === this.#options.urls.join(" ") && format === (await this.#options.format());
  }

  async #read({ fetchedAt, parts }: ListHead): Promise<Uint8Array | null> {
    const { store } = this.#options;
    const read = await Promise.all(
      Array.from({ length: parts }, (_, index) => store.get<Uint8Array>(partName(fetchedAt, index))),
    );
    const found = read.filter((part) => part !== undefined);
    return found.length === parts ? concat(...found) : null;
  }

  /** A single fetch at a time, and not again at once where it fails. */
  #refresh(): Promise<Uint8Array | null> {
    const { now, log } = this.#options;
    if (this.#refreshing !== null) return this.#refreshing;
    if (now() - this.#triedAt < LIST_RETRY_TIME) return Promise.resolve(null);
    this.#triedAt = now();
    this.#refreshing = this.#fetchAll()
      .catch((error: unknown) => {
        log(`Cannot block trackers by a list of today: ${error instanceof Error ? error.message : String(error)}`);
        return null;
      })
      .finally(() => {
        this.#refreshing = null;
      });
    return this.#refreshing;
  }

  async #fetchAll(): Promise<Uint8Array> {
    const { urls, compile } = this.#options;
    const signal = AbortSignal.timeout(FETCH_TIME);
    const texts: string[] = [];
    let left = MOST_BYTES;
    for (const url of urls) {
      const text = await this.#fetchText(url, left, signal);
      left -= text.length;
      texts.push(text);
    }
    const compiled = await compile(texts.join("\n"));
    await this.#keep(compiled);
    return compiled;
  }

  async #fetchText(url: string, most: number, signal: AbortSignal): Promise<string> {
    const response = await this.#options.fetch(url, { signal });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      throw new Error(`${url} answers ${response.status}`);
    }
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > most) throw new Error(`${url} is longer than lists are`);
    }
    // Such as that of a network which wants to be logged in to.
    if (/^\s*</.test(text)) throw new Error(`${url} is a page, and no list`);
    return text;
  }

  /** Under names of its own, so that who reads the former one meanwhile reads that whole, or misses a part. */
  async #keep(compiled: Uint8Array): Promise<void> {
    const { store, urls, format, now } = this.#options;
    const fetchedAt = now();
    const parts = Math.ceil(compiled.length / PART_BYTES);
    for (let index = 0; index < parts; index++) {
      const part = compiled.slice(index * PART_BYTES, (index + 1) * PART_BYTES);
      await store.update(partName(fetchedAt, index), () => part);
    }
    const former = await store.get<ListHead>(HEAD);
    const head: ListHead = { urls, format: await format(), fetchedAt, parts };
    await store.update(HEAD, () => head);
    for (let index = 0; former !== undefined && index < former.parts; index++) {
      await store.update(partName(former.fetchedAt, index), () => undefined);
    }
  }
}

function partName(fetchedAt: number, index: number): string {
  return `${HEAD}/${fetchedAt}/${index}`;
}
