import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import type { RequestHead, ScriptCookie } from "../../shared/http/heads.ts";
import * as limits from "../../shared/limits.ts";
import { EdgeRequest } from "../../shared/subprotocol.ts";
import { navigation } from "../../shared/testing/http/request-heads.ts";
import type { UpstreamRequest } from "../upstream/upstream.ts";
import { createEdgeHandler, type EdgeBackend, memorySentLogStore, SentLog } from "./edge-handler.ts";

const CONSTANTS = { userAgent: "Phone/1", acceptLanguage: "en" };
const PAGE = "https://a.example";

const COOKIE: ScriptCookie = {
  name: "a",
  value: "1",
  domain: "a.example",
  hostOnly: true,
  path: "/",
  secure: false,
  expires: null,
};

function setUp() {
  const log: string[] = [];
  const upstreamRequests: UpstreamRequest[] = [];
  const dies = { whileUploading: false };
  const backend: EdgeBackend = {
    async upstream(request) {
      if (dies.whileUploading) throw new Error("the edge died");
      await request.beforeSend?.();
      upstreamRequests.push(request);
      const head = { status: 200, headers: [], url: request.head.url, redirected: false };
      return { head: { ...head, coding: "identity", scriptCookies: [] }, body: null };
    },
    warmer: {
      async warm(request, url) {
        log.push(`warm ${url}`);
        const head = { status: 200, headers: [], url: url.href, redirected: false };
        return url.pathname === "/no"
          ? null
          : { head: { ...head, coding: "identity", scriptCookies: [] }, body: request.body };
      },
    },
    siteData: {
      setScriptCookie: async (...args) => void log.push(`set ${args.join(" | ")}`),
      async scriptCookies(page) {
        log.push(`cookies of ${page}`);
        return [COOKIE];
      },
      clear: async () => void log.push("clear"),
      clearSite: async (host) => void log.push(`clear ${host}`),
      flush: async () => void log.push("flush"),
    },
  };
  let time = 10_000_000;
  const handle = createEdgeHandler(backend, { sentLog: new SentLog(memorySentLogStore(time), () => time) });
  const ask = (head: Partial<RequestHead>) =>
    handle(
      {
        head: { ...navigation("https://b.example/"), origin: PAGE, topLevelOrigin: "https://top.example", ...head },
        body: null,
        signal: new AbortController().signal,
      },
      CONSTANTS,
    );
  const setCookie = (documentUrl: string, cookieString: string, head: Partial<RequestHead> = {}) =>
    ask({
      method: "PUT",
      url: EdgeRequest.SCRIPT_COOKIE,
      headers: [
        ["document-url", documentUrl],
        ["cookie-string", cookieString],
      ],
      ...head,
    });
  const pass = (milliseconds: number) => {
    time += milliseconds;
  };
  return { log, upstreamRequests, dies, ask, setCookie, pass };
}

