import { expect, it, vi } from "vitest";
import type { ResponseConsumer } from "../../../shared/http/client-exchange.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { ConsumerLog, requestHead } from "../../../shared/testing/exchange-rig.ts";
import type { PhoneRequest } from "../requests/response-source.ts";
import { LateStore } from "./late-store.ts";
import type { StoredSource } from "./stored-source.ts";

const request: PhoneRequest = { head: requestHead, body: null, push: null };
const clearing: PhoneRequest = { ...request, head: { ...requestHead, url: EdgeRequest.SITE_DATA } };

function rig(load: () => Promise<StoredSource>, deleteStored = async () => {}) {
  const asked: string[] = [];
  const timers: (() => void)[] = [];
  const setTimer = (task: () => void) => {
    timers.push(task);
    return () => void timers.splice(timers.indexOf(task), 1);
  };
  const store = new LateStore({
    load,
    deleteStored: () => {
      asked.push("delete");
      return deleteStored();
    },
    setTimer,
  });
  const consumers: ResponseConsumer[] = [];
  const ask = (one: PhoneRequest) => {
    const log = new ConsumerLog();
    store.source(one, log, (_, consumer) => {
      asked.push("network");
      consumers.push(consumer);
      return { cancel() {} };
    });
    return log;
  };
  const stored = {
    source: () => {
      asked.push("store");
      return { cancel() {} };
    },
  } as unknown as StoredSource;
  return { asked, store, ask, stored, timers, consumers };
}

it("lets requests pass until it is there, but for the one that empties it", async () => {
  const { asked, store, ask, stored } = rig(async () => stored);
  ask(request);
  expect(asked).toEqual(["network"]);
  expect(store.loaded).toBeNull();
  ask(clearing);
  await vi.waitFor(() => expect(asked).toEqual(["network", "store"]));
  ask(request);
  expect(asked).toEqual(["network", "store", "store"]);
});

it("goes on without it, and tries again", async () => {
  let attempts = 0;
  const { asked, store, ask } = rig(() => {
    attempts += 1;
    return Promise.reject(new Error("Cannot load: offline"));
  });
  ask(clearing);
  expect(await store.load()).toBeNull();
  await store.load();
  ask(request);
  await vi.waitFor(() => expect([attempts, asked]).toEqual([2, ["delete", "network", "network"]]));
});

it("says so where it can be emptied neither by the store nor without", async () => {
  const never = () => new Promise<never>(() => {});
  for (const deleteStored of [never, () => Promise.reject(new Error("Cannot delete"))]) {
    const { asked, ask, timers, consumers } = rig(never, deleteStored);
    const log = ask(clearing);
    timers[0]?.();
    await vi.waitFor(() => expect(asked[0]).toBe("delete"));
    if (deleteStored === never) timers.at(-1)?.();
    await vi.waitFor(() => expect(asked).toEqual(["delete", "network"]));
    consumers[0]?.onEnd();
    await log.over;
    expect(log.error?.message).toMatch(/close all other windows of the app, then clear/);
  }
});
