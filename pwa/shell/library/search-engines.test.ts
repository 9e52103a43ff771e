import { describe, expect, it } from "vitest";
import { DEFAULT_SEARCH_URL } from "../app/settings.ts";
import { MapStorage } from "../testing/map-storage.ts";
import { SearchEngines, searchUrlProblem } from "./search-engines.ts";

const OWN = "https://www.search.example/?q=%s";

function storedAs(json: string): MapStorage {
  const storage = new MapStorage();
  storage.setItem("ropeway.search-engines", json);
  return storage;
}

describe("SearchEngines", () => {
  it("offers usable engines only, the default among them, each with a shortcut of its own", () => {
    const all = new SearchEngines(new MapStorage()).list();
    for (const { searchUrl } of all) expect(searchUrlProblem(searchUrl)).toBeNull();
    expect(all.map(({ searchUrl }) => searchUrl)).toContain(DEFAULT_SEARCH_URL);
    expect(new Set(all.map(({ shortcut }) => shortcut)).size).toBe(all.length);
  });

  it("names engines", () => {
    const engines = new SearchEngines(new MapStorage());
    expect(engines.nameOf(DEFAULT_SEARCH_URL)).toBe("DuckDuckGo");
    expect(engines.nameOf(OWN)).toBe("search.example");
    expect(engines.nameOf("")).toBe("the web");
  });

  it("searches with the engine whose shortcut comes first", () => {
    const engines = new SearchEngines(new MapStorage());
    const url = "https://en.wikipedia.org/w/index.php?search=";
    expect(engines.meant(" w  rope  way ")).toEqual({
      engine: "Wikipedia",
      words: "rope way",
      url: `${url}rope%20way`,
    });
    expect(engines.meant("@W https://a.example/")?.url).toBe(`${url}https%3A%2F%2Fa.example%2F`);
    expect(engines.meant("@w")?.url).toBe("https://en.wikipedia.org/");
    for (const typed of ["", "w", "@", "x rope", "rope w", "@x", "w.example"]) expect(engines.meant(typed)).toBeNull();
  });

  it("keeps engines and shortcuts of the person's", () => {
    const storage = new MapStorage();
    const engines = new SearchEngines(storage);
    expect(engines.add({ searchUrl: OWN, shortcut: "@My" })).toBeNull();
    expect(engines.setShortcut({ searchUrl: DEFAULT_SEARCH_URL, shortcut: "" })).toBeNull();
    const again = new SearchEngines(storage);
    expect(again.meant("my words")?.url).toBe("https://www.search.example/?q=words");
    expect(again.meant("d words")).toBeNull();
    expect(again.list().at(-1)).toEqual({ name: "search.example", searchUrl: OWN, shortcut: "my", isOwn: true });
    again.remove(OWN);
    expect(engines.meant("my words")).toBeNull();
  });

  it("says why an engine or a shortcut cannot be used", () => {
    const engines = new SearchEngines(new MapStorage());
    expect(engines.add({ searchUrl: DEFAULT_SEARCH_URL, shortcut: "" })).toBe("This one is in the list.");
    expect(engines.add({ searchUrl: OWN, shortcut: "w" })).toBe("Wikipedia has this shortcut.");
    expect(engines.add({ searchUrl: OWN, shortcut: "two words" })).toBe("A shortcut is one word, without signs.");
    expect(engines.list()).toHaveLength(7);
  });

  it("has the engine of choice in its list, whatever is stored", () => {
    const engines = new SearchEngines(storedAs('[{"searchUrl":"javascript:%s"},null,1]'));
    expect(engines.list(OWN).at(-1)?.searchUrl).toBe(OWN);
    expect(engines.list(DEFAULT_SEARCH_URL)).toHaveLength(7);
    expect(new SearchEngines(storedAs("{")).list()).toHaveLength(7);
  });
});

it.each([
  ["https://search.example/?q=%s", null],
  ["http://localhost:8080/%s", null],
  ["https://search.example/", "The address needs %s where the words go."],
  ["search %s", "This is not a web address."],
  ["javascript:alert('%s')", "This is not a web address."],
])("%s", (searchUrl, problem) => expect(searchUrlProblem(searchUrl)).toBe(problem));