describe("the edge's answers", () => {
  it("sends requests for origins upstream, with what is constant for the session", async () => {
    const { ask, upstreamRequests, log } = setUp();
    const response = await ask({ url: "https://b.example/x" });
    expect(response.head.status).toBe(200);
    expect(upstreamRequests).toHaveLength(1);
    expect(upstreamRequests[0]).toMatchObject({ head: { url: "https://b.example/x" }, ...CONSTANTS });
    expect(log).toEqual([]);
  });

  it("sets a script's cookie in the partition of the page's site", async () => {
    const { log, setCookie, upstreamRequests } = setUp();
    const response = await setCookie(`${PAGE}/dir/page`, encodeURIComponent("name=välue; Path=/"));
    expect(response).toMatchObject({ head: { status: 204, url: EdgeRequest.SCRIPT_COOKIE }, body: null });
    expect(log).toEqual([`set https://top.example | ${PAGE}/dir/page | name=välue; Path=/`]);
    expect(upstreamRequests).toEqual([]);
  });

  it("does not let a document set cookies of another origin", async () => {
    const { log, setCookie } = setUp();
    const attempts = ["https://bank.example/", "https://sub.a.example/", "http://a.example/", "nonsense", ""];
    for (const documentUrl of attempts) {
      await expect(setCookie(documentUrl, "a=b"), documentUrl).rejects.toMatchObject({
        code: ErrorCode.PROTOCOL_ERROR,
        scope: "stream",
      });
    }
    await expect(setCookie(`${PAGE}/`, "a=b", { origin: null })).rejects.toMatchObject({ scope: "stream" });
    expect(log).toEqual([]);
  });

  it("answers a cookie string that cannot be decoded with an error of the stream", async () => {
    const { log, setCookie } = setUp();
    await expect(setCookie(`${PAGE}/`, "a=%")).rejects.toMatchObject({
      code: ErrorCode.PROTOCOL_ERROR,
      scope: "stream",
    });
    expect(log).toEqual([]);
  });

  it("says which cookies scripts of a site's own page may read, and no others", async () => {
    const { log, ask } = setUp();
    const cookiesOf = (page: string, head: Partial<RequestHead> = {}) => {
      const headers = [["document-url", page]] as const;
      return ask({ method: "GET", url: EdgeRequest.SCRIPT_COOKIES, topLevelOrigin: PAGE, headers, ...head });
    };
    expect(await cookiesOf(`${PAGE}/?a`)).toMatchObject({ head: { status: 204, scriptCookies: [COOKIE] }, body: null });
    expect(log).toEqual([`cookies of ${PAGE}/?a`]);
    const refused = [
      cookiesOf("https://b.example/"),
      cookiesOf("", { headers: [] }),
      cookiesOf(`${PAGE}/`, { origin: null }),
      cookiesOf(`${PAGE}/`, { topLevelOrigin: "https://b.example" }),
      cookiesOf("https://b.example/", { topLevelOrigin: "https://b.example" }),
      cookiesOf(`${PAGE}/`, { method: "PUT" }),
    ];
    for (const each of refused) await expect(each).rejects.toMatchObject({ code: ErrorCode.PROTOCOL_ERROR });
    expect(log).toHaveLength(1);
  });

  it("forgets all cookies when the person wants that", async () => {
    const { log, ask } = setUp();
    expect((await ask({ method: "DELETE", url: EdgeRequest.SITE_DATA, origin: null })).head.status).toBe(204);
    expect(log).toEqual(["clear"]);
  });

  it("forgets one site when the person wants that", async () => {
    const { log, ask } = setUp();
    const forget = (host: string) =>
      ask({ method: "DELETE", url: EdgeRequest.SITE, origin: null, headers: [["host-name", host]] });
    expect((await forget("www.a.example")).head.status).toBe(204);
    for (const host of ["", "a.example:80", "a.example/", "user@a.example", "A.example"]) {
      await expect(forget(host), host).rejects.toMatchObject({ code: ErrorCode.PROTOCOL_ERROR, scope: "stream" });
    }
    expect(log).toEqual(["clear www.a.example"]);
  });

  it("answers with the page that a link leads to, or with nothing", async () => {
    const { log, ask } = setUp();
    const warm = (link: string, head: Partial<RequestHead> = {}) =>
      ask({
        method: "GET",
        url: EdgeRequest.WARMED_PAGE,
        topLevelOrigin: PAGE,
        headers: [["document-url", link]],
        ...head,
      });
    expect((await warm(`${PAGE}/next`)).head).toMatchObject({ status: 200, url: `${PAGE}/next` });
    expect((await warm(`${PAGE}/no`)).head.status).toBe(204);
    expect(log).toEqual([`warm ${PAGE}/next`, `warm ${PAGE}/no`]);
    const refused = [
      warm("https://b.example/"),
      warm(`${PAGE}/?a`),
      warm("https://user:word@a.example/"),
      warm("next"),
      warm("ftp://a.example/", { origin: "ftp://a.example", topLevelOrigin: "ftp://a.example" }),
      warm(`${PAGE}/`, { topLevelOrigin: "https://b.example" }),
      warm(`${PAGE}/`, { origin: null }),
      warm(`${PAGE}/`, { method: "PUT" }),
    ];
    for (const each of refused) await expect(each).rejects.toMatchObject({ code: ErrorCode.PROTOCOL_ERROR });
    expect(log).toHaveLength(2);
  });

  it.each([EdgeRequest.SITE_DATA, EdgeRequest.SITE])("forgets nothing for a page by %s", async (url) => {
    const { log, ask } = setUp();
    const asked = ask({ method: "DELETE", url, origin: PAGE, headers: [["host-name", "a.example"]] });
    await expect(asked).rejects.toMatchObject({ code: ErrorCode.PROTOCOL_ERROR, scope: "stream" });
    expect(log).toEqual([]);
  });

  it.each([
    ["GET", EdgeRequest.SITE_DATA],
    ["PUT", EdgeRequest.SITE_DATA],
    ["DELETE", EdgeRequest.SCRIPT_COOKIE],
    ["GET", "ropeway:///"],
    ["DELETE", "ropeway:///site-data?x"],
  ])("refuses %s %s", async (method, url) => {
    const { log, ask, upstreamRequests } = setUp();
    await expect(ask({ method, url })).rejects.toMatchObject({ code: ErrorCode.PROTOCOL_ERROR, scope: "stream" });
    expect([...log, ...upstreamRequests]).toEqual([]);
  });
});

