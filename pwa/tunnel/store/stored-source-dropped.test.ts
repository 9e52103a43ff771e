import { beforeEach, describe, expect, it } from "vitest";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { FRESH, SITE, TestPhone, type TestWindow } from "./testing/stored-windows.ts";

let phone: TestPhone;
let window: TestWindow;

beforeEach(() => {
  phone = new TestPhone();
  window = phone.open();
});

describe("what is dropped", () => {
  it("is what an unsafe method may have changed", async () => {
    await window.get({}, { headers: FRESH, body: "first" });
    await window.get({ method: "POST" }, { body: "done" });
    expect((await window.get({}, { headers: FRESH, body: "second" })).isAsked).toBe(true);
    await window.get({ method: "POST" }, { status: 500 });
    expect((await window.get({}, {})).isAsked).toBe(false);
  });

  it("is where an unsafe method was redirected to", async () => {
    await window.get({ url: `${SITE}/list` }, { headers: FRESH, body: "old" });
    await window.get({ method: "POST", url: `${SITE}/add` }, { redirected: true, url: `${SITE}/list`, body: "new" });
    expect((await window.get({ url: `${SITE}/list` }, { body: "asked" })).text).toBe("asked");
  });

  it("is what Clear-Site-Data says", async () => {
    await window.get({}, { headers: FRESH, body: "first" });
    await window.get({ url: `${SITE}/logout` }, { headers: [["clear-site-data", '"cache"']] });
    expect((await window.get({}, { body: "second" })).isAsked).toBe(true);
  });

  it("is what a redirect that the edge followed says", async () => {
    await window.get({}, { headers: FRESH, body: "first" });
    const elsewhere = { redirected: true, url: "https://elsewhere.example/" };
    await window.get({ url: `${SITE}/logout` }, { ...elsewhere, headers: [["ropeway-cleared", SITE]] });
    expect((await window.get({}, { body: "second" })).isAsked).toBe(true);
  });

  it("is everything, before the edge is told, where the person asks for it", async () => {
    const other = phone.open();
    await window.get({}, { headers: FRESH, body: "first" });
    await window.stored();
    await other.get();
    await window.get({ method: "DELETE", url: EdgeRequest.SITE_DATA }, { status: 204 });
    expect(window.store.use).toEqual({ bytes: 0, entries: 0 });
    for (const each of [window, other]) expect((await each.get({}, { body: "second" })).isAsked).toBe(true);
  });

  it("is one site where the person asks for that, and what is under way of it", async () => {
    const own: Partial<RequestHead> = { topLevelOrigin: "https://own.example", origin: "https://own.example" };
    await window.get({}, { headers: FRESH, body: "first" });
    await window.get(own, { headers: FRESH, body: "own" });
    await window.stored();
    await window.stored(own);
    const until = Promise.withResolvers<void>();
    const late = window.get({ url: `${SITE}/late` }, { headers: FRESH, body: "late", until: until.promise });
    await window.get(
      { method: "DELETE", url: EdgeRequest.SITE, headers: [["host-name", "a.example"]] },
      { status: 204 },
    );
    expect(window.lastAsked?.url).toBe(EdgeRequest.SITE);
    until.resolve();
    await late;
    await window.stored();
    expect((await window.get({}, { body: "second" })).isAsked).toBe(true);
    expect((await window.get({ url: `${SITE}/late` }, { body: "second" })).isAsked).toBe(true);
    expect((await window.get(own, { body: "second" })).isAsked).toBe(false);
  });

  describe("even where it cannot be taken out", () => {
    const clearing: Partial<RequestHead> = { method: "DELETE", url: EdgeRequest.SITE_DATA };

    beforeEach(async () => {
      await window.get({}, { headers: FRESH, body: "private" });
      await window.stored();
    });

    const full = () => {
      throw new DOMException("Full", "QuotaExceededError");
    };

    it.each<[string, () => Promise<unknown>]>([
      ["since nothing can be written", async () => void Object.assign(phone.disk, { onPut: full })],
      ["since a later release has closed the database", async () => phone.disk.upgrade(5)],
    ])("%s", async (_, spoil) => {
      const other = phone.open();
      await other.get();
      await spoil();
      expect((await window.get(clearing, { status: 204 })).head?.status).toBe(204);
      phone.disk.onPut = () => {};
      for (const each of [window, other, phone.open()]) {
        const url = `${SITE}/new-${phone.disk.windows.length}`;
        expect((await each.get({}, { body: "second" })).isAsked).toBe(true);
        await each.get({ url }, { headers: FRESH, body: "third" });
        expect((await each.get({ url })).isAsked).toBe(false);
      }
    });

    it("since a later release has the database", async () => {
      await phone.disk.upgrade(5);
      const late = phone.open();
      expect((await late.get(clearing, { status: 204 })).head?.status).toBe(204);
      expect((await (await phone.disk.raw()).getAll("entries")).length).toBe(0);
    });

    it("or says what to do, and tells the edge all the same", async () => {
      phone.disk.onPut = full;
      phone.disk.onDelete = full;
      const { error, head } = await window.get(clearing, { status: 204 });
      expect([head, error?.message]).toEqual([null, expect.stringMatching(/then try again$/)]);
      expect(window.lastAsked?.url).toBe(EdgeRequest.SITE_DATA);
    });
  });
});
