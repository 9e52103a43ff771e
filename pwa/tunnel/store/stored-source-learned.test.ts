import { beforeEach, describe, expect, it } from "vitest";
import { readLearned } from "../../../shared/http/phone-fields.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import type { PhoneRequest } from "../exchange/exchange.ts";
import { turns } from "./testing/stored-bodies.ts";
import { FRESH, page, SITE, STALE, TestPhone, type TestWindow } from "./testing/stored-windows.ts";

let phone: TestPhone;
let window: TestWindow;

const article = (name: string) => ({ ...page, url: `${SITE}/article/${name}` });
const api = (name: string) => ({ ...requestHead, url: `${SITE}/api/${name}`, headers: [["accept", "*/*"]] as const });
const NO_STORE = [["cache-control", "no-store"]] as const;
/** What a push answers; the edge is asked all the same here. */
const PUSHED: PhoneRequest["push"] = {
  session: { wasCarried: true },
  answer: (consumer) => {
    consumer.onEnd();
    return { cancel() {} };
  },
};

/** A page whose script asks for what must not be stored. */
async function visit(name: string, push: PhoneRequest["push"] = null): Promise<void> {
  await window.get(article(name), { headers: STALE, body: name });
  await window.get({ url: `${SITE}/app.js`, destination: "script" }, { headers: FRESH, body: "app" });
  await window.get(api(name), { headers: NO_STORE, body: "[]" }, push);
  await window.get({ ...api("menu"), headers: [["x-of-page", "1"]] }, { headers: NO_STORE, body: "[]" });
}

/** The app is opened again. */
async function openAgain(): Promise<void> {
  for (const task of window.later) task();
  await turns(200);
  window = phone.open();
  await window.store.opened;
  await turns(200);
}

/** What a navigation says that its page will ask for. */
async function learned(change: Partial<typeof page>): Promise<string[]> {
  await window.get(change, { headers: STALE, body: "page" });
  const [asked] = window.asked.filter(({ mode }) => mode === "navigate").slice(-1);
  return readLearned(asked?.learned ?? "", asked?.url ?? "").map(({ url }) => url);
}

beforeEach(() => {
  phone = new TestPhone();
  window = phone.open();
});

it("is not named after one visit: it may be the person's doing", async () => {
  await visit("1");
  await openAgain();
  expect(await learned(article("1"))).toEqual([]);
});

it("is named though the app was closed as soon as its visits were written down", async () => {
  for (const name of ["1", "1"]) {
    await visit(name);
    window.source.writeDown();
    await turns(200);
    window.later.clear();
    await openAgain();
  }
  expect(await learned(article("1"))).toContain(`${SITE}/api/1`);
});

describe("what a page's scripts asked for at two visits and is not stored", () => {
  beforeEach(async () => {
    await visit("1");
    await visit("1");
    await openAgain();
  });

  it("is named when the page is asked for again, but for what no push could answer", async () => {
    expect(await learned(article("1"))).toEqual([`${SITE}/api/1`]);
  });

  it("is not named where the page runs no scripts", async () => {
    expect(await learned({ ...article("1"), isScriptless: true })).toEqual([]);
  });

  it("is not named behind a password, which a push would not have", async () => {
    expect(await learned({ ...article("1"), headers: [["authorization", "Basic YTpi"]] })).toEqual([]);
  });

  it("is not named on a reload, nor where the person wants no pushes", async () => {
    expect(await learned({ ...article("1"), cache: "reload" })).toEqual([]);
    expect(await learned({ ...article("1"), cache: "no-cache" })).toEqual([]);
    phone.namesLearned = false;
    expect(await learned(article("1"))).toEqual([]);
  });

  it("is not named for another site's frame of the page, nor for another page of the site", async () => {
    const frame = { ...article("1"), destination: "iframe", topLevelOrigin: "https://evil.example" } as const;
    expect(await learned({ ...frame, origin: "https://evil.example" })).toEqual([]);
    expect(await learned({ ...page, url: `${SITE}/other` })).toEqual([]);
  });

  it("is forgotten with the site", async () => {
    await window.get({ ...requestHead, method: "DELETE", url: EdgeRequest.SITE_DATA, origin: null }, { status: 204 });
    await visit("other");
    expect(await learned(article("1"))).toEqual([]);
  });
});

it("is learned of two pages for a third of their kind, and is the third's own", async () => {
  await visit("1");
  expect(await learned(article("4"))).toEqual([]);
  await visit("2");
  await openAgain();
  expect(await learned(article("3"))).toEqual([`${SITE}/api/3`]);
});

it("is not named of a kind for a page that is stored, whose policies the edge may not see", async () => {
  await window.get(article("3"), { headers: STALE, body: "3" });
  for (const name of ["1", "2"]) await visit(name);
  expect(await learned(article("4"))).toEqual([`${SITE}/api/4`]);
  expect(await learned(article("3"))).toEqual([]);
});

it("is not named where the edge finds it in the markup, but where it was pushed since it was named", async () => {
  for (const push of [null, PUSHED]) await visit("1", push);
  await openAgain();
  expect(await learned(article("1"))).toEqual([]);
  await visit("1");
  await openAgain();
  await visit("1", PUSHED);
  await openAgain();
  expect(await learned(article("1"))).toEqual([`${SITE}/api/1`]);
});

it("is outdated where the page has written to its origin, or changed a cookie", async () => {
  const cookie = (text: string) => ({
    ...requestHead,
    method: "PUT",
    url: EdgeRequest.SCRIPT_COOKIE,
    headers: [
      ["document-url", page.url],
      ["cookie-string", encodeURIComponent(text)],
    ] as const,
  });
  const has = { name: "a", value: "1", domain: "a.example", hostOnly: true, path: "/", secure: false, expires: null };
  await window.get(page, { headers: STALE, body: "page", scriptCookies: [has] });
  await window.get({ ...requestHead, method: "POST", url: "https://tracker.example/" }, {});
  await window.get(cookie("a=1; max-age=99"), { status: 204 });
  expect(window.changes).toEqual([]);
  await window.get(cookie("a=2"), { status: 204 });
  expect(window.changes).toEqual([SITE]);
  await window.get({ ...requestHead, method: "POST" }, {});
  expect(window.changes).toEqual([SITE, SITE]);
});
