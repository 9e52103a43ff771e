import { describe, expect, it } from "vitest";
import { wasStored } from "../upstream/send.ts";
import { fakeWeb, fetchOf } from "../upstream/testing/fake-web.ts";
import { SHARED_BODY_BYTES, type SharedCache } from "./shared-responses.ts";
import { SITE_FIELD } from "./site-entries.ts";
import { type MapCache, settle, sharedWeb } from "./testing/shared-web.ts";

const URL_ASKED = "https://a.example/logo.svg";

/** Answers with a number that grows, and the fields. */
function counting(fields: Record<string, string>, init: ResponseInit = {}) {
  let count = 0;
  return () => new Response(`body ${++count}`, { ...init, headers: { "content-type": "text/plain", ...fields } });
}

const PUBLIC = { "cache-control": "public, max-age=60", etag: '"1"' };
const textOf = async (response: Promise<Response>) => (await response).text();

describe("a public response", () => {
  it("comes from the cache for the second phone, with its age and as it was", async () => {
    const web = sharedWeb(counting({ ...PUBLIC, "x-own": "ä" }));
    expect(await textOf(web.ask(URL_ASKED))).toBe("body 1");
    await settle();
    web.pass(7);
    const again = await web.ask(URL_ASKED);
    expect([again.status, again.headers.get("age"), again.headers.get("x-own")]).toEqual([200, "7", "ä"]);
    expect([await again.text(), wasStored(again), web.asked.length]).toEqual(["body 1", true, 1]);
  });

  it("counts as the site's whose page asked for it, by a name that tells nobody which", async () => {
    const web = sharedWeb(counting(PUBLIC));
    const { upstream } = fakeWeb({}, { fetch: web.newFetch() });
    for (const [index, topLevelOrigin] of [
      "https://www.bank.example",
      "https://bank.example",
      "https://evil.example",
    ].entries()) {
      const asked = {
        url: `https://cdn.example/${index}.css`,
        destination: "style",
        mode: "no-cors",
        topLevelOrigin,
      } as const;
      const { body } = await upstream(fetchOf(asked.url, asked));
      await new Response(body).text();
      await settle();
    }
    const sites = [...(web.cache as MapCache).entries.values()].map(({ headers }) => headers.get(SITE_FIELD));
    expect(sites[0]).toMatch(/^[0-9a-f]{16}$/);
    expect([sites[1] === sites[0], sites[2] === sites[0], new Set(sites).size]).toEqual([true, false, 2]);
  });

  it("is asked for again by its validator when stale; a 304 makes it fresh", async () => {
    const web = sharedWeb((request) =>
      request.headers.get("if-none-match") === '"1"'
        ? new Response(null, { status: 304, headers: { "cache-control": "max-age=60", date: web.date(), etag: '"1"' } })
        : new Response("body", { headers: { ...PUBLIC, date: web.date() } }),
    );
    for (const [later, asked] of [
      [0, 1],
      [61, 2],
      [59, 2],
      [2, 3],
    ] as const) {
      web.pass(later);
      expect([await textOf(web.ask(URL_ASKED)), web.asked.length]).toEqual(["body", asked]);
      await settle();
    }
  });

  it("is replaced where it is another now", async () => {
    const web = sharedWeb(counting(PUBLIC));
    await textOf(web.ask(URL_ASKED));
    await settle();
    web.pass(61);
    expect(await textOf(web.ask(URL_ASKED))).toBe("body 2");
    await settle();
    expect(await textOf(web.ask(URL_ASKED))).toBe("body 2");
  });

  it("is shown stale while it is asked for, once", async () => {
    const answer = counting({ "cache-control": "max-age=60, stale-while-revalidate=60" });
    const refreshed = Promise.withResolvers<void>();
    const web = sharedWeb(async () => {
      if (web.asked.length > 1) await refreshed.promise;
      return answer();
    });
    await textOf(web.ask(URL_ASKED));
    await settle();
    web.pass(70);
    for (const _ of "12") expect(await textOf(web.ask(URL_ASKED))).toBe("body 1");
    refreshed.resolve();
    await settle();
    expect([await textOf(web.ask(URL_ASKED)), web.asked.length]).toEqual(["body 2", 2]);
  });

  it("is shown where its server fails, if it says so", async () => {
    let status = 200;
    const fields = { "cache-control": "max-age=60, stale-if-error=600" };
    const web = sharedWeb(() => new Response(`status ${status}`, { status, headers: fields }));
    await textOf(web.ask(URL_ASKED));
    await settle();
    status = 503;
    web.pass(70);
    expect(await textOf(web.ask(URL_ASKED))).toBe("status 200");
    web.pass(600);
    expect(await textOf(web.ask(URL_ASKED))).toBe("status 503");
  });

  it("is asked for anew by the phone that posted to its URL; no page evicts it for the others", async () => {
    const web = sharedWeb(counting(PUBLIC));
    await textOf(web.ask(URL_ASKED));
    await settle();
    web.pass(1);
    await textOf(web.ask(URL_ASKED, {}, { method: "POST", body: "x" }));
    expect(await textOf(web.askElsewhere(URL_ASKED))).toBe("body 1");
    web.pass(1);
    expect(await textOf(web.ask(URL_ASKED))).toBe("body 3");
    await settle();
    expect([await textOf(web.ask(URL_ASKED)), await textOf(web.askElsewhere(URL_ASKED))]).toEqual(["body 3", "body 3"]);
  });

  it("may have no body", async () => {
    const web = sharedWeb(() => new Response(null, { status: 204, headers: PUBLIC }));
    for (const _ of "123") expect((await web.ask(URL_ASKED)).status).toBe(204);
    await settle();
    expect((await web.ask(URL_ASKED)).body).toBeNull();
    expect(web.asked.length).toBeLessThan(4);
  });
});

