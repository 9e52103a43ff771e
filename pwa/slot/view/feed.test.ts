import { afterEach, expect, it, vi } from "vitest";
import { FakeElement, fakeDocument } from "../testing/fake-elements.ts";
import { type Feed, jsonFeed, showFeed, textFeed, xmlFeed } from "./feed.ts";

afterEach(() => void vi.unstubAllGlobals());

const URL_A = "https://a.example/dir/feed";

/** The link of the only entry, below a base of so many characters. */
function linkBelow(length: number): string | null | undefined {
  const item = new FakeElement("item", {}, [new FakeElement("link", {}, ["b"])]);
  const channel = new FakeElement("channel", { "xml:base": `/${"a/".repeat(length / 2)}` }, [item]);
  const root = new FakeElement("rss", { "xml:base": "/news/" }, [channel]);
  return xmlFeed(root as unknown as Element, URL_A)?.entries[0]?.().link;
}

it("counts a base on those around it, unless it is longer than any address", () => {
  expect(linkBelow(10)).toBe("https://a.example/a/a/a/a/a/b");
  expect(linkBelow(16_000)).toBe(`https://a.example/${"a/".repeat(8_000)}b`);
  expect(linkBelow(20_000)).toBe("https://a.example/news/b");
});

it("takes no feed from a text above 4 MB, which it does not parse either", () => {
  const json = (about: string) =>
    JSON.stringify({ version: "https://jsonfeed.org/version/1.1", description: about, items: [] });
  const parseFromString = vi.fn(() => {
    throw new Error("parsed");
  });
  vi.stubGlobal(
    "DOMParser",
    class {
      parseFromString = parseFromString;
    },
  );
  expect(jsonFeed(json("a"), URL_A)).not.toBeNull();
  expect(jsonFeed(json("a".repeat(4 * 1024 * 1024)), URL_A)).toBeNull();
  expect(textFeed(`<rss>${" ".repeat(4 * 1024 * 1024)}</rss>`, URL_A)).toBeNull();
  expect(parseFromString).not.toHaveBeenCalled();
});

it("makes fifty entries at once", () => {
  vi.stubGlobal("document", fakeDocument);
  const read = vi.fn(() => ({ title: "a", link: null, date: "", author: "", summary: "" }));
  const feed: Feed = { title: "", about: "", entries: Array.from({ length: 1_000 }, () => read) };
  const shown = showFeed(feed) as unknown as FakeElement;
  expect(read).toHaveBeenCalledTimes(50);
  expect(shown.textContent).toContain("Show more");
});
