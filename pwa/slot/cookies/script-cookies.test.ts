import { describe, expect, it } from "vitest";
import type { ScriptCookie } from "../../../shared/http/heads.ts";
import { parseScriptCookie, ScriptCookies } from "./script-cookies.ts";

const NOW = Date.UTC(2026, 0, 1);
const page = "https://www.example.org/dir/page";

function cookie(change: Partial<ScriptCookie>): ScriptCookie {
  const base = { name: "a", value: "1", domain: "www.example.org", hostOnly: true, path: "/", secure: false };
  return { ...base, expires: null, ...change };
}

describe("parseScriptCookie", () => {
  it("fills in host and default path", () => {
    expect(parseScriptCookie(" a = 1 ", page, NOW)).toEqual(cookie({ path: "/dir" }));
    expect(parseScriptCookie("a=b=c", "https://www.example.org/", NOW)?.value).toBe("b=c");
    expect(parseScriptCookie("flag", page, NOW)).toMatchObject({ name: "", value: "flag" });
  });

  it("reads attributes; Max-Age goes before Expires", () => {
    const text = "a=1; Domain=.Example.org; PATH=/x; secure; max-age=10; expires=Wed, 21 Oct 2015 07:28:00 GMT";
    expect(parseScriptCookie(text, page, NOW)).toEqual(
      cookie({ domain: "example.org", hostOnly: false, path: "/x", secure: true, expires: NOW + 10_000 }),
    );
    expect(parseScriptCookie("a=1; max-age=x; path=rel; expires=never", page, NOW)).toEqual(cookie({ path: "/dir" }));
    expect(parseScriptCookie("a=1; max-age=-1", page, NOW)?.expires).toBe(0);
  });

  it("caps the life time at 400 days", () => {
    expect(parseScriptCookie("a=1; max-age=999999999", page, NOW)?.expires).toBe(NOW + 400 * 86_400_000);
  });

  it.each([
    ["empty", "="],
    ["HttpOnly", "a=1; HttpOnly"],
    ["another host's domain", "a=1; domain=other.example"],
    ["a sibling's domain", "a=1; domain=mail.example.org"],
    ["a suffix that is no label boundary", "a=1; domain=ample.org"],
    ["a single label", "a=1; domain=org"],
    ["control characters", "a=1\u0007"],
    ["__Secure- without Secure", "__Secure-a=1"],
    ["__Host- with a domain", "__host-a=1; secure; path=/; domain=www.example.org"],
    ["__Host- without path", "__Host-a=1; secure"],
    ["__Http-", "__Http-a=1; secure; path=/"],
    ["a nameless prefix", "=__Secure-a=1; secure"],
    ["too much", `a=${"é".repeat(2048)}`],
  ])("refuses %s", (_why, text) => expect(parseScriptCookie(text, page, NOW)).toBeNull());

  it("takes prefixes whose conditions hold, and 4096 bytes", () => {
    expect(parseScriptCookie("__Host-a=1; Secure; Path=/", page, NOW)).not.toBeNull();
    expect(parseScriptCookie(`a=${"x".repeat(4095)}`, page, NOW)).not.toBeNull();
  });

  it("takes Secure from trustworthy documents only", () => {
    expect(parseScriptCookie("a=1; secure", "http://www.example.org/", NOW)).toBeNull();
    expect(parseScriptCookie("a=1; secure", "http://localhost:1/", NOW)).not.toBeNull();
  });
});

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
});
