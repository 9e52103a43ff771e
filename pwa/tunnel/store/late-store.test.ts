import { describe, expect, it, vi } from "vitest";
import type { ResponseConsumer } from "../../../shared/http/exchange.ts";
import type { RequestHead, ResponseHead, ScriptCookie } from "../../../shared/http/heads.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { ConsumerLog } from "../../../shared/testing/http/exchange-rig.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import { edgeRequest, type PhoneRequest, seenBy } from "../exchange/exchange.ts";
import { type LoadedStore, Store } from "./store.ts";
import { turns } from "./testing/stored-bodies.ts";
import { FRESH, page, SITE, TestPhone } from "./testing/stored-windows.ts";

const request: PhoneRequest = { head: requestHead, body: null, push: null };
const clearing: PhoneRequest = { ...request, head: { ...requestHead, url: EdgeRequest.SITE_DATA } };

const COOKIES = { mayHaveChanged() {}, answered() {}, lost() {} };

function rig(load: () => Promise<LoadedStore>, deleteStored = async () => {}) {
  const asked: string[] = [];
  const timers: (() => void)[] = [];
  const setTimer = (task: () => void) => {
    timers.push(task);
    return () => void timers.splice(timers.indexOf(task), 1);
  };
  const link = { isAway: false };
  const store = new Store({
    load,
    isAway: () => link.isAway,
    deleteStored: () => {
      asked.push("delete");
      return deleteStored();
    },
    setTimer,
  });
  const consumers: ResponseConsumer[] = [];
  const ask = (one: PhoneRequest) => {
    const log = new ConsumerLog();
    store.source(one, log, ({ taps = [] }, consumer) => {
      asked.push("network");
      consumers.push(seenBy(taps, consumer));
      return { cancel() {} };
    });
    return log;
  };
  const stored = {
    source: () => {
      asked.push("store");
      return { cancel() {} };
    },
    passedBy: ({ method }: RequestHead) => void asked.push(method),
    cookies: COOKIES,
  } as unknown as LoadedStore;
  return { asked, store, ask, stored, timers, consumers, link };
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

it("is waited for by documents of known sites, for longer while the link is away", async () => {
  const loading = Promise.withResolvers<LoadedStore>();
  const { asked, store, ask, stored, timers, link } = rig(() => loading.promise);
  store.setKnown(null);
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) timers.shift()?.();
    await turns(1);
  };
  const document = { ...request, head: page };
  ask(document);
  await pass(1);
  expect(asked.splice(0)).toEqual(["network"]);
  link.isAway = true;
  for (const seconds of [14, 1]) {
    if (seconds === 14) ask(document);
    expect(asked).toEqual([]);
    await pass(seconds);
  }
  expect(asked.splice(0)).toEqual(["network"]);
  ask(document);
  await pass(3);
  loading.resolve(stored);
  await vi.waitFor(() => expect(asked).toEqual(["store"]));
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
    expect(log.error?.message).toMatch(/Close all other windows of the app, then try again/);
  }
});

it("tells the store of what may have changed before it was there", async () => {
  const { asked, store, ask, stored, consumers } = rig(async () => stored);
  const response: ResponseHead = {
    status: 200,
    headers: [],
    url: requestHead.url,
    redirected: false,
    coding: "identity",
    scriptCookies: [],
  };
  for (const method of ["GET", "POST", "PUT"]) ask({ ...request, head: { ...requestHead, method } });
  ask(request);
  const [get, post, put, clearing] = consumers;
  get?.onHead(response);
  post?.onHead(response);
  clearing?.onHead({ ...response, headers: [["clear-site-data", '"cache"']] });
  await store.load();
  put?.onHead(response);
  expect(asked.slice(4)).toEqual(["POST", "GET", "PUT"]);
});

it("empties it where there was more than it can be told", () => {
  const { asked, ask, stored, consumers } = rig(async () => stored);
  for (let count = 0; count < 65; count++) ask({ ...request, head: { ...requestHead, method: "POST" } });
  const head = { status: 200, headers: [], url: "", redirected: false, coding: "identity", scriptCookies: [] } as const;
  for (const consumer of consumers) consumer.onHead(head);
  expect(asked.at(-1)).toBe("delete");
});

describe("cookies that change while it loads", () => {
  const cookie = (value: string): ScriptCookie => {
    const place = { domain: "a.example", hostOnly: true, path: "/", secure: false, expires: null };
    return { ...place, name: "a", value };
  };
  const login = { ...page, url: `${SITE}/login` };

  /** Two windows of the app: in the former the page and its cookie are known, in the other the store loads. */
  async function twoWindows() {
    const phone = new TestPhone();
    const former = phone.open();
    await former.get(page, { headers: FRESH, body: "<p>", scriptCookies: [cookie("1")] });
    await former.stored(page);
    const window = phone.open();
    await window.store.opened;
    const late = new Store({
      load: async () => window.source,
      deleteStored: async () => {},
      isAway: () => false,
      setTimer: () => () => {},
    });
    /** @returns what the page gets; the edge answers when told to. */
    const ask = (head: RequestHead, value: string) => {
      const log = new ConsumerLog();
      const consumers: ResponseConsumer[] = [];
      late.source({ head, body: null, push: null }, log, ({ taps = [] }, consumer) => {
        consumers.push(seenBy(taps, consumer));
        return { cancel() {} };
      });
      const answer = () => {
        const { url } = head;
        const scriptCookies = [cookie(value)];
        const told = { status: 200, headers: [], url, redirected: false, coding: "identity", scriptCookies } as const;
        for (const consumer of consumers) {
          consumer.onHead(told);
          consumer.onEnd();
        }
      };
      return { log, answer };
    };
    return { former, window, late, ask };
  }

  it("are those of an answer that comes when it is there", async () => {
    const { window, late, ask } = await twoWindows();
    const { log, answer } = ask(login, "2");
    await late.load();
    const head = edgeRequest({
      method: "GET",
      url: EdgeRequest.SCRIPT_COOKIES,
      headers: [["document-url", `${SITE}/`]],
      origin: SITE,
      topLevelOrigin: SITE,
    });
    ask(head, "1").answer();
    answer();
    await log.over;
    const shown = await window.get(page);
    expect([shown.isAsked, shown.head?.scriptCookies]).toEqual([false, [cookie("2")]]);
  });

  it("are not known to other windows any more", async () => {
    const { former, late, ask } = await twoWindows();
    ask(login, "2").answer();
    await late.load();
    expect((await former.get(page, { status: 304, scriptCookies: [cookie("2")] })).isAsked).toBe(true);
  });
});
