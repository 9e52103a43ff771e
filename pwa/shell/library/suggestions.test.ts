import { describe, expect, it } from "vitest";
import { DEFAULT_SEARCH_URL } from "../app/settings.ts";
import { MapStorage } from "../testing/map-storage.ts";
import { SearchEngines } from "./search-engines.ts";
import { type KnownSources, knownPages, suggest } from "./suggestions.ts";

const NOW = Date.UTC(2026, 10, 26, 12);
const DAY = 86_400_000;

const site = (url: string, title: string) => ({ url, title });
const visit = (url: string, title: string, days = 0, count = 1) => ({ url, title, at: NOW - days * DAY, count });

const NOTHING: KnownSources = { pinned: [], bookmarks: [], recent: [], visits: [], now: NOW };
const rows = (typed: string, sources: Partial<KnownSources> = {}) =>
  suggest(typed, knownPages({ ...NOTHING, ...sources }), DEFAULT_SEARCH_URL, new SearchEngines(new MapStorage()));

const some: Partial<KnownSources> = {
  pinned: [site("https://news.example/", "The News")],
  recent: [
    site("https://www.other.example/about", "About other news"),
    site("https://news.example/", "An older title"),
    site("https://third.example/a?b=newspaper", ""),
  ],
};

describe("suggest", () => {
  it("begins with what Enter does", () => {
    expect(rows("two words")[0]).toMatchObject({ kind: "search", hint: "Search DuckDuckGo" });
    expect(rows(" site.example ")[0]).toMatchObject({ kind: "url", input: "site.example" });
  });

  it("names the engine of a shortcut, and offers the one of choice for the same words", () => {
    expect(rows("w two words").map(({ label, hint, input }) => [label, hint, input])).toEqual([
      ["two words", "Search Wikipedia", "https://en.wikipedia.org/w/index.php?search=two%20words"],
      ["w two words", "Search DuckDuckGo", "?w two words"],
    ]);
    expect(rows("@g")[0]).toMatchObject({ hint: "Search Google", input: "https://www.google.com/" });
    expect(rows("w")[0]).toMatchObject({ hint: "Search DuckDuckGo" });
  });

  it("offers nothing to open for a scheme that cannot be loaded", () => {
    expect(rows("mailto:name@example.com", some)).toEqual([]);
  });

  it("lists pinned, then recent pages before anything is typed, each once", () => {
    expect(rows("", some).map((row) => row.label)).toEqual(["The News", "About other news", "third.example"]);
  });

  it("ranks the host's beginning over the title over the rest", () => {
    expect(rows("NEWS", some).map((row) => row.hint)).toEqual([
      "Search DuckDuckGo",
      "news.example",
      "other.example/about",
      "third.example/a?b=newspaper",
    ]);
  });

  it("has six rows at most", () => {
    const many = Array.from({ length: 50 }, (_, index) => site(`https://s${index}.example/`, "Same"));
    expect(rows("same", { recent: many })).toHaveLength(6);
    expect(rows("", { recent: many })).toHaveLength(6);
  });

  it("finds words of title and path where they begin, and all of them", () => {
    const visits = [
      visit("https://a.example/caf%C3%A9/menu", "Breakfast (served)"),
      visit("https://b.example/", "Unserved"),
      visit("https://c.example/", "Served late"),
    ];
    const found = (typed: string) =>
      rows(typed, { visits })
        .slice(1)
        .map(({ label }) => label);
    expect(found("served breakf")).toEqual(["Breakfast (served)"]);
    expect(found("café")).toEqual(["Breakfast (served)"]);
    expect(found("serv men")).toEqual(["Breakfast (served)"]);
    expect(found("served")).toEqual(["Breakfast (served)", "Served late"]);
    expect(found("https://www.b.ex")).toEqual(["Unserved"]);
    expect(found("nowhere")).toEqual([]);
  });
});

describe("knownPages", () => {
  const order = (sources: Partial<KnownSources>) => knownPages({ ...NOTHING, ...sources }).map(({ title }) => title);

  it("puts what is visited often and lately first", () => {
    const visits = [
      visit("https://old.example/", "Often, long ago", 60, 2),
      visit("https://once.example/", "Once, today"),
      visit("https://often.example/", "Often, lately", 10, 2),
      visit("https://often.example/", "Often, lately", 11, 1),
    ];
    expect(order({ visits })).toEqual(["Often, lately", "Once, today", "Often, long ago"]);
  });

  it("puts a bookmark over a page that was visited once, and pins first", () => {
    const sources = {
      pinned: [site("https://pin.example/", "Pin")],
      bookmarks: [site("https://mark.example/", "Mark")],
      visits: [visit("https://once.example/", "Once"), visit("https://many.example/", "Many", 0, 5)],
    };
    expect(order(sources)).toEqual(["Pin", "Many", "Mark", "Once"]);
  });
});
