/** Where a Deno edge keeps cookies and the log of sent requests: Deno KV if the process has it, else memory. */
import { memorySentLogStore, type SentLogStore } from "./sent-log.ts";
import { kvSentLogStore } from "./sent-log-deno.ts";
import type { CookieJarStore } from "./upstream/cookie-jar.ts";

export interface DeviceStores {
  forDevice(deviceId: string): CookieJarStore;
  sentLogOf(deviceId: string): SentLogStore;
}

/** Deno KV takes 64 KiB a value; UTF-16 text of this many characters stays below in any script. */
const SLICE_CHARACTERS = 16_000;

/** @param path of the database file; the default of the platform when undefined. */
export async function openStore(path: string | undefined): Promise<DeviceStores> {
  if (typeof Deno.openKv !== "function") return memoryStores();
  const kv = await Deno.openKv(path);
  return {
    forDevice: (deviceId) => kvStore(kv, deviceId),
    // A database in memory has forgotten what an earlier process sent.
    sentLogOf: path === ":memory:" ? memorySentLogs() : (deviceId) => kvSentLogStore(kv, deviceId),
  };
}

function kvStore(kv: Deno.Kv, deviceId: string): CookieJarStore {
  const slices = (key: string): Deno.KvListIterator<string> => kv.list<string>({ prefix: [deviceId, "slices", key] });
  const remove = async (key: string): Promise<void> => {
    for await (const entry of slices(key)) await kv.delete(entry.key);
    await kv.delete([deviceId, "keys", key]);
  };
  return {
    async get(key) {
      const known = await kv.get<number>([deviceId, "keys", key]);
      if (known.value === null) return undefined;
      let text = "";
      for await (const entry of slices(key)) text += entry.value;
      return text;
    },
    async put(key, value) {
      await remove(key);
      for (let start = 0; start < value.length; start += SLICE_CHARACTERS) {
        await kv.set([deviceId, "slices", key, start], value.slice(start, start + SLICE_CHARACTERS));
      }
      await kv.set([deviceId, "keys", key], value.length);
    },
    delete: remove,
    async list(prefix) {
      const keys: string[] = [];
      for await (const entry of kv.list<number>({ prefix: [deviceId, "keys"] })) {
        const key = entry.key[2];
        if (typeof key === "string" && key.startsWith(prefix)) keys.push(key);
      }
      return keys;
    },
  };
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
  return {
    sentLogOf: memorySentLogs(),
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