describe("what is never stored or answered", () => {
  const asks = async (fields: Record<string, string>, request: Record<string, string> = {}, init: RequestInit = {}) => {
    const web = sharedWeb(counting(fields));
    await (await web.ask(URL_ASKED, request, init)).text();
    await settle();
    await (await web.ask(URL_ASKED, request, init)).text();
    return web.asked.length;
  };

  it.each([
    ["cookies", { cookie: "a=1" }],
    ["authorization", { authorization: "Basic YTpi" }],
    ["a range", { range: "bytes=0-3" }],
    ["a condition", { "if-none-match": '"0"' }],
    ["a field of the page's own", { "x-forwarded-host": "evil.example" }],
    ["a directive of the page's own", { "cache-control": "evil" }],
  ])("a request with %s", async (_name, fields) => {
    expect(await asks(PUBLIC, fields)).toBe(2);
  });

  it("other methods", async () => {
    expect(await asks(PUBLIC, {}, { method: "HEAD" })).toBe(2);
  });

  it.each([
    ["private", { "cache-control": "private, max-age=60" }],
    ["a cookie", { ...PUBLIC, "set-cookie": "a=1" }],
    ["Vary: *", { ...PUBLIC, vary: "*" }],
    ["a head that is too long", { ...PUBLIC, "x-long": "x".repeat(20_000) }],
  ])("a response with %s", async (_name, fields) => {
    expect(await asks(fields)).toBe(2);
  });

  it("a request with cookies gets nothing of what one without left, and leaves nothing for it", async () => {
    const web = sharedWeb((request) => new Response(request.headers.get("cookie") ?? "nobody", { headers: PUBLIC }));
    for (const _ of "12") {
      expect(await textOf(web.ask(URL_ASKED))).toBe("nobody");
      await settle();
      expect(await textOf(web.ask(URL_ASKED, { cookie: "name=me" }))).toBe("name=me");
    }
    expect(web.asked.length).toBe(3);
  });

  it("cookies that come with a 304 reach who asked, and nobody else", async () => {
    const web = sharedWeb(({ headers }) =>
      headers.has("if-none-match")
        ? new Response(null, { status: 304, headers: { ...PUBLIC, "set-cookie": "mine=1" } })
        : new Response("body", { headers: PUBLIC }),
    );
    await textOf(web.ask(URL_ASKED));
    await settle();
    web.pass(61);
    for (const asked of [2, 3]) {
      const response = await web.ask(URL_ASKED);
      expect([response.headers.getSetCookie(), await response.text(), web.asked.length]).toEqual([
        ["mine=1"],
        "body",
        asked,
      ]);
      await settle();
    }
  });

  it.each([
    ["dies in the middle", { "cache-control": "max-age=60" }, "fails"],
    ["ends before its length", { "cache-control": "max-age=60", "content-length": "10" }, "ends"],
    ["goes on beyond its length", { "cache-control": "max-age=60", "content-length": "3" }, "ends"],
  ])("a body that %s", async (_name, headers, end) => {
    const web = sharedWeb(() => {
      let isFirst = true;
      const body = new ReadableStream({
        pull(controller) {
          if (isFirst) controller.enqueue(new TextEncoder().encode("start"));
          else if (end === "ends") controller.close();
          else controller.error(new Error("reset"));
          isFirst = false;
        },
      });
      return new Response(body, { headers });
    });
    for (const asked of [1, 2]) {
      await expect(textOf(web.ask(URL_ASKED))).rejects.toThrow();
      await settle();
      expect([(web.cache as MapCache).entries.size, web.asked.length]).toEqual([0, asked]);
    }
  });

  it("a body above the bound, of a length that is known or not; it comes whole all the same", async () => {
    const bytes = new Uint8Array(SHARED_BODY_BYTES + 1).fill(7);
    for (const fields of [{}, { "content-length": String(bytes.length) }]) {
      const web = sharedWeb(() => new Response(new Blob([bytes]).stream(), { headers: { ...PUBLIC, ...fields } }));
      const got = new Uint8Array(await (await web.ask(URL_ASKED)).arrayBuffer());
      expect(Buffer.compare(got, bytes)).toBe(0);
      await settle();
      expect((web.cache as MapCache).entries.size).toBe(0);
    }
  });
});

