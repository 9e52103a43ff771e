/** Where a Deno edge keeps cookies and the log of sent requests: Deno KV if the process has it, else memory. */

import { concat } from "@std/bytes/concat";
import * as limits from "../../shared/limits.ts";
import { bodiesAbove, KEPT_FOR, memoryBodyStore, type SealedBodyStore } from "../delivery/dictionaries.ts";
import { memorySentLogStore, type SentLogStore } from "../delivery/edge-handler.ts";
import { memoryRecordStore, type RecordStore } from "../devices/record-store.ts";
import type { CookieJarStore } from "../upstream/cookie-jar.ts";
import { kvCookieStore } from "./kv-cookie-store.ts";

interface DeviceStores {
  forDevice(deviceId: string): CookieJarStore;
  sentLogOf(deviceId: string): SentLogStore;
  bodiesOf(deviceId: string): SealedBodyStore;
  recordsOf(deviceId: string): RecordStore;
  /** The list of devices. */
  readonly directory: RecordStore;
  readonly blockLists: RecordStore;
}

/**
 * @param path of the database file; the default of the platform when undefined.
 * @throws Error that names the file and says what to do, where it is damaged or may not be used.
 */
export async function openStore(path: string | undefined): Promise<DeviceStores> {
  if (typeof Deno.openKv !== "function") return memoryStores();
  if (path !== undefined && path !== ":memory:") await closeToOthers(path);
  const kv = await Deno.openKv(path).catch((cause: Error) => {
    const advice = "move it away to begin without the cookies in it, or set ROPEWAY_KV_PATH to another file";
    throw new Error(`Cannot open ${path ?? "the store of Deno KV"}: ${cause.message}; ${advice}`, { cause });
  });
  return {
    forDevice: (deviceId) => kvCookieStore(kv, deviceId),
    bodiesOf: (deviceId) => kvBodyStore(kv, deviceId, Date.now),
    recordsOf: (deviceId) => kvRecordStore(kv, deviceId),
    directory: kvRecordStore(kv, "directory"),
    blockLists: kvRecordStore(kv, "block-lists"),
    // A database in memory has forgotten what an earlier process sent.
    sentLogOf: path === ":memory:" ? memorySentLogs() : (deviceId) => kvSentLogStore(kv, deviceId),
  };
}

/** SQLite gives what it makes beside its file that file's mode. A file that cannot be made or changed fails to open next. */
async function closeToOthers(path: string): Promise<void> {
  await Deno.writeFile(path, new Uint8Array(), { createNew: true, mode: 0o600 }).catch(() => {});
  for (const suffix of ["", "-wal", "-shm"]) await Deno.chmod(path + suffix, 0o600).catch(() => {});
}

function memorySentLogs(): (deviceId: string) => SentLogStore {
  const logs = new Map<string, SentLogStore>();
  const startedAt = Date.now();
  return (deviceId) => {
    const log = logs.get(deviceId) ?? memorySentLogStore(startedAt);
    logs.set(deviceId, log);
    return log;
  };
}

function memoryStores(): DeviceStores {
  const devices = new Map<string, CookieJarStore>();
  const records = new Map<string, RecordStore>();
  return {
    directory: memoryRecordStore(),
    blockLists: memoryRecordStore(),
    recordsOf(deviceId) {
      const store = records.get(deviceId) ?? memoryRecordStore();
      records.set(deviceId, store);
      return store;
    },
    sentLogOf: memorySentLogs(),
    bodiesOf: memoryBodies(),
    forDevice(deviceId) {
      const known = devices.get(deviceId);
      if (known !== undefined) return known;
      const values = new Map<string, string>();
      const store: CookieJarStore = {
        get: async (key) => values.get(key),
        put: async (key, value) => void values.set(key, value),
        delete: async (key) => void values.delete(key),
        list: async (prefix) =>
          new Map([...values].filter(([key]) => key.startsWith(prefix)).map(([key, { length }]) => [key, length])),
      };
      devices.set(deviceId, store);
      return store;
    },
  };
}

/** Bytes: Deno KV takes 64 KiB a value. */
const SLICE_BYTES = 60_000;

/** The database forgets by itself. */
const EXPIRING = { expireIn: KEPT_FOR };

/** Entry of the index for each body. */
interface Kept {
  readonly bytes: number;
  readonly time: number;
  readonly site: string;
}

