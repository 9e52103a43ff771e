import { describe, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { bodyOf, responseHead } from "../../shared/testing/http/exchange-rig.ts";
import { navigation } from "../../shared/testing/http/request-heads.ts";
import type { UpstreamRequest } from "../upstream/upstream.ts";
import { isForAll, PageWarmer, WARMED_PAGE_BYTES } from "./page-warmer.ts";

const LINK = new URL("https://a.example/next");
const HTML = { "content-type": "text/html" };

function setUp({ robots = "", robotsStatus = 200, fields = HTML as Record<string, string>, status = 200 } = {}) {
  const asked: UpstreamRequest[] = [];
  const cookies = { areThere: false };
  let time = 0;
  const warmer = new PageWarmer({
    jar: { hasFor: async () => cookies.areThere },
    now: () => time,
    async ask(request) {
      asked.push(request);
      const { url } = request.head;
      if (url.endsWith("/robots.txt")) {
        if (robotsStatus === 0) throw new RopewayError(ErrorCode.CONNECTION_REFUSED, "stream", "origin", "No");
        return { head: { ...responseHead, status: robotsStatus, url }, body: bodyOf(robots) };
      }
      request.checkResponse?.(new Response("", { status, headers: fields }));
      return {
        head: { ...responseHead, status, url, resumption: { range: null, validator: '"1"' } },
        body: bodyOf("x"),
      };
    },
  });
  const warm = (url = LINK) =>
    warmer.warm(
      {
        head: { ...navigation("https://a.example/"), headers: [["cookie", "a=1"]] },
        body: null,
        signal: new AbortController().signal,
        userAgent: "Phone/1",
        acceptLanguage: "en",
      },
      url,
    );
  const pass = (milliseconds: number) => {
    time += milliseconds;
  };
  return { warm, asked, cookies, pass, urls: () => asked.map(({ head }) => head.url) };
}

describe("what a link leads to", () => {
  it("is asked for as a stranger would, without cookies, a referrer or redirects", async () => {
    const { warm, asked } = setUp();
    const response = await warm();
    expect(response?.head).toMatchObject({ status: 200, url: LINK.href });
    expect(response?.head).not.toHaveProperty("resumption");
    const [robots, page] = asked.map(({ head }) => head);
    expect(robots).toMatchObject({ url: "https://a.example/robots.txt", credentials: "omit", headers: [] });
    expect(page).toMatchObject({ url: LINK.href, credentials: "omit", redirect: "error", referrer: "", method: "GET" });
    expect(page?.headers).toEqual([]);
  });

  it("is not asked for where the edge has cookies of its origin, nor robots.txt", async () => {
    const { warm, cookies, urls } = setUp();
    cookies.areThere = true;
    expect(await warm()).toBeNull();
    expect(urls()).toEqual([]);
  });

  it.each([
    ["User-agent: *\nDisallow: /next", 200],
    ["User-agent: ropeway\nDisallow: /\n\nUser-agent: *\nAllow: /", 200],
    ["User-agent: ropeway\nAllow: /\n\nUser-agent: *\nDisallow: /", 200],
    ["", 503],
    ["", 0],
  ])("is not asked for where robots.txt says %j, with status %i", async (robots, robotsStatus) => {
    const { warm, urls } = setUp({ robots, robotsStatus });
    expect(await warm()).toBeNull();
    expect(urls()).toEqual(["https://a.example/robots.txt"]);
  });

  it("is asked for where there is no robots.txt, which is kept for a day", async () => {
    const { warm, urls, pass } = setUp({ robotsStatus: 404, robots: "User-agent: *\nDisallow: /" });
    expect(await warm()).not.toBeNull();
    pass(23 * 3_600_000);
    expect(await warm()).not.toBeNull();
    expect(urls().filter((url) => url.endsWith("robots.txt"))).toHaveLength(1);
    pass(2 * 3_600_000);
    await warm();
    expect(urls().filter((url) => url.endsWith("robots.txt"))).toHaveLength(2);
  });

  it("asks again soon for a robots.txt that could not be had", async () => {
    const { warm, urls, pass } = setUp({ robotsStatus: 500 });
    await warm();
    await warm();
    expect(urls()).toHaveLength(1);
    pass(10 * 60_000);
    await warm();
    expect(urls()).toHaveLength(2);
  });

  it("does not come where it is not the same for all", async () => {
    const { warm } = setUp({ fields: { ...HTML, "set-cookie": "a=1" } });
    expect(await warm()).toBeNull();
  });
});

it.each([
  [{}, 200, true],
  [{ "content-type": "text/html; charset=utf-8" }, 200, true],
  [{ vary: "Accept-Encoding, Accept" }, 200, true],
  [{ "cache-control": "public, max-age=60" }, 200, true],
  [{ "content-length": `${WARMED_PAGE_BYTES}` }, 200, true],
  [{}, 404, false],
  [{}, 203, false],
  [{ "content-type": "application/pdf" }, 200, false],
  [{ "content-disposition": "attachment; filename=x.html" }, 200, false],
  [{ "set-cookie": "a=1" }, 200, false],
  [{ vary: "Accept, Cookie" }, 200, false],
  [{ vary: "*" }, 200, false],
  [{ "cache-control": "max-age=0, private" }, 200, false],
  [{ "cache-control": "No-Store" }, 200, false],
  [{ "clear-site-data": '"cookies"' }, 200, false],
  [{ "content-length": `${WARMED_PAGE_BYTES + 1}` }, 200, false],
])("%j with status %i is for all: %s", (fields, status, isFit) => {
  expect(isForAll({ status, headers: new Headers({ ...HTML, ...fields }) })).toBe(isFit);
});