describe("requests that must not run twice", () => {
  const post = (id: string | null, isRepeat = false): Partial<RequestHead> => ({
    method: "POST",
    delivery: { id, isRepeat, continuation: null },
  });

  it("are sent once, however often they are asked for, and the repeats are told so", async () => {
    const { ask, upstreamRequests, pass } = setUp();
    pass(limits.repeatWindow);
    await ask(post("AAAAAAAAAAA"));
    for (const isRepeat of [true, false, true]) {
      await expect(ask(post("AAAAAAAAAAA", isRepeat))).rejects.toMatchObject({ code: ErrorCode.ALREADY_SENT });
    }
    await ask(post("BBBBBBBBBBB"));
    expect(upstreamRequests).toHaveLength(2);
  });

  it("count as sent only from when their body was there", async () => {
    const { ask, upstreamRequests, dies, pass } = setUp();
    pass(limits.repeatWindow);
    dies.whileUploading = true;
    await expect(ask(post("AAAAAAAAAAA"))).rejects.toThrow("the edge died");
    dies.whileUploading = false;
    await ask(post("AAAAAAAAAAA", true));
    expect(upstreamRequests).toHaveLength(1);
    // Then at once, whatever of the body is still to come.
    dies.whileUploading = true;
    await expect(ask(post("AAAAAAAAAAA", true))).rejects.toMatchObject({ code: ErrorCode.ALREADY_SENT });
  });

  it("are sent when the first attempt is known not to have been", async () => {
    const { ask, upstreamRequests, pass } = setUp();
    pass(limits.repeatWindow);
    await ask(post("AAAAAAAAAAA", true));
    await expect(ask(post("AAAAAAAAAAA", true))).rejects.toMatchObject({ code: ErrorCode.ALREADY_SENT });
    expect(upstreamRequests).toHaveLength(1);
  });

  it("are not sent when nobody can know", async () => {
    const { ask, upstreamRequests, pass } = setUp();
    pass(limits.repeatWindow - 1);
    await expect(ask(post("AAAAAAAAAAA", true))).rejects.toMatchObject({ code: ErrorCode.OUTCOME_UNKNOWN });
    await expect(ask(post(null, true))).rejects.toMatchObject({ code: ErrorCode.OUTCOME_UNKNOWN });
    await ask(post("BBBBBBBBBBB"));
    await expect(ask(post("BBBBBBBBBBB", true))).rejects.toMatchObject({ code: ErrorCode.ALREADY_SENT });
    expect(upstreamRequests).toHaveLength(1);
  });

  it("are sent as they are by a phone that says nothing of it", async () => {
    const { ask, upstreamRequests } = setUp();
    for (const method of ["POST", "PATCH"]) await ask({ method });
    expect(upstreamRequests).toHaveLength(2);
  });

  it.each(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"])("are none with the method %s", async (method) => {
    const { ask, upstreamRequests } = setUp();
    for (let time = 0; time < 2; time += 1) await ask({ ...post(null, true), method });
    expect(upstreamRequests).toHaveLength(2);
  });
});
