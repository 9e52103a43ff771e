import { expect, it } from "vitest";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { ConsumerLog, requestHead } from "../../../shared/testing/exchange-rig.ts";
import type { PhoneRequest } from "../requests/response-source.ts";
import { LateStore } from "./late-store.ts";
import type { StoredSource } from "./stored-source.ts";

const request: PhoneRequest = { head: requestHead, body: null, push: null };
const clearing: PhoneRequest = { ...request, head: { ...requestHead, url: EdgeRequest.SITE_DATA } };

function rig(load: () => Promise<StoredSource>) {
  const asked: string[] = [];
  const store = new LateStore(load);
  const ask = (one: PhoneRequest) =>
    store.source(one, new ConsumerLog(), () => {
      asked.push("network");
      return { cancel() {} };
    });
  const stored = {
    source: () => {
      asked.push("store");
      return { cancel() {} };
    },
  } as unknown as StoredSource;
  return { asked, store, ask, stored };
}

it("lets requests pass until it is there, but for the one that empties it", async () => {
  const { asked, store, ask, stored } = rig(async () => stored);
  ask(request);
  expect(asked).toEqual(["network"]);
  expect(store.loaded).toBeNull();
  ask(clearing);
  await store.load();
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
  expect([attempts, asked]).toEqual([2, ["network", "network"]]);
});
