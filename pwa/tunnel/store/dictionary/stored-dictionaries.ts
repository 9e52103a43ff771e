/** Stored bodies as dictionaries: what the edge sends of a changed one may be coded against them (PROTOCOL.md section 5.3). */
import { fromHex } from "../../../../shared/base-encodings.ts";
import type { OpenDecoder } from "../../../../shared/coding/link-coding.ts";
import { concat } from "../../../../shared/wire/frame.ts";
import { lateDecoder } from "../../coding/late-decoder.ts";
import type { ResponseStore } from "../database/response-store.ts";
import type { ExchangeEntry, StoredExchange } from "../exchanges/stored-exchange.ts";
import type { StoredDictionary } from "./dcz-decoder.ts";

type DecoderChunk = Pick<typeof import("./decoder-chunk.ts"), "openDczDecoder">;

export class StoredDictionaries {
  /** The edge has the key with which it seals what it keeps. */
  isOffered = false;
  readonly #store: ResponseStore<StoredExchange>;
  readonly #loadChunk: () => Promise<DecoderChunk>;
  #chunk: Promise<DecoderChunk> | null = null;

  /** @param loadChunk loads the decoder, when it may first be needed. */
  constructor(store: ResponseStore<StoredExchange>, loadChunk: () => Promise<DecoderChunk>) {
    this.#store = store;
    this.#loadChunk = loadChunk;
  }

  /** Of use before they are offered, too: the edge may have the key before it gets the request. */
  decoderFor(entry: ExchangeEntry): OpenDecoder {
    // While the request is under way, so that no response waits for it.
    const loaded = this.isOffered ? this.#load() : null;
    return (handler) =>
      lateDecoder(async (deliver) => {
        const [chunk, dictionary] = await Promise.all([loaded ?? this.#load(), this.#read(entry)]);
        return chunk.openDczDecoder(dictionary, deliver);
      }, handler);
  }

  /** One that failed is tried again. */
  #load(): Promise<DecoderChunk> {
    this.#chunk ??= this.#loadChunk();
    const chunk = this.#chunk;
    chunk.catch(() => {
      if (this.#chunk === chunk) this.#chunk = null;
    });
    return chunk;
  }

  /** @throws Error where it is not whole. */
  async #read(entry: ExchangeEntry): Promise<StoredDictionary> {
    const reader = await this.#store.read(entry);
    if (reader === null) throw new Error("Cannot decode the response: what it is coded against is not stored any more");
    try {
      const blocks: Uint8Array[] = [];
      for (let block = await reader.next(); block !== null; block = await reader.next()) blocks.push(block);
      return { bytes: concat(...blocks), hash: fromHex(entry.body.hash) };
    } finally {
      reader.close();
    }
  }
}
