import { expect, it } from "vitest";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { ConsumerLog } from "../../../shared/testing/http/exchange-rig.ts";
import type { ResponseSource } from "../exchange/exchange.ts";
import { type LoadedStore, Store } from "./store.ts";
import { turns } from "./testing/stored-bodies.ts";
import { page, picture, SITE } from "./testing/stored-windows.ts";

const OTHER: RequestHead = { ...page, url: "https://b.example/", topLevelOrigin: "https://b.example" };

/** A store that opens when the test says so. */
function rig(load?: () => Promise<LoadedStore>) {
  const asked: string[] = [];
  const timers: (() => void)[] = [];
  const setTimer = (task: () => void) => {
    timers.push(task);
    return () => {};
  };
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const source: ResponseSource = (request, consumer, next) => next(request, consumer);
  const cookies = { mayHaveChanged() {} };
  const store = new Store({
    load: load ?? (async () => ({ opened, source, cookies }) as unknown as LoadedStore),
    isAway: () => false,
    deleteStored: async () => {},
    setTimer,
  });
  const ask = (head: RequestHead) => {
    const exchange = store.source({ head, body: null, push: null }, new ConsumerLog(), ({ head: { url } }) => {
      asked.push(url);
      return { cancel() {} };
    });
    return exchange;
  };
  return { asked, store, ask, timers, open };
}

it("has only documents wait, of known sites, until the store is open", async () => {
  const { asked, store, ask, open } = rig();
  store.setKnown([SITE]);
  ask(page);
  ask(OTHER);
  ask(picture);
  await turns(3);
  expect(asked).toEqual([OTHER.url, picture.url]);
  open();
  await turns(3);
  ask({ ...page, url: `${SITE}/next` });
  await turns(1);
  expect(asked.slice(2)).toEqual([page.url, `${SITE}/next`]);
});

it("has those of any site wait where nobody can say which are known, and none where none was opened", async () => {
  const { asked, store, ask } = rig();
  ask(page);
  expect(asked).toEqual([page.url]);
  store.setKnown(null);
  ask(OTHER);
  await turns(3);
  expect(asked).toEqual([page.url]);
});

it("has no document wait after the first has waited too long", async () => {
  const { asked, store, ask, timers } = rig();
  store.setKnown([SITE]);
  ask(page);
  await turns(1);
  timers[0]?.();
  await turns(1);
  ask({ ...page, url: `${SITE}/next` });
  await turns(1);
  expect([asked, timers.length]).toEqual([[page.url, `${SITE}/next`], 1]);
});

it("asks though the store cannot be had, and nothing that was given up meanwhile", async () => {
  const { asked, store, ask } = rig(() => Promise.reject(new Error("No network")));
  store.setKnown([SITE]);
  ask({ ...page, url: `${SITE}/left` }).cancel();
  ask(page);
  await turns(3);
  expect(asked).toEqual([page.url]);
});
