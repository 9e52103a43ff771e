/**
 * Keeps an edge's block lists, compiled, where its other records are, and fetches them anew once a week. The lists are not
 * part of Ropeway: their licences are their own, and they change every day.
 */
import { concat } from "../../shared/wire/frame.ts";
import type { RecordStore } from "../devices/record-store.ts";

/** Milliseconds after which the lists are fetched anew. */
export const LIST_TIME = 7 * 86_400_000;
/** Milliseconds after which what could not be had is tried again. */
export const RETRY_TIME = 3_600_000;
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

export interface ListKeeperOptions {
  readonly store: RecordStore;
  /** Addresses of the lists; none where nothing is to be blocked. */
  readonly urls: readonly string[];
  readonly fetch: (url: string, init: { readonly signal: AbortSignal }) => Promise<Response>;
  readonly compile: (text: string) => Promise<Uint8Array>;
  readonly format: () => Promise<number>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: (line: string) => void;
}

export class ListKeeper {
  readonly #options: ListKeeperOptions;
  #refreshing: Promise<Uint8Array | null> | null = null;
  #triedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ListKeeperOptions) {
    this.#options = options;
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

  /** One at a time, and not again at once where it fails. */
  #refresh(): Promise<Uint8Array | null> {
    const { now, log } = this.#options;
    if (this.#refreshing !== null) return this.#refreshing;
    if (now() - this.#triedAt < RETRY_TIME) return Promise.resolve(null);
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
