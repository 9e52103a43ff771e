import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB } from "idb";
import { toBase64Url } from "../../../../shared/base-encodings.ts";
import type { RequestHead } from "../../../../shared/http/heads.ts";
import { DICTIONARY_KEY_BYTES } from "../../../../shared/http/phone-fields.ts";
import { type KeptPage, siteName } from "../../../messages/tunnel-messages.ts";

/** The bytes of one or several responses. They never change. */
export interface StoredBody {
  /** Name of its blocks: its writer's, and a number. */
  readonly id: string;
  /** SHA-256 in hexadecimal. */
  readonly hash: string;
  /** Bytes. */
  readonly size: number;
  /** SHA-256 of each block, in hexadecimal. */
  readonly blocks: readonly string[];
}

/** A response in the index. `Meta` is its owner's: plain data that can be cloned. */
export interface StoredEntry<Meta> {
  readonly id: number;
  /** The partition that may know of it. */
  readonly partition: string;
  /** Of its pages, as `siteOf` has it. A kept copy has none. */
  readonly site?: string;
  /** Without a fragment. */
  readonly url: string;
  readonly meta: Meta;
  readonly body: StoredBody;
  /**
   * Turn in which it was last used: turns follow each other whatever the clock says. A kept copy has none: it never
   * goes to make room.
   */
  readonly used?: number;
  /** URL of the page that it was kept with. No other page gets the copy. */
  readonly kept?: string;
}

/** The room that one partition takes up. */
export interface PartitionUse {
  /** Bytes of bodies. */
  readonly bytes: number;
  readonly entries: number;
  /** Turn in which something of it was last used. A former release wrote none. */
  readonly used?: number;
}

/** Requests of a document's page at its last visit whose answers may be stored; or requests of pages of one kind. */
export interface StoredVisit {
  readonly partition: string;
  /** URL without a fragment; of a kind, with places in it. */
  readonly document: string;
  /** When it began, in milliseconds since the epoch. A former release wrote none. */
  readonly at: number;
  readonly requests: readonly NotedRequest[];
  /** For a kind of pages: the page that was counted last. */
  readonly latest?: string;
}

export interface NotedRequest extends RequestHead {
  /** From 0 to 1: which part of the visits had it, the latest counting as much as all before. */
  readonly share?: number;
  /** The document's markup names it. */
  readonly isNamed?: boolean;
}

export interface StoreTotals extends PartitionUse {
  readonly turn: number;
  /** Grows when entries are forgotten: responses that were asked for before must not be stored any more. */
  readonly era: number;
}

export const NOTHING_STORED: StoreTotals = { bytes: 0, entries: 0, turn: 0, era: 0 };

interface StoreSchema extends DBSchema {
  entries: {
    key: number;
    value: StoredEntry<unknown>;
    indexes: {
      partition: string;
      url: [string, string];
      copy: [string, string];
      body: string;
      /** Of releases before: they made room by it. */
      used: number;
      /** By site, then by use: a site that has to give room finds the entries that it used longest ago. */
      order: [string, number];
      kept: string;
    };
  };
  blocks: { key: [string, number]; value: Uint8Array };
  partitions: { key: string; value: PartitionUse };
  totals: { key: "totals" | "dictionary-key"; value: StoreTotals | Uint8Array };
  /** Keys grow: the least is that of the visit longest ago. */
  visits: { key: number; value: StoredVisit; indexes: { document: [string, string] } };
  /** By URL. Each has the response of its document among the entries. */
  kept: { key: string; value: KeptPage };
}

export const STORES = ["entries", "blocks", "partitions", "totals", "visits", "kept"] as const;

type StoreName = (typeof STORES)[number];

export type StoreDatabase = IDBPDatabase<StoreSchema>;
export type StoreWrite = IDBPTransaction<StoreSchema, StoreName[], "readwrite">;

/** Whose pages a partition is for: all that one site brings counts as that site's, frames of others in its pages too. */
export function siteOf(partition: string): string {
  return siteName(partition.split(" ", 1)[0] as string);
}

/** Where responses are kept: bodies in blocks beside the index, so that one transaction writes what belongs together. */
export function beginWrite<Names extends StoreName[]>(
  database: StoreDatabase,
  ...names: Names
): IDBPTransaction<StoreSchema, Names, "readwrite"> {
  // Rows that the system loses with its power are fetched again.
  const write = database.transaction(names, "readwrite", { durability: "relaxed" });
  silence(write);
  return write;
}

export function beginRead<Names extends StoreName[]>(
  database: StoreDatabase,
  ...names: Names
): IDBPTransaction<StoreSchema, Names, "readonly"> {
  const read = database.transaction(names);
  silence(read);
  return read;
}

/** A request that fails in the transaction rejects by itself, so `done` need not. */
function silence({ done }: { readonly done: Promise<void> }): void {
  done.catch(() => {});
}

/** All blocks of a body. */
export function blocksOf(id: string): IDBKeyRange {
  return IDBKeyRange.bound([id, 0], [id, Number.MAX_SAFE_INTEGER]);
}

