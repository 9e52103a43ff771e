import { beforeEach, describe, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { keepPage } from "./questions.ts";
import { FRESH, page, SITE, STALE, TestPhone, type TestWindow } from "./testing/stored-windows.ts";

let phone: TestPhone;
let window: TestWindow;

beforeEach(() => {
  phone = new TestPhone();
  window = phone.open();
});

describe("a page that is kept", () => {
  const picture2 = { url: `${SITE}/2.png` };
  const frame: Partial<RequestHead> = {
    ...page,
    url: "https://b.example/",
    destination: "iframe",
    origin: SITE,
    topLevelOrigin: SITE,
  };
  const inFrame: Partial<RequestHead> = { url: "https://b.example/x.png", origin: "https://b.example" };
  const keep = () => keepPage(window.source.parts, { kind: "keep", url: page.url, title: "A" });

  async function visit(version: string): Promise<void> {
    // The picture is asked about with the page.
    const ownPicture = { headers: STALE, body: `picture ${version}` };
    await window.get(page, [{ headers: STALE, body: `page ${version}` }, ownPicture]);
    await window.get({}, ownPicture);
    await window.get(frame, { headers: STALE, body: `frame ${version}` });
    await window.get(inFrame, { headers: FRESH, body: `framed ${version}` });
    await window.get(picture2, { headers: [["cache-control", "no-store"]], body: "another" });
  }

  async function shown(from: TestWindow, requests: readonly Partial<RequestHead>[]): Promise<string[]> {
    const texts: string[] = [];
    for (const each of requests) {
      const { text, error } = await from.get(each, {
        fails: new RopewayError(ErrorCode.OFFLINE, "stream", "library", "away"),
      });
      texts.push(error === null ? text : "nothing");
    }
    return texts;
  }

  it.each([
    ["by a form", { ...page, url: `${SITE}/result`, method: "POST" }, {}],
    [
      "by a redirect",
      { ...page, url: "https://c.example/", topLevelOrigin: "https://c.example" },
      { url: `${SITE}/home`, redirected: true },
    ],
  ])("answers nothing of a page that comes from the edge afterwards, %s", async (_, next, redirected) => {
    await visit("one");
    await keep();
    phone.isAway = true;
    expect(await shown(window, [page, {}])).toEqual(["page one", "picture one"]);
    phone.isAway = false;
    phone.time += 120_000;
    await window.get(next, { ...redirected, headers: STALE, body: "next" });
    expect((await window.get({}, { headers: STALE, body: "picture two" })).text).toBe("picture two");
  });

  it("has its own parts where another page of its site has begun since", async () => {
    await window.get(page, { headers: STALE, body: "page one" });
    await window.get({ ...page, url: `${SITE}/other` }, { headers: STALE, body: "other" });
    await window.get({ referrer: page.url }, { headers: STALE, body: "picture one" });
    expect(await keep()).toMatchObject({ page: { missing: 0, bytes: 19 } });
    phone.isAway = true;
    expect(await shown(phone.open(), [page, {}])).toEqual(["page one", "picture one"]);
  });

  it("is shown as it was kept while the link is away, frames too, whatever was stored since", async () => {
    await visit("one");
    expect(await keep()).toMatchObject({ page: { title: "A", missing: 1, bytes: 38 } });
    phone.time += 60_000;
    await visit("two");
    await window.store.remove((await window.store.index(`${SITE} https://b.example`)).all());
    expect((await window.get(page, { headers: STALE, body: "page three" })).text).toBe("page three");
    phone.isAway = true;
    for (const each of [window, phone.open()]) {
      each.pages.length = 0;
      expect(await shown(each, [page, {}, frame, inFrame, picture2])).toEqual([
        "page one",
        "picture one",
        "frame one",
        "framed one",
        "nothing",
      ]);
      expect(each.pages).toEqual([`${SITE}/ 60000`]);
    }
  });

  it("does without what it lacks, at once", async () => {
    await visit("one");
    await keep();
    phone.isAway = true;
    await shown(window, [page]);
    const { error } = await window.get(picture2, { until: new Promise(() => {}) });
    expect(error?.code).toBe(ErrorCode.REFUSED_STREAM);
  });

  it("goes on as it was when the link is back, until another page is opened", async () => {
    await visit("one");
    await keep();
    await visit("two");
    phone.time += 1000;
    phone.isAway = true;
    expect(await shown(window, [page])).toEqual(["page one"]);
    phone.isAway = false;
    expect((await window.get({}, { body: "picture three" })).text).toBe("picture one");
    await window.get({ ...page, url: `${SITE}/other` }, { headers: STALE, body: "other" });
    expect((await window.get({}, { body: "picture three" })).text).toBe("picture three");
  });

  it("is no part of another page, though they share a picture", async () => {
    await visit("one");
    await keep();
    await visit("two");
    const other = { ...page, url: `${SITE}/other` };
    await window.get(other, { headers: STALE, body: "other" });
    phone.isAway = true;
    expect(await shown(window, [page, other, {}])).toEqual(["page one", "other", "picture two"]);
  });

  it("is the later version once it is kept again", async () => {
    await visit("one");
    await keep();
    await visit("two");
    await keep();
    phone.isAway = true;
    expect(await shown(window, [page, {}])).toEqual(["page two", "picture two"]);
  });

  it("is found where a redirect led to it, and what of it came by redirects", async () => {
    await window.get(
      { ...page, url: "https://old.example/" },
      { headers: STALE, body: "page", url: page.url, redirected: true },
    );
    await window.get({}, { headers: STALE, body: "picture", url: `${SITE}/moved.png`, redirected: true });
    expect(await keep()).toMatchObject({ page: { missing: 0 } });
    await window.store.remove((await window.store.index(`${SITE} ${SITE}`)).all());
    phone.isAway = true;
    expect(await shown(window, [page, {}])).toEqual(["page", "picture"]);
  });

  it.each<[string, string, () => Promise<unknown>]>([
    ["forbidden", "its site forbids it", () => window.get(page, { headers: [["cache-control", "no-store"]] })],
    ["form", "a form led to it", () => window.get({ ...page, method: "POST" }, { headers: STALE })],
    ["not-stored", "it is not stored", async () => {}],
  ])("is not kept (%s) where %s", async (refused, _, open) => {
    await open();
    expect(await keep()).toEqual({ refused });
  });

  /** Of a transaction: all else was written by then. */
  const isLast = (value: unknown): boolean => (value as { readonly turn?: number }).turn !== undefined;

  it("is not kept where the disk is full, and is later", async () => {
    await visit("one");
    await window.stored(page);
    phone.disk.onPut = (value) => {
      if (isLast(value)) throw new DOMException("Full", "QuotaExceededError");
    };
    expect(await keep()).toEqual({ refused: "no-room" });
    phone.disk.onPut = () => {};
    expect(await (await phone.disk.raw()).getAll("kept")).toEqual([]);
    expect(await keep()).toMatchObject({ page: { title: "A" } });
  });

  it("is not kept where the browser takes the transaction back", async () => {
    await visit("one");
    await window.stored(page);
    phone.disk.onStep = ({ method, args, transaction }) => {
      if (method === "put" && isLast(args[0])) transaction?.abort();
    };
    expect(await keep()).toBeNull();
  });

  it("is not undone by what makes stored answers untrue, and goes when its site clears its cache", async () => {
    await visit("one");
    await keep();
    await window.get({ url: page.url, method: "POST" });
    await window.get({ method: "POST" });
    phone.isAway = true;
    expect(await shown(window, [page, {}])).toEqual(["page one", "picture one"]);
    phone.isAway = false;
    await window.get({ url: `${SITE}/bye` }, { headers: [["clear-site-data", '"cache"']] });
    phone.isAway = true;
    expect(await shown(window, [page, {}])).toEqual(["nothing", "nothing"]);
  });
});
