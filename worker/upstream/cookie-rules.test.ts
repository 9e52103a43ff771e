import { describe, expect, it } from "vitest";
import type { RequestHead } from "../../shared/http/heads.ts";
import { cookieAccess } from "./cookie-jar.ts";
import { responseTainting } from "./cors.ts";
import { fetchOf, navigationTo, requestFor } from "./testing/fake-web.ts";

const access = (head: RequestHead, isFirstHop = true, url = head.url) => {
  const tainting = responseTainting(head, head.method, new URL(url), "basic");
  return cookieAccess(head, { url: new URL(url), method: head.method, tainting, isFirstHop });
};

describe("cookieAccess", () => {
  it("treats what the person typed as the site's own", () => {
    expect(access(navigationTo("https://www.a.example/").head)).toEqual({
      partition: "https://a.example",
      allowed: true,
      context: "same-site",
      takesSameSite: true,
    });
  });

  it.each([
    ["GET", "lax"],
    ["POST", "lax-unsafe"],
  ])("gives a link from another site by %s the context %s", (method, context) => {
    const head = navigationTo("https://a.example/", { method, origin: "https://b.example" }).head;
    expect(access(head)).toMatchObject({ allowed: true, context, takesSameSite: true });
  });

  it("moves a redirected top-level navigation to the partition it is led to, but never the first hop", () => {
    const { head } = navigationTo("https://a.example/");
    expect(access(head, false, "https://login.b.example/").partition).toBe("https://b.example");
    const claimed = { ...head, url: "https://bank.example/", topLevelOrigin: "https://evil.example" };
    expect(access(claimed).partition).toBe("https://evil.example");
  });

  it("keeps a frame in its page's partition, and a foreign one without SameSite cookies", () => {
    const frame = (url: string) =>
      requestFor({ url, mode: "navigate", destination: "iframe", origin: "https://a.example" }).head;
    expect(access(frame("https://www.a.example/"))).toMatchObject({ context: "same-site", takesSameSite: true });
    expect(access(frame("https://ads.example/"))).toEqual({
      partition: "https://a.example",
      allowed: true,
      context: "cross-site",
      takesSameSite: false,
    });
    expect(access(frame("https://ads.example/"), false, "https://ads2.example/").partition).toBe("https://a.example");
  });

  it("keeps the cookies of a page's own site from a foreign frame in it", () => {
    const head = fetchOf("https://a.example/api", { origin: "https://ads.example", credentials: "include" }).head;
    expect(access(head)).toMatchObject({ allowed: true, context: "cross-site" });
  });

  it.each([
    ["no-cors", "include", "https://a.example/x", true],
    ["no-cors", "include", "https://img.a.example/x", true],
    ["no-cors", "include", "https://b.example/x", false],
    ["no-cors", "include", "http://a.example/x", false],
    ["cors", "omit", "https://a.example/x", false],
    ["cors", "same-origin", "https://a.example/x", true],
    ["cors", "same-origin", "https://api.a.example/x", false],
    ["cors", "include", "https://api.a.example/x", true],
    ["cors", "include", "https://b.example/x", true],
    ["same-origin", "same-origin", "https://a.example/x", true],
    ["navigate", "include", "https://b.example/x", true],
    ["navigate", "omit", "https://a.example/x", false],
  ] as const)("%s with %s to %s: %s", (mode, credentials, url, allowed) => {
    expect(access(requestFor({ url, mode, credentials }).head).allowed).toBe(allowed);
  });
});
