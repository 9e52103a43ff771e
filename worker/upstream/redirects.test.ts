import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import { isRedirect, locationOf, MAX_REDIRECTS, nextHop } from "./redirects.ts";

const hop = (method: string, status: number, location = "/next", url = "https://a.example/dir/page?q") =>
  nextHop({ url: new URL(url), method }, status, location, 0);

describe("isRedirect", () => {
  it("knows the five codes, and wants a Location", () => {
    for (let status = 200; status < 600; status++) {
      expect(isRedirect(status, "/x")).toBe([301, 302, 303, 307, 308].includes(status));
      expect(isRedirect(status, null)).toBe(false);
      expect(isRedirect(status, "")).toBe(false);
    }
  });
});

describe("locationOf", () => {
  it.each([
    [[], null],
    [["/a"], "/a"],
    [["/a", "/a"], "/a"],
    [["/a", "/b"], "/a, /b"],
    [["/a, b"], "/a, b"],
    [[""], ""],
  ])("takes %j for %j", (lines, location) => {
    expect(locationOf(new Headers(lines.map((line) => ["location", line])))).toBe(location);
  });
});

describe("nextHop", () => {
  it.each([
    ["POST", 301, "GET", false],
    ["POST", 302, "GET", false],
    ["PUT", 301, "PUT", true],
    ["PUT", 302, "PUT", true],
    ["GET", 302, "GET", true],
    ["HEAD", 301, "HEAD", true],
    ["POST", 303, "GET", false],
    ["DELETE", 303, "GET", false],
    ["GET", 303, "GET", true],
    ["HEAD", 303, "HEAD", true],
    ["POST", 307, "POST", true],
    ["POST", 308, "POST", true],
    ["PATCH", 307, "PATCH", true],
  ])("%s with %i becomes %s", (method, status, next, keepsBody) => {
    expect(hop(method, status)).toMatchObject({ method: next, keepsBody });
  });

  it.each([
    ["/x", "https://a.example/x"],
    ["x", "https://a.example/dir/x"],
    ["?y", "https://a.example/dir/page?y"],
    ["//b.example/x", "https://b.example/x"],
    ["http://b.example#part", "http://b.example/"],
    ["", "https://a.example/dir/page?q"],
    ["/é", "https://a.example/%C3%A9"],
    ["/Ã©", "https://a.example/%C3%A9"],
    ["/\xe9", "https://a.example/%C3%A9"],
    ["/日本", "https://a.example/%E6%97%A5%E6%9C%AC"],
  ])("resolves %s", (location, url) => {
    expect(hop("GET", 302, location).url.href).toBe(url);
  });

  it("keeps authorization within the origin only", () => {
    expect(hop("GET", 302, "/x").keepsAuthorization).toBe(true);
    for (const other of [
      "https://b.example/",
      "http://a.example/",
      "https://a.example:8443/",
      "https://sub.a.example/",
    ]) {
      expect(hop("GET", 302, other).keepsAuthorization).toBe(false);
    }
  });

  it.each(["ftp://a.example/", "javascript:alert(1)", "data:text/html,x", "intent://x", "file:///etc/passwd"])(
    "does not know the scheme of %s",
    (location) => {
      expect(() => hop("GET", 302, location)).toThrow(expect.objectContaining({ code: ErrorCode.UNSUPPORTED_SCHEME }));
    },
  );

  it("gives up on what is no URL, and on the 21st", () => {
    const tooMany = expect.objectContaining({ code: ErrorCode.TOO_MANY_REDIRECTS });
    expect(() => hop("GET", 302, "https://")).toThrow(tooMany);
    const from = { url: new URL("https://a.example/"), method: "GET" };
    expect(nextHop(from, 302, "/x", MAX_REDIRECTS - 1).url.pathname).toBe("/x");
    expect(() => nextHop(from, 302, "/x", MAX_REDIRECTS)).toThrow(tooMany);
  });
});
