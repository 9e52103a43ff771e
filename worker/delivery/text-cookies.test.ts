import { describe, expect, it } from "vitest";
import { responseToFields } from "../../shared/http/head-fields.ts";
import type { ScriptCookie } from "../../shared/http/heads.ts";
import { assertHeadFits } from "../../shared/mux/stream/stream.ts";
import { responseHead } from "../../shared/testing/http/exchange-rig.ts";
import { navigation } from "../../shared/testing/http/request-heads.ts";
import { withTextCookies } from "./edge-handler.ts";

const bytesOf = (text: string) => Buffer.from(text).toString("latin1");

function setUp(values: readonly string[]) {
  const set: string[] = [];
  const cookie = { name: "a", domain: "a.example", hostOnly: true, path: "/", secure: false, expires: null };
  const scriptCookies = values.map((value): ScriptCookie => ({ ...cookie, value }));
  const backend = withTextCookies({
    upstream: async () => ({ head: { ...responseHead, scriptCookies }, body: null }),
    warmer: { warm: async () => null },
    siteData: {
      setScriptCookie: async (_, __, cookieString) => void set.push(cookieString),
      scriptCookies: async () => scriptCookies,
      clear: async () => void set.push("cleared"),
      clearSite: async (host) => void set.push(`cleared ${host}`),
      flush: async () => void set.push("flushed"),
    },
  });
  return { backend, set };
}

describe("cookies as text over a jar of bytes", () => {
  it("stores what scripts set as UTF-8", async () => {
    const { backend, set } = setUp([]);
    await backend.siteData.setScriptCookie("https://a.example", "https://a.example/", "a=ü界");
    await backend.siteData.clear();
    await backend.siteData.flush();
    expect(set).toEqual([`a=${bytesOf("ü界")}`, "cleared", "flushed"]);
  });

  it("shows scripts UTF-8 as text, and what is none as it is", async () => {
    const { backend } = setUp(["plain", bytesOf("ü界"), "caf\u00e9", ""]);
    const { head } = await backend.upstream({
      head: navigation("https://a.example/"),
      body: null,
      userAgent: "",
      acceptLanguage: "",
      signal: new AbortController().signal,
    });
    const asked = await backend.siteData.scriptCookies(new URL("https://a.example/"));
    for (const cookies of [head.scriptCookies, asked])
      expect(cookies.map(({ value }) => value)).toEqual(["plain", "ü界", "caf\u00e9", ""]);
  });

  it("leaves out the longest where a head has no room for all", async () => {
    const long = Array.from({ length: 12 }, (_, index) => String.fromCharCode(97 + index).repeat(4_000 - index));
    const { backend } = setUp(["first", ...long, "last"]);
    const cookies = await backend.siteData.scriptCookies(new URL("https://a.example/"));
    expect(cookies.map(({ value }) => value)).toEqual(["first", ...long.slice(-5), "last"]);
    expect(() => assertHeadFits(responseToFields({ ...responseHead, scriptCookies: cookies }))).not.toThrow();
  });
});
