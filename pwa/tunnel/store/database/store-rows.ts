/**
 * Rows of the index as this release writes them. One of another release, or one that the disk has spoilt, is not there for
 * us: it is dropped where it is found.
 */
import { type StoredBody, type StoredEntry, type StoredVisit, type StoreTotals, siteOf } from "./store-database.ts";

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

export function isStoredBody(row: unknown): row is StoredBody {
  const { id, hash, size, blocks } = recordOf<StoredBody>(row);
  const hasBlocks = Array.isArray(blocks) && blocks.length > 0 && blocks.every(isText);
  return isText(id) && isCount(size) && hasBlocks && (blocks.length > 1 ? isText(hash) : hash === blocks[0]);
}

export function isStoreTotals(row: unknown): row is StoreTotals {
  const { bytes, entries, turn, era } = recordOf<StoreTotals>(row);
  return [bytes, entries, turn, era].every(isCount);
}

/** What was used last goes first. */
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
