import { expect, it, vi } from "vitest";
import type { ResponseStore } from "../database/response-store.ts";
import { StoredDictionaries } from "./named-bodies.ts";
import type { ExchangeEntry, StoredExchange } from "./stored-exchange.ts";

const entry = { body: { hash: "ab".repeat(32) } } as unknown as ExchangeEntry;
const storeOf = (read: () => unknown) => ({ read }) as unknown as ResponseStore<StoredExchange>;

it("loads no decoder before the edge has the key, but with the first request that names a body", () => {
  const load = vi.fn(() => new Promise<never>(() => {}));
  const dictionaries = new StoredDictionaries(
    storeOf(() => null),
    load,
  );
  expect(dictionaries.decoderFor(entry)).toBeTypeOf("function");
  expect(dictionaries.isOffered).toBe(false);
  dictionaries.isOffered = true;
  expect(load).not.toHaveBeenCalled();
  expect(dictionaries.decoderFor(entry)).toBeTypeOf("function");
  dictionaries.decoderFor(entry);
  expect(load).toHaveBeenCalledOnce();
});

it("fails a response that it cannot decode, and tries to load the decoder again with the next request", async () => {
  const load = vi.fn(() => Promise.reject(new Error("Cannot load: a test")));
  const dictionaries = new StoredDictionaries(
    storeOf(async () => null),
    load,
  );
  dictionaries.isOffered = true;
  for (let calls = 1; calls <= 2; calls++) {
    const failed = await new Promise<unknown>((resolve) => {
      const decoder = dictionaries.decoderFor(entry)({
        deliver: () => undefined,
        finished: () => resolve("finished"),
        failed: resolve,
      });
      void decoder.write(new Uint8Array(50));
    });
    expect(failed).toBeInstanceOf(Error);
    expect(load).toHaveBeenCalledTimes(calls);
  }
});
