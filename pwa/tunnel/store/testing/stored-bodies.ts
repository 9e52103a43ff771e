import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { ResponseStore } from "../database/response-store.ts";
import { isStoreTotals, NOTHING_STORED } from "../database/store-database.ts";
import type { FakeDisk } from "./fake-disk.ts";

export interface TestMeta {
  readonly note: string;
}

export const SITE = "https://a.example https://a.example";
export const OTHER = "https://b.example https://a.example";

export const bytes = (length: number, seed = 1) =>
  Uint8Array.from({ length }, (_, index) => (index * 31 + seed * 7) & 255);

/** Lets so many rounds of the event loop pass. */
export async function turns(count: number): Promise<void> {
  for (let turn = 1; turn <= count; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    // Bodies are hashed on threads of their own, which on a busy machine take longer than many turns.
    if (turn % 10 === 0) await crypto.subtle.digest("SHA-256", HASHED);
  }
}

const HASHED = new Uint8Array(1);

const sha256 = (body: Uint8Array) => createHash("sha256").update(body).digest("hex");

/** Settles when it is stored, or given up. What is stored for the URL with the same note is replaced. */
export async function put(
  store: ResponseStore<TestMeta>,
  url: string,
  body: Uint8Array,
  { partition = SITE, note = "", chunk = 700 } = {},
): Promise<void> {
  const copy = store.startCopy();
  for (let at = 0; at < body.length; at += chunk) {
    copy.body.write(body.subarray(at, at + chunk));
    await turns(8);
  }
  await store.add({ partition, url, meta: { note }, replaces: (old) => old.meta.note === note }, copy);
}

/** The body of what was stored first for the URL; null where there is none. */
export async function get(store: ResponseStore<TestMeta>, url: string, partition = SITE): Promise<Uint8Array | null> {
  await store.opened;
  const [entry] = (await store.index(partition)).find(url);
  if (entry === undefined) return null;
  const reader = await store.read(entry);
  if (reader === null) return null;
  const blocks: Uint8Array[] = [];
  for (let block = await reader.next(); block !== null; block = await reader.next()) blocks.push(block);
  reader.close();
  const body = Uint8Array.from(Buffer.concat(blocks));
  expect(sha256(body)).toBe(entry.body.hash);
  return body;
}

/**
 * What is written of the whole is the sum of its parts, and each body is whole.
 *
 * @returns how many entries there are.
 */
export async function expectSound(disk: FakeDisk<TestMeta>): Promise<number> {
  const database = await disk.raw();
  const entries = await database.getAll("entries");
  const bodies = new Map(entries.map(({ body }) => [body.id, body]));
  for (const { id, hash, blocks } of bodies.values()) {
    const kept = await database.getAll("blocks", IDBKeyRange.bound([id, 0], [id, blocks.length - 1]));
    expect(kept.map(sha256)).toEqual(blocks);
    expect(sha256(Buffer.concat(kept))).toBe(hash);
  }
  const total = [...bodies.values()].reduce((sum, { size }) => sum + size, 0);
  const row = await database.get("totals", "totals");
  const totals = isStoreTotals(row) ? row : NOTHING_STORED;
  expect(totals.bytes).toBe(total);
  expect(totals.entries).toBe(entries.length);
  const uses = await database.getAll("partitions");
  expect(uses.reduce((sum, use) => sum + use.bytes, 0)).toBe(total);
  const counts = Map.groupBy(entries, ({ partition }) => partition);
  for (const partition of await database.getAllKeys("partitions")) {
    expect((await database.get("partitions", partition))?.entries).toBe(counts.get(partition)?.length);
    counts.delete(partition);
  }
  expect([...counts.keys()]).toEqual([]);
  database.close();
  return entries.length;
}

export async function blockCount(disk: FakeDisk<TestMeta>): Promise<number> {
  const database = await disk.raw();
  const count = await database.count("blocks");
  database.close();
  return count;
}
