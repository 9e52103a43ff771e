import { describe, expect, it } from "vitest";
import { COOKIE_BYTES_MAX } from "../../shared/web/cookie.ts";
import {
  cookieField,
  isSentTo,
  isVisibleToScripts,
  type SameSiteContext,
  type StoredCookie,
  takeSetCookie,
} from "./cookie-jar.ts";

const NOW = 1_700_000_000_000;
const DAY = 24 * 3600 * 1000;

function parse(line: string, url = "https://www.example.com/dir/page", setting = {}): StoredCookie | null {
  return takeSetCookie(line, { url: new URL(url), now: NOW, http: true, takesSameSite: true, ...setting });
}

describe("takeSetCookie", () => {
  it("gives a plain cookie the host and the directory", () => {
    expect(parse("sid=abc")).toEqual({
      name: "sid",
      value: "abc",
      domain: "www.example.com",
      hostOnly: true,
      path: "/dir",
      secure: false,
      httpOnly: false,
      sameSite: "default",
      expires: null,
      created: NOW,
      accessed: NOW,
    });
  });

  it("reads every attribute", () => {
    expect(parse("a=b=c; Domain=.Example.com; Path=/x; Secure; HttpOnly; SameSite=Strict; Max-Age=60")).toMatchObject({
      value: "b=c",
      domain: "example.com",
      hostOnly: false,
      path: "/x",
      secure: true,
      httpOnly: true,
      sameSite: "strict",
      expires: NOW + 60_000,
    });
  });

  it.each([
    ["Max-Age=0; Expires=Wed, 21 Oct 2099 07:28:00 GMT", 0],
    ["Max-Age=-5", 0],
    ["Expires=Thu, 01 Jan 1970 00:00:00 GMT", 0],
    ["Max-Age=99999999999", NOW + 400 * DAY],
    ["Expires=Wed, 21 Oct 2099 07:28:00 GMT", NOW + 400 * DAY],
    ["Expires=nonsense", null],
  ])("%s expires at %o", (attribute, expires) => {
    expect(parse(`a=b; ${attribute}`)?.expires).toBe(expires);
  });

  it.each(["com", "example.org", "other.example.com", "w.example.com", "ww.example.com", "ample.com"])(
    "refuses the domain %s",
    (domain) => {
      expect(parse(`a=b; Domain=${domain}`)).toBeNull();
    },
  );

  it("keeps a public suffix to itself, and an address", () => {
    expect(parse("a=b; Domain=github.io", "https://github.io/")).toMatchObject({ domain: "github.io", hostOnly: true });
    expect(parse("a=b; Domain=github.io", "https://me.github.io/")).toBeNull();
    expect(parse("a=b; Domain=localhost", "http://news.localhost/")).toBeNull();
    expect(parse("a=b; Domain=127.0.0.1", "http://127.0.0.1/")).toMatchObject({ hostOnly: true });
    expect(parse("a=b; Domain=0.0.1", "http://127.0.0.1/")).toBeNull();
  });

  it("takes Secure from https and from loopback only", () => {
    expect(parse("a=b; Secure", "http://www.example.com/")).toBeNull();
    expect(parse("a=b; Secure", "http://news.localhost/")).not.toBeNull();
  });

  it("takes SameSite=None only with Secure, and anything else only where asked to", () => {
    expect(parse("a=b; SameSite=None")).toBeNull();
    expect(parse("a=b; SameSite=None; Secure", undefined, { takesSameSite: false })?.sameSite).toBe("none");
    for (const line of ["a=b", "a=b; SameSite=Lax", "a=b; SameSite=Strict; Secure"]) {
      expect(parse(line, undefined, { takesSameSite: false })).toBeNull();
    }
  });

  it("holds names to their prefixes, in any case", () => {
    expect(parse("__Secure-a=b")).toBeNull();
    expect(parse("__Secure-a=b; Secure")).not.toBeNull();
    expect(parse("__host-a=b; Secure")).toBeNull();
    expect(parse("__Host-a=b; Secure; Path=/; Domain=www.example.com")).toBeNull();
    expect(parse("__Host-a=b; Secure; Path=/")).not.toBeNull();
    expect(parse("__Http-a=b; Secure")).toBeNull();
    expect(parse("__HTTP-a=b; Secure; HttpOnly")).not.toBeNull();
    expect(parse("__Host-Http-a=b; Secure; Path=/")).toBeNull();
    expect(parse("__Host-Http-a=b; Secure; HttpOnly")).toBeNull();
    expect(parse("__Host-Http-a=b; Secure; HttpOnly; Path=/")).not.toBeNull();
  });

  it.each(["__Host-a", "__secure-a", "=__Host-a=b", " = __HOST-a=b", "__Http-", "=__host-http-a"])(
    "takes no value without a name for a prefixed cookie: %s",
    (pair) => {
      expect(parse(`${pair}; Secure; HttpOnly; Path=/`)).toBeNull();
    },
  );

  it("parts name and value at the first equals sign", () => {
    expect(parse("=a=b")).toMatchObject({ name: "", value: "a=b" });
    expect(parse(" a\t= b c ;Secure")).toMatchObject({ name: "a", value: "b c", secure: true });
    expect(parse("a=")).toMatchObject({ name: "a", value: "" });
  });

  it("keeps the last byte of a value, though as a character it were white space", () => {
    expect(parse("a=\u00c3\u00a0; Path=/")?.value).toBe("\u00c3\u00a0");
  });

  it("ignores a line with control characters, and attributes that are too long", () => {
    for (const line of ["a=b\u0000c", "a=b; Path=/\n", "a=\u007fb"]) expect(parse(line)).toBeNull();
    expect(parse(`a=b; Path=/${"x".repeat(1024)}`)?.path).toBe("/dir");
    expect(parse(`a=b; Path=/${"x".repeat(1023)}`)?.path).toHaveLength(1024);
  });

  it("takes a cookie without name, none without both, none that is too large", () => {
    expect(parse("alone")).toMatchObject({ name: "", value: "alone" });
    expect(parse("=")).toBeNull();
    expect(parse(`a=${"x".repeat(COOKIE_BYTES_MAX - 1)}`)).not.toBeNull();
    expect(parse(`a=${"x".repeat(COOKIE_BYTES_MAX)}`)).toBeNull();
    // A character for each byte, as lines of origins are read.
    expect(parse(`a=${"é".repeat(COOKIE_BYTES_MAX - 1)}`)).not.toBeNull();
    expect(parse(`a=${"é".repeat(COOKIE_BYTES_MAX)}`)).toBeNull();
  });

  it("takes no HttpOnly from scripts", () => {
    expect(parse("a=b; HttpOnly", undefined, { http: false })).toBeNull();
    expect(parse("a=b", undefined, { http: false })).not.toBeNull();
  });
});