export function abortWrite(write: StoreWrite): void {
  try {
    write.abort();
  } catch {
    // The transaction was over already.
  }
}

/** Characters of one response in the index: of the fields alone most servers let no more through. */
const ENTRY_LENGTH = 8 * 1024;

/** Characters of one visit: sixty requests of 1 KB. */
const VISIT_LENGTH = 64 * 1024;

type Unknown<Row> = { readonly [Name in keyof Row]?: unknown };

/** @param isMeta its owner's word on what it keeps with the response. */
export function isStoredEntry<Meta>(row: unknown, isMeta: (meta: unknown) => meta is Meta): row is StoredEntry<Meta> {
  const { id, partition, site, url, meta, body, used, kept } = recordOf<StoredEntry<Meta>>(row);
  if (!isCount(id) || !isText(partition) || !isText(url) || !isStoredBody(body) || !isMeta(meta)) return false;
  if (kept !== undefined) return isText(kept) && used === undefined;
  return isCount(used) && site === siteOf(partition);
}

/**
 * Rows of the index as this release writes them. A row of another release, or a row that the disk has spoilt, is not there
 * for us: it is dropped where it is found.
 */
export function isStoredBody(row: unknown): row is StoredBody {
  const { id, hash, size, blocks } = recordOf<StoredBody>(row);
  const hasBlocks = Array.isArray(blocks) && blocks.length > 0 && blocks.every(isText);
  return isText(id) && isCount(size) && hasBlocks && (blocks.length > 1 ? isText(hash) : hash === blocks[0]);
}

export function isStoreTotals(row: unknown): row is StoreTotals {
  const { bytes, entries, turn, era } = recordOf<StoreTotals>(row);
  return [bytes, entries, turn, era].every(isCount);
}

/** The entry used last goes first. */
export function byUse({ used: a = 0 }: StoredEntry<unknown>, { used: b = 0 }: StoredEntry<unknown>): number {
  return b - a;
}

/** Whether the index has room for it. */
export function isEntrySized({ url, meta }: Pick<StoredEntry<unknown>, "url" | "meta">): boolean {
  return url.length + JSON.stringify(meta).length <= ENTRY_LENGTH;
}

export function isVisitSized(visit: StoredVisit): boolean {
  return JSON.stringify(visit).length <= VISIT_LENGTH;
}

function recordOf<Row>(value: unknown): Unknown<Row> {
  return typeof value === "object" && value !== null ? (value as Unknown<Row>) : {};
}

const isText = (value: unknown): value is string => typeof value === "string";
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/**
 * As this release has it: what a former one has stored stays.
 *
 * @param onClosed the connection is closed: by the browser, for a later release, or since the database goes.
 */
export function openStoreDatabase(name: string, onClosed = (): void => {}): Promise<StoreDatabase> {
  return openDB<StoreSchema>(name, 4, {
    async upgrade(database, before, _after, transaction) {
      if (before < 1) {
        const entries = database.createObjectStore("entries", { keyPath: "id", autoIncrement: true });
        entries.createIndex("partition", "partition");
        entries.createIndex("url", ["partition", "url"]);
        entries.createIndex("copy", ["partition", "body.hash"]);
        entries.createIndex("body", "body.id");
        entries.createIndex("used", "used");
        database.createObjectStore("blocks");
        database.createObjectStore("partitions");
        database.createObjectStore("totals");
      }
      if (before < 2) {
        const visits = database.createObjectStore("visits", { autoIncrement: true });
        visits.createIndex("document", ["partition", "document"]);
      }
      if (before < 3) {
        transaction.objectStore("entries").createIndex("kept", "kept");
        database.createObjectStore("kept", { keyPath: "url" });
      }
      if (before < 4) {
        const entries = transaction.objectStore("entries");
        entries.createIndex("order", ["site", "used"]);
        entries.deleteIndex("used");
        for (let row = await entries.openCursor(); row !== null; row = await row.continue())
          if (row.value.kept === undefined)
            await row.update({ ...row.value, site: siteOf(String(row.value.partition)) });
      }
    },
    blocking(_current, _blocked, event) {
      (event.target as IDBDatabase).close();
      onClosed();
    },
    terminated: onClosed,
  });
}

/**
 * The key with which the edge seals bodies of this phone, in base64url. The key is as old as the store, and the same in all
 * windows.
 *
 * @throws DOMException where storage is closed.
 */
export async function dictionaryKey(open: () => Promise<StoreDatabase>): Promise<string> {
  const database = await open();
  try {
    const keys = beginWrite(database, "totals").objectStore("totals");
    const known = await keys.get("dictionary-key");
    if (known instanceof Uint8Array) return toBase64Url(known);
    const fresh = crypto.getRandomValues(new Uint8Array(DICTIONARY_KEY_BYTES));
    await keys.put(fresh, "dictionary-key");
    return toBase64Url(fresh);
  } finally {
    database.close();
  }
}