describe("who asks otherwise", () => {
  it("gets what its own fields made the origin answer, whatever Vary says", async () => {
    const web = sharedWeb((request) => new Response(JSON.stringify([...request.headers]), { headers: PUBLIC }));
    const fields = ["accept", "accept-language", "user-agent", "origin", "referer", "save-data", "sec-fetch-dest"];
    for (const _ of "12") {
      for (const name of fields) expect(await textOf(web.ask(URL_ASKED, { [name]: "x" }))).toContain(`"${name}","x"`);
      await settle();
    }
    expect(await textOf(web.ask(URL_ASKED, { referer: "https://evil.example/?poison" }))).toContain("poison");
    await settle();
    expect(await textOf(web.ask(URL_ASKED, { referer: "https://a.example/" }))).not.toContain("poison");
  });

  it("never makes more than eight variants of a URL be stored", async () => {
    const web = sharedWeb(counting(PUBLIC));
    for (let i = 0; i < 50; i++) {
      await textOf(web.ask(URL_ASKED, { "accept-language": `l-${i}` }));
      await settle();
    }
    expect((web.cache as MapCache).entries.size).toBe(8);
  });

  it("and reloads, gets what the origin says now, whole; the others after it, too", async () => {
    const web = sharedWeb(counting({ ...PUBLIC, etag: '"1"' }));
    await textOf(web.ask(URL_ASKED));
    await settle();
    expect(await textOf(web.ask(URL_ASKED, { "cache-control": "no-cache", pragma: "no-cache" }))).toBe("body 2");
    expect(web.asked.at(-1)?.headers.has("if-none-match")).toBe(false);
    await settle();
    expect(await textOf(web.ask(URL_ASKED))).toBe("body 2");
  });

  it("and wants no cache to keep what comes, leaves and gets nothing there", async () => {
    const web = sharedWeb(counting({ ...PUBLIC, etag: '"1"' }));
    const fetch = web.newFetch();
    const askUnkept = () => textOf(fetch(new Request(URL_ASKED, { headers: { "cache-control": "no-cache" } }), null));
    expect(await askUnkept()).toBe("body 1");
    await settle();
    expect(await textOf(web.ask(URL_ASKED))).toBe("body 2");
    await settle();
    expect(await askUnkept()).toBe("body 3");
    expect(web.asked.at(-1)?.headers.has("if-none-match")).toBe(false);
    expect(await textOf(web.ask(URL_ASKED))).toBe("body 2");
  });
});

describe("a cache that is of no use", () => {
  const failing = (message: string): SharedCache => ({
    match: () => Promise.reject(new Error(message)),
    put: () => Promise.reject(new Error(message)),
  });
  const throwing: SharedCache = {
    match() {
      throw new Error("there is none");
    },
    put() {
      throw new Error("there is none");
    },
  };
  const hanging: SharedCache = {
    match: () => new Promise(() => {}),
    put: async () => {},
  };
  const forgetful: SharedCache = { match: async () => undefined, put: async () => {} };
  const garbled: SharedCache = {
    ...forgetful,
    match: async () => new Response("x", { headers: { "ropeway-record-2": "{}" } }),
  };

  it.each([
    ["fails", failing("it is full")],
    ["throws", throwing],
    ["hangs", hanging],
    ["forgets", forgetful],
    ["has what is no record", garbled],
  ])("%s: everything comes from the origin", async (_name, cache) => {
    const web = sharedWeb(counting(PUBLIC), cache);
    expect(await textOf(web.ask(URL_ASKED))).toBe("body 1");
    await settle();
    expect(await textOf(web.ask(URL_ASKED))).toBe("body 2");
    expect(await textOf(web.ask(URL_ASKED, {}, { method: "POST" }))).toBe("body 3");
  });
});
