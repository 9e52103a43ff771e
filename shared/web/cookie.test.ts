import { describe, expect, it } from "vitest";
import { type Cookie, parseSetCookie } from "./cookie.ts";

const NOW = Date.UTC(2026, 0, 1);

/** As a page reads its own `document.cookie = text`. */
function parseScript(text: string, url = "https://www.example.org/dir/page"): Cookie | null {
  return parseSetCookie(text, { url: new URL(url), now: NOW, http: false }, 1);
}

function cookie(change: Partial<Cookie>): Cookie {
  const base = { name: "a", value: "1", domain: "www.example.org", hostOnly: true, path: "/", secure: false };
  return { ...base, httpOnly: false, sameSite: "default", expires: null, ...change };
}

describe("a cookie of document.cookie", () => {
  it("fills in host and default path", () => {
    expect(parseScript(" a = 1 ")).toEqual(cookie({ path: "/dir" }));
    expect(parseScript("a=b=c", "https://www.example.org/")?.value).toBe("b=c");
    expect(parseScript("flag")).toMatchObject({ name: "", value: "flag" });
  });

  it("reads attributes; Max-Age goes before Expires", () => {
    const text = "a=1; Domain=.Example.org; PATH=/x; secure; max-age=10; expires=Wed, 21 Oct 2015 07:28:00 GMT";
    expect(parseScript(text)).toEqual(
      cookie({ domain: "example.org", hostOnly: false, path: "/x", secure: true, expires: NOW + 10_000 }),
    );
    expect(parseScript("a=1; max-age=x; path=rel; expires=never")).toEqual(cookie({ path: "/dir" }));
    expect(parseScript("a=1; max-age=-1")?.expires).toBe(0);
  });

  it("caps the life time at 400 days", () => {
    expect(parseScript("a=1; max-age=999999999")?.expires).toBe(NOW + 400 * 86_400_000);
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
  ])("refuses %s", (_why, text) => expect(parseScript(text)).toBeNull());

  it("takes prefixes whose conditions hold, and 4096 bytes", () => {
    expect(parseScript("__Host-a=1; Secure; Path=/")).not.toBeNull();
    expect(parseScript(`a=${"x".repeat(4095)}`)).not.toBeNull();
    // As the edge has them: a character for each byte.
    const setting = { url: new URL("https://www.example.org/"), now: NOW, http: true, isBytes: true };
    expect(parseSetCookie(`a=${"\xe9".repeat(4095)}`, setting, 1)).not.toBeNull();
    expect(parseSetCookie(`a=${"\xe9".repeat(4096)}`, setting, 1)).toBeNull();
  });

  it("takes Secure from trustworthy documents only", () => {
    expect(parseScript("a=1; secure", "http://www.example.org/")).toBeNull();
    expect(parseScript("a=1; secure", "http://localhost:1/")).not.toBeNull();
  });

  it("takes names in other scripts for domains", () => {
    const at = (domain: string) => parseScript(`a=1; Domain=${domain}`, "https://www.xn--mnchen-3ya.example/");
    expect(at("München.example")).toMatchObject({ domain: "xn--mnchen-3ya.example", hostOnly: false });
    expect(at("münster.example")).toBeNull();
  });
});