/** Sealed bodies in Deno KV, whose values are too small for them: each is a row of slices. One that lacks some does not open. */
function kvBodyStore(kv: Deno.Kv, deviceId: string, now: () => number): SealedBodyStore {
  const indexKey = [deviceId, "bodies"];
  const slicesOf = (id: string) => [deviceId, "body", id];

  async function drop(id: string): Promise<void> {
    await kv.delete([...indexKey, id]);
    for await (const { key } of kv.list({ prefix: slicesOf(id) })) await kv.delete(key);
  }

  async function all(): Promise<{ readonly id: string; readonly kept: Kept }[]> {
    const found: { readonly id: string; readonly kept: Kept }[] = [];
    for await (const { key, value } of kv.list<Kept>({ prefix: indexKey }))
      found.push({ id: String(key.at(-1)), kept: value });
    return found.sort((a, b) => a.kept.time - b.kept.time);
  }

  return {
    async get(id) {
      const { value } = await kv.get<Kept>([...indexKey, id]);
      if (value === null) return null;
      const slices = await Array.fromAsync(kv.list<Uint8Array>({ prefix: slicesOf(id) }), (slice) => slice.value);
      const whole = concat(slices);
      return whole.length === value.bytes ? whole : null;
    },
    async put(id, sealed, { site, most }) {
      for (let start = 0; start < sealed.length; start += SLICE_BYTES) {
        await kv.set([...slicesOf(id), start], sealed.slice(start, start + SLICE_BYTES), EXPIRING);
      }
      await kv.set([...indexKey, id], { bytes: sealed.length, time: now(), site }, EXPIRING);
      const bodies = (await all()).map(({ id, kept }) => ({ id, site: kept.site, bytes: kept.bytes }));
      for (const gone of bodiesAbove(most, bodies)) await drop(gone.id);
    },
    delete: drop,
    async clear() {
      for (const { id } of await all()) await drop(id);
    },
  };
}

/** Where the process has no database. */
function memoryBodies(): (deviceId: string) => SealedBodyStore {
  const stores = new Map<string, SealedBodyStore>();
  return (deviceId) => {
    const store = stores.get(deviceId) ?? memoryBodyStore();
    stores.set(deviceId, store);
    return store;
  };
}

// Records in Deno KV, which other processes of the edge may write, too.

/** @param owner a device's id, or a word that is none. */
function kvRecordStore(kv: Deno.Kv, owner: string): RecordStore {
  const keyOf = (name: string) => [owner, "records", name];
  return {
    get: async <Value>(name: string) => (await kv.get<Value>(keyOf(name))).value ?? undefined,
    async list<Value>(prefix: string) {
      const found: Value[] = [];
      for await (const { key, value } of kv.list<Value>({ prefix: [owner, "records"] }))
        if (String(key[2]).startsWith(prefix)) found.push(value);
      return found;
    },
    async update<Value>(name: string, change: (former: Value | undefined) => Value | undefined) {
      for (let isDone = false; !isDone; ) {
        const entry = await kv.get<Value>(keyOf(name));
        const next = change(entry.value ?? undefined);
        const commit = kv.atomic().check(entry);
        isDone = (await (next === undefined ? commit.delete(entry.key) : commit.set(entry.key, next)).commit()).ok;
      }
    },
  };
}

/** The log in Deno KV, which an edge shares with its other processes. */
function kvSentLogStore(kv: Deno.Kv, deviceId: string): SentLogStore {
  const prefix = [deviceId, "sent"];
  const coverageKey = [deviceId, "sent-coverage"];
  return {
    coversFrom: async () => (await kv.get<number>(coverageKey)).value ?? 0,
    has: async (id) => (await kv.get([...prefix, id])).value !== null,
    async add(id, time) {
      const key = [...prefix, id];
      const entry = kv.atomic().check({ key, versionstamp: null });
      return (await entry.set(key, time, { expireIn: limits.sentLogTime }).commit()).ok;
    },
    async prune(time, count) {
      const entries: { readonly key: Deno.KvKey; readonly time: number }[] = [];
      for await (const { key, value } of kv.list<number>({ prefix })) entries.push({ key, time: value });
      entries.sort((left, right) => left.time - right.time);
      const excess = entries.slice(0, Math.max(0, entries.length - count));
      const old = entries.slice(excess.length).filter((entry) => entry.time < time);
      for (const { key } of [...excess, ...old]) await kv.delete(key);
      const dropped = excess.at(-1)?.time ?? 0;
      if (dropped >= time) await kv.set(coverageKey, dropped);
    },
  };
}
