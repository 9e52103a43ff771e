/** Where responses are kept: bodies in blocks beside the index, so that one transaction writes what belongs together. */
import type { DBSchema, IDBPDatabase, IDBPTransaction } from "idb";
import type { RequestHead } from "../../../../shared/http/heads.ts";
import type { KeptPage } from "../../../messages/kept-page.ts";
import { siteName } from "../../../messages/site-name.ts";

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

/** One response in the index. `Meta` is its owner's: plain data that can be cloned. */
export interface StoredEntry<Meta> {
  readonly id: number;
  /** Who may know of it. */
  readonly partition: string;
  /** Of its pages, as `siteOf` has it. What a page was kept with has none. */
  readonly site?: string;
  /** Without a fragment. */
  readonly url: string;
  readonly meta: Meta;
  readonly body: StoredBody;
  /**
   * Turn in which it was last used: turns follow each other whatever the clock says. What a page was kept with has none:
   * it never goes to make room.
   */
  readonly used?: number;
  /** URL of the page that it was kept with. It is nobody else's. */
  readonly kept?: string;
}

/** What one partition takes up. */
export interface PartitionUse {
  /** Bytes of bodies. */
  readonly bytes: number;
  readonly entries: number;
  /** Turn in which something of it was last used. A former release wrote none. */
  readonly used?: number;
}

/** What the page of a document asked for at its last visit, and may be stored; or what pages of one kind ask for. */
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
  /** Grows when something is forgotten: what was asked for before must not be stored any more. */
  readonly era: number;
}

export const NOTHING_STORED: StoreTotals = { bytes: 0, entries: 0, turn: 0, era: 0 };

export interface StoreSchema extends DBSchema {
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
      /** By site, then by use: who has to give finds what it used longest ago. */
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

export function beginWrite<Names extends StoreName[]>(
  database: StoreDatabase,
  ...names: Names
): IDBPTransaction<StoreSchema, Names, "readwrite"> {
  // What the system loses with its power is fetched again.
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

/** What fails in a transaction says so by the rejection of what failed. */
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
    // It was over already.
  }
}