describe("isSentTo", () => {
  const goes = (line: string, url: string, context: SameSiteContext = "same-site", age = 0) => {
    const cookie = parse(line);
    return cookie !== null && isSentTo(cookie, new URL(url), context, NOW + age);
  };

  it("goes by host, path and scheme", () => {
    expect(goes("a=b; Path=/", "https://www.example.com/")).toBe(true);
    expect(goes("a=b; Path=/", "https://x.www.example.com/")).toBe(false);
    expect(goes("a=b; Path=/; Domain=example.com", "https://x.www.example.com/")).toBe(true);
    expect(goes("a=b; Path=/; Domain=example.com", "https://notexample.com/")).toBe(false);
    expect(goes("a=b; Path=/dir", "https://www.example.com/dir/x")).toBe(true);
    expect(goes("a=b; Path=/dir", "https://www.example.com/directory")).toBe(false);
    expect(goes("a=b; Path=/; Secure", "http://www.example.com/")).toBe(false);
    expect(goes("a=b; Path=/", "http://www.example.com:8080/")).toBe(true);
  });

  it.each([
    ["Path=/", 120_000, true],
    ["Path=/", 120_001, false],
    ["SameSite=Nonsense", 0, true],
    ["SameSite=Lax", 0, false],
    ["SameSite=Strict", 0, false],
    ["SameSite=None; Secure", DAY, true],
  ])("with a form of another site, %s after %i ms: %s", (attribute, age, isSent) => {
    expect(goes(`a=b; Path=/; ${attribute}`, "https://www.example.com/", "lax-unsafe", age)).toBe(isSent);
  });

  it.each([
    ["SameSite=Strict", true, false, false],
    ["SameSite=Lax", true, true, false],
    ["Path=/", true, true, false],
    ["SameSite=None; Secure", true, true, true],
  ])("%s", (attribute, sameSite, lax, crossSite) => {
    const line = `a=b; Path=/; ${attribute}`;
    const url = "https://www.example.com/";
    expect(goes(line, url, "same-site")).toBe(sameSite);
    expect(goes(line, url, "lax")).toBe(lax);
    expect(goes(line, url, "cross-site")).toBe(crossSite);
  });
});

describe("what becomes of cookies", () => {
  it("shows scripts what is not HttpOnly, on any path", () => {
    const visible = (line: string, url: string) => {
      const cookie = parse(line);
      return cookie !== null && isVisibleToScripts(cookie, new URL(url));
    };
    expect(visible("a=b; Path=/deep", "https://www.example.com/")).toBe(true);
    expect(visible("a=b; HttpOnly", "https://www.example.com/")).toBe(false);
    expect(visible("a=b", "https://other.example.com/")).toBe(false);
    expect(visible("a=b; Secure", "http://www.example.com/")).toBe(false);
  });

  it("writes longer paths first, then older cookies", () => {
    const cookies = ["a=1; Path=/", "b=2; Path=/dir", "c=3; Path=/", "alone; Path=/"].map((line, index) => ({
      ...(parse(line) as StoredCookie),
      created: NOW - index,
    }));
    expect(cookieField(cookies)).toBe("b=2; alone; c=3; a=1");
  });
});
