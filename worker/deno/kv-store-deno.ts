/** Where a Deno edge keeps cookies and the log of sent requests: Deno KV if the process has it, else memory. */

import type { SealedBodyStore } from "../delivery/dictionaries.ts";
import { memorySentLogStore, type SentLogStore } from "../delivery/edge-handler.ts";
import { memoryRecordStore, type RecordStore } from "../devices/record-store.ts";
import type { CookieJarStore } from "../upstream/cookie-jar.ts";
import { kvBodyStore, memoryBodies } from "./kv-bodies.ts";
import { kvCookieStore } from "./kv-cookie-store.ts";
import { kvRecordStore } from "./kv-records.ts";
import { kvSentLogStore } from "./sent-log-deno.ts";

export interface DeviceStores {
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
        list: async (prefix) => [...values.keys()].filter((key) => key.startsWith(prefix)),
      };
      devices.set(deviceId, store);
      return store;
    },
  };
}
