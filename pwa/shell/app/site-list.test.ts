import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { expect, it, vi } from "vitest";
import { joined, SiteStore, visited, withIcon } from "./site-store.ts";
import type { Site } from "./state.ts";

const site = (url: string, icon: string | null = null): Site => ({ url, title: url, icon });
const urls = (sites: readonly Site[]) => sites.map(({ url }) => url);

it("has one row for each site, which leads to the page of the last visit", () => {
  let sites: readonly Site[] = [];
  for (const url of ["https://a.example/1", "https://b.example/", "http://www.a.example/2", "https://x.a.example/"])
    sites = visited(sites, site(url));
  expect(urls(sites)).toEqual(["https://x.a.example/", "http://www.a.example/2", "https://b.example/"]);
});

it("keeps a site's icon until another comes", () => {
  const sites = visited(
    withIcon([site("https://a.example/")], "https://a.example/x", "old"),
    site("https://a.example/2"),
  );
  expect(sites).toEqual([{ ...site("https://a.example/2"), icon: "old" }]);
  expect(visited(sites, site("https://a.example/", "new"))[0]?.icon).toBe("new");
});

it("takes back those that were forgotten, behind those visited since, and what an older release kept twice once", () => {
  const former = ["https://a.example/1", "https://b.example/", "https://a.example/2"].map((url) => site(url));
  expect(urls(joined([site("https://b.example/new")], former))).toEqual([
    "https://b.example/new",
    "https://a.example/1",
  ]);
});

it("ends after a dozen", () => {
  const many = Array.from({ length: 20 }, (_, index) => site(`https://${index}.example/`));
  expect(joined(many, [])).toHaveLength(12);
});

it("says whether a pin is written down, also where storage is full only when all is written", async () => {
  globalThis.indexedDB = new IDBFactory();
  const store = new SiteStore();
  expect(await store.pin(site("https://a.example/"))).toBe(true);
  const { put } = IDBObjectStore.prototype;
  vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (this: IDBObjectStore, ...args) {
    const request = put.apply(this, args);
    request.addEventListener("success", () => this.transaction.abort());
    return request;
  });
  expect(await store.pin(site("https://b.example/"))).toBe(false);
  vi.restoreAllMocks();
  const other = new SiteStore();
  await other.load();
  expect(urls(other.pinned)).toEqual(["https://a.example/"]);
});

it("opens its database again where the browser could not, or has closed it", async () => {
  globalThis.indexedDB = new IDBFactory();
  const { open } = indexedDB;
  let opened: IDBDatabase | undefined;
  let failures = 1;
  indexedDB.open = (...args) => {
    if (failures-- > 0) throw new DOMException("Internal error", "UnknownError");
    const request = open.apply(indexedDB, args);
    request.addEventListener("success", () => {
      opened = request.result;
    });
    return request;
  };
  const store = new SiteStore();
  await store.load();
  store.visit(site("https://a.example/"));
  const stored = async () => {
    const other = new SiteStore();
    await other.load();
    return urls(other.recent);
  };
  await expect.poll(stored).toEqual(["https://a.example/"]);
  failures = 2;
  const lost = new SiteStore();
  await expect(lost.load()).rejects.toThrow("Internal error");
  await lost.load();
  const closed = opened;
  closed?.close();
  closed?.onclose?.(new Event("close"));
  lost.visit(site("https://b.example/"));
  await expect.poll(stored).toEqual(["https://b.example/", "https://a.example/"]);
});
