/** The log in Deno KV, which an edge shares with its other processes. */
import * as limits from "../../shared/limits.ts";
import type { SentLogStore } from "../delivery/edge-handler.ts";

export function kvSentLogStore(kv: Deno.Kv, deviceId: string): SentLogStore {
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
