import { describe, expect, it } from "vitest";
import type { HeaderList, RequestHead } from "../../../../shared/http/heads.ts";
import { requestHead } from "../../../../shared/testing/http/request-heads.ts";
import { PartitionIndex } from "../database/response-store.ts";
import { siblingOf } from "./named-bodies.ts";
import { contextOf, type ExchangeEntry, type StoredExchange } from "./stored-exchange.ts";

const SITE = "https://site.example";
const HTML: HeaderList = [["content-type", "text/html; charset=utf-8"]];
const JSON_TYPE: HeaderList = [["content-type", "application/problem+json"]];

const page = (path: string, change: Partial<RequestHead> = {}): RequestHead => ({
  ...requestHead,
  method: "GET",
  url: `${SITE}${path}`,
  mode: "navigate",
  destination: "document",
  credentials: "include",
  origin: SITE,
  topLevelOrigin: SITE,
  ...change,
});
const fetched = (path: string, change: Partial<RequestHead> = {}) =>
  page(path, { mode: "cors", destination: "", credentials: "same-origin", ...change });

let id = 0;
const entry = (head: RequestHead, headers: HeaderList, change: Partial<StoredExchange> & { size?: number } = {}) => {
  const { size = 5000, ...meta } = change;
  const stored = { status: 200, headers, responseTime: id, context: contextOf(head) ?? "", ...meta };
  return { id: id++, url: head.url, meta: stored, body: { hash: "00", size } } as unknown as ExchangeEntry;
};
const sibling = (entries: readonly ExchangeEntry[], head: RequestHead) =>
  siblingOf(new PartitionIndex(entries), head, contextOf(head) ?? "")?.entry.url.slice(SITE.length) ?? null;

describe("the sibling of a request", () => {
  it("is the page that shares the most of its path, and of several the newest", () => {
    const pages = ["/", "/news/2026/a", "/news/2026/b", "/shop/x"].map((path) => entry(page(path), HTML));
    expect(sibling(pages, page("/news/2026/c"))).toBe("/news/2026/b");
    expect(sibling(pages, page("/news/2026/a?again"))).toBe("/news/2026/a");
    expect(sibling(pages, page("/about"))).toBe("/shop/x");
    expect(sibling([], page("/about"))).toBeNull();
  });

  it("is of the same type: JSON for what a script fetches, nothing for an image", () => {
    const stored = [entry(page("/api/1"), HTML), entry(fetched("/api/2"), JSON_TYPE), entry(fetched("/api/3"), HTML)];
    expect(sibling(stored, fetched("/api/4?page=2"))).toBe("/api/2");
    expect(sibling(stored, page("/x"))).toBe("/api/1");
    expect(sibling(stored, fetched("/api/4", { destination: "image" }))).toBeNull();
  });

  it("is none of another origin, asked for by another or otherwise, moved, failed, short or long", () => {
    const stored = [
      entry(page("/a", { origin: "https://evil.example" }), HTML),
      entry(page("/a", { destination: "iframe" }), HTML),
      entry(page("/a", { url: "https://other.example/a" }), HTML),
      entry(page("/a"), HTML, { status: 404 }),
      entry(page("/a"), HTML, { movedTo: `${SITE}/b` }),
      entry(page("/a"), HTML, { size: 1023 }),
      entry(page("/a"), HTML, { size: 1024 * 1024 + 1 }),
      entry(fetched("/a", { credentials: "omit" }), JSON_TYPE),
    ];
    expect(sibling(stored, page("/b"))).toBeNull();
    expect(sibling(stored, fetched("/b"))).toBeNull();
  });

  it("is what the origin has named for it first, the most narrowly named of several", () => {
    const uses = (value: string): HeaderList => [
      ["content-type", "text/plain"],
      ["use-as-dictionary", value],
    ];
    const stored = [
      entry(fetched("/old/app.js"), uses('match="/*/app.js", match-dest=("script" "style")')),
      entry(fetched("/old/lib.js"), uses('match="/*"')),
      entry(fetched("/x.dat"), uses('id="a, match", type=raw, match="/new/lib.js"')),
      entry(fetched("/y.dat"), uses('match="/new/*", type=other')),
      entry(fetched("/z.dat"), uses('match="/(new)/app.js"')),
      entry(fetched("/w.dat"), uses('match="https://other.example/*"')),
    ];
    const script = (path: string) => fetched(path, { destination: "script" });
    expect(sibling(stored, script("/new/app.js"))).toBe("/old/app.js");
    expect(sibling(stored, script("/new/lib.js"))).toBe("/x.dat");
    expect(sibling(stored, fetched("/new/app.js"))).toBe("/old/lib.js");
    expect(sibling(stored, page("/new/app.js"))).toBeNull();
  });
});

describe("a pattern of Use-As-Dictionary", () => {
  const named = (match: string, path: string) =>
    siblingOf(
      new PartitionIndex([
        entry(fetched("/lib/one.js"), [
          ["content-type", "text/plain"],
          ["use-as-dictionary", `match="${match}"`],
        ]),
      ]),
      fetched(path, { destination: "script" }),
      contextOf(fetched(path)) ?? "",
    ) !== null;

  it.each([
    ["/lib/two.js", "/lib/two.js?v=2", true],
    ["/lib/two.js", "/lib/two.jsx", false],
    ["two.js", "/lib/two.js", true],
    ["/*/two.js", "/a/b/two.js", true],
    ["https://site.example/*", "/two.js", false],
    ["//other.example/*", "/two.js", false],
    ["/a*b*c", "/abc", true],
    ["/a*b*b", "/ab", false],
    ["/*.js", "/x.js/y", false],
    ["/**", "/", true],
    ["/:name.js", "/two.js", false],
    ["/{two}.js", "/two.js", false],
  ])("%s fits %s: %s", (match, path, fits) => expect(named(match, path)).toBe(fits));

  it("costs no more than its length, however it is made", () => {
    expect(named(`/${"*a".repeat(450)}b`, `/${"a".repeat(8000)}`)).toBe(false);
    expect(named(`/${"*a".repeat(520)}`, `/${"a".repeat(8000)}`)).toBe(false);
  });
});
