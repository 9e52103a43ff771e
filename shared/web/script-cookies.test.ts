import { describe, expect, it } from "vitest";
import type { ScriptCookie } from "../http/heads.ts";
import { ScriptCookies, SUFFIX_NOTE, suffixIn } from "./cookie.ts";

const NOW = Date.UTC(2026, 0, 1);
const page = "https://www.example.org/dir/page";

function cookie(change: Partial<ScriptCookie>): ScriptCookie {
  const base = { name: "a", value: "1", domain: "www.example.org", hostOnly: true, path: "/", secure: false };
  return { ...base, expires: null, ...change };
}

describe("ScriptCookies", () => {
  it("puts longer paths first, then older cookies", () => {
    const cookies = new ScriptCookies(() => NOW);
    cookies.apply([cookie({ name: "a" }), cookie({ name: "b", path: "/dir" }), cookie({ name: "c" })]);
    cookies.apply([cookie({ name: "a", value: "2" })]);
    expect(cookies.read(page)).toBe("b=1; a=2; c=1");
  });

  it("matches paths at segment borders, hosts, and Secure", () => {
    const cookies = new ScriptCookies(() => NOW);
    cookies.apply([
      cookie({ name: "p", path: "/di" }),
      cookie({ name: "q", path: "/dir/" }),
      cookie({ name: "d", domain: "example.org", hostOnly: false }),
      cookie({ name: "h", domain: "example.org" }),
      cookie({ name: "s", secure: true }),
    ]);
    expect(cookies.read(page)).toBe("q=1; d=1; s=1");
    expect(cookies.read("http://www.example.org/dir/")).toBe("q=1; d=1");
    expect(cookies.read("https://example.org/")).toBe("d=1; h=1");
  });

  it("sees a write at once, and its expiry by the clock", () => {
    let now = NOW;
    const cookies = new ScriptCookies(() => now);
    expect(cookies.write("a=1; max-age=5", page)).toBe(true);
    expect(cookies.read(page)).toBe("a=1");
    now += 5000;
    expect(cookies.read(page)).toBe("");
  });

  it("removes by an expiry in the past", () => {
    const cookies = new ScriptCookies(() => NOW);
    cookies.write("a=1", page);
    cookies.write("a=; expires=Thu, 01 Jan 1970 00:00:00 GMT", page);
    expect(cookies.read(page)).toBe("");
    cookies.apply([cookie({ name: "b" })]);
    cookies.apply([cookie({ name: "b", expires: 1 })]);
    expect(cookies.read(page)).toBe("");
  });

  it("keeps secure cookies from plain documents", () => {
    const cookies = new ScriptCookies(() => NOW);
    cookies.apply([cookie({ name: "s", secure: true, domain: "example.org", hostOnly: false })]);
    expect(cookies.write("s=evil", "http://www.example.org/")).toBe(false);
    expect(cookies.write("t=fine", "http://www.example.org/")).toBe(true);
  });

  it("refuses a domain that nobody owns alone, as scripts do that look for the widest one", () => {
    const cookies = new ScriptCookies(() => NOW);
    const uk = "https://news.example.co.uk/";
    const widest = (suffix: number) =>
      ["uk", "co.uk", "example.co.uk", "news.example.co.uk"].find((domain) =>
        cookies.write(`probe=1; domain=${domain}`, uk, suffix),
      );
    expect(widest(2)).toBe("example.co.uk");
    expect(cookies.all().map(({ domain }) => domain)).toEqual(["example.co.uk"]);
    expect(cookies.write("probe=2; domain=co.uk.", "https://news.example.co.uk./", 2)).toBe(false);
    // Of an edge that does not say.
    expect(widest(1)).toBe("co.uk");
  });
});

it("takes no count of labels but one that a name can have", () => {
  const said = ["2", "4", "1", "0", "-2", "128", "two", ""].map((value) => suffixIn([[SUFFIX_NOTE, value]]));
  expect(said).toEqual([2, 4, 1, 1, 1, 1, 1, 1]);
  expect(suffixIn([])).toBe(1);
});
