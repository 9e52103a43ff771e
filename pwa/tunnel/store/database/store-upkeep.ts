/** What is wrong in the store, found while nobody waits. */
import { BodyHash } from "./body-hash.ts";
import { BodyReader } from "./body-reader.ts";
import { beginRead, type StoreDatabase } from "./store-database.ts";

/** Bytes of bodies whose hash is checked at once while nobody waits: some 100 ms of a slow phone. */
export const CHECK_BYTES = 2 * 1024 * 1024;

/** Milliseconds between two such checks. */
export const CHECK_INTERVAL = 600_000;

/** Bodies that no entry has, of writers that have ended: the app was closed while it wrote them. */
export async function orphanBodies(database: StoreDatabase, alive: ReadonlySet<string>): Promise<string[]> {
  const read = beginRead(database, "entries", "blocks");
  const ids = new Set((await read.objectStore("blocks").getAllKeys()).map(([id]) => id));
  const bodies = read.objectStore("entries").index("body");
  const orphans: string[] = [];
  for (const id of ids) {
    const [writer = ""] = id.split("/");
    if (!alive.has(writer) && (await bodies.count(id)) === 0) orphans.push(id);
  }
  return orphans;
}

/**
 * Bodies that are not what their hash says.
 *
 * @param after id of the entry that was checked last.
 * @param budget bytes of bodies to check, about.
 * @returns the last entry checked now; 0 at the end.
 */
export async function brokenBodies(
  database: StoreDatabase,
  after: number,
  budget: number,
): Promise<{ broken: string[]; upTo: number }> {
  const broken: string[] = [];
  let left = budget;
  let upTo = after;
  for (const entry of await database.getAll("entries", IDBKeyRange.lowerBound(after, true), ENTRIES_AT_ONCE)) {
    if (left <= 0) return { broken, upTo };
    const { body } = entry;
    left -= body.size;
    upTo = entry.id;
    const reader = await BodyReader.open(database, body);
    // Dropped meanwhile, or by another window.
    const isGone = (await database.getKey("entries", entry.id)) === undefined;
    if (!isGone && (reader === null || (await hashOf(reader)) !== body.hash)) broken.push(body.id);
  }
  return { broken, upTo: upTo === after ? 0 : upTo };
}

const ENTRIES_AT_ONCE = 64;

async function hashOf(reader: BodyReader): Promise<string | null> {
  const hash = new BodyHash();
  let last: Uint8Array = new Uint8Array();
  try {
    for (let block = await reader.next(); block !== null; block = await reader.next()) {
      if (last.length > 0) hash.update(last);
      last = block;
    }
    return await hash.end(last as Uint8Array<ArrayBuffer>);
  } catch {
    return null;
  }
}
