import { beforeEach, describe, expect, it } from "vitest";
import { RopewayError } from "../../../shared/errors.ts";
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { HeaderList, RequestHead } from "../../../shared/http/heads.ts";
import { ConsumerLog } from "../../../shared/testing/http/exchange-rig.ts";
import { turns } from "./testing/stored-bodies.ts";
import {
  FRESH,
  type OriginAnswer,
  picture,
  SITE,
  STALE,
  TestPhone,
  type TestWindow,
} from "./testing/stored-windows.ts";

let phone: TestPhone;
let window: TestWindow;

beforeEach(() => {
  phone = new TestPhone();
  window = phone.open();
});

describe("what is fresh", () => {
  it("is answered with no request, in this run and the next", async () => {
    expect((await window.get({}, { headers: FRESH, body: "first" })).text).toBe("first");
    phone.time += 30_000;
    for (const each of [window, phone.open()]) {
      const again = await each.get({}, { body: "second" });
      expect([again.isAsked, again.text, again.head?.status]).toEqual([false, "first", 200]);
      expect(headerValue(again.head?.headers ?? [], "age")).toBe("30");
    }
    expect(window.source.stats).toMatchObject({ storeAnswers: 1, storeValidations: 0, storeBytes: 5 });
  });

  it("is asked for once it is stale", async () => {
    await window.get({}, { headers: FRESH, body: "first" });
    phone.time += 61_000;
    expect((await window.get({}, { body: "second" })).text).toBe("second");
  });

  it.each<[string, OriginAnswer]>([
    ["no-store", { headers: [["cache-control", "no-store"]] }],
    ["redirected", { headers: FRESH, redirected: true, url: `${SITE}/y.png` }],
    ["shorter than announced", { headers: [...FRESH, ["content-length", "9"]] }],
    ["a redirect", { status: 301, headers: [...FRESH, ["location", "/y.png"]] }],
  ])("is not stored where it is %s", async (_, answer) => {
    await window.get({}, { ...answer, body: "first" });
    expect((await window.get({}, { body: "second" })).isAsked).toBe(true);
  });

  it("is another's where another site, origin, mode or credentials ask", async () => {
    const cdn = { url: "https://cdn.example/x.js", destination: "script" } as const;
    await window.get(cdn, { headers: FRESH, body: "first" });
    expect((await window.get(cdn)).isAsked).toBe(false);
    const others: Partial<RequestHead>[] = [
      { topLevelOrigin: "https://b.example" },
      { origin: "https://b.example" },
      { mode: "cors" },
      { credentials: "omit" },
      { destination: "image" },
      { headers: [["x-own", "1"]] },
    ];
    for (const other of others) {
      expect((await window.get({ ...cdn, ...other }, { headers: FRESH, body: "other" })).text).toBe("other");
    }
  });

  it("is never stored where another origin was sent a secret", async () => {
    const api = { url: "https://api.example/x", mode: "cors", credentials: "omit", destination: "" } as const;
    const secret: Partial<RequestHead> = { ...api, headers: [["authorization", "Bearer 1"]] };
    await window.get(secret, { headers: FRESH, body: "first" });
    expect((await window.get(secret)).isAsked).toBe(true);
  });

  it("is never stored where CORS hides what it varies by", async () => {
    const api = { url: "https://api.example/x", mode: "cors", destination: "" } as const;
    await window.get(api, { headers: FRESH, body: "first" });
    expect((await window.get(api)).isAsked).toBe(true);
  });

  it("follows the cache modes of Fetch", async () => {
    await window.get({}, { headers: FRESH, body: "first" });
    expect((await window.get({ cache: "no-store" }, { headers: FRESH, body: "second" })).text).toBe("second");
    expect((await window.get()).text).toBe("first");
    expect((await window.get({ cache: "reload" }, { headers: FRESH, body: "third" })).text).toBe("third");
    expect(window.lastAsked?.headers).toContainEqual(["cache-control", "no-cache"]);
    phone.time += 100_000;
    expect((await window.get({ cache: "force-cache" })).text).toBe("third");
    expect((await window.get({ cache: "only-if-cached", url: `${SITE}/none` })).error).toBeInstanceOf(RopewayError);
  });

  it("gives parts of a whole body", async () => {
    await window.get({}, { headers: FRESH, body: "0123456789" });
    const part = await window.get({ headers: [["range", "bytes=2-4"]] });
    expect([part.isAsked, part.head?.status, part.text]).toEqual([false, 206, "234"]);
    expect(headerValue(part.head?.headers ?? [], "content-range")).toBe("bytes 2-4/10");
    const none = await window.get({ headers: [["range", "bytes=20-"]] });
    expect([none.head?.status, none.text]).toEqual([416, ""]);
  });

  it("is kept of a 206 that has the whole body, and of no other", async () => {
    const all: Partial<RequestHead> = { headers: [["range", "bytes=0-"]] };
    const part = (contentRange: string): OriginAnswer => ({
      status: 206,
      headers: [...FRESH, ["content-range", contentRange]],
      body: "0123456789",
    });
    await window.get(all, part("bytes 0-9/20"));
    expect((await window.get({}, part("bytes 5-14/15"))).isAsked).toBe(true);
    await window.get({}, part("bytes 0-8/9"));
    expect((await window.get(all, part("bytes 0-9/10"))).head?.status).toBe(206);
    const again = await window.get();
    expect([again.isAsked, again.head?.status, again.text]).toEqual([false, 200, "0123456789"]);
    const end = await window.get({ headers: [["range", "bytes=8-"]] });
    expect([end.isAsked, end.head?.status, end.text]).toEqual([false, 206, "89"]);
  });

  describe("and comes in parts", () => {
    const body = "0123456789";
    const get = (first: number, last: number, headers: HeaderList = [["etag", '"1"']]) =>
      window.get(
        { headers: [["range", `bytes=${first}-${last}`]] },
        {
          status: 206,
          headers: [
            ...FRESH,
            ...headers,
            ["content-range", `bytes ${first}-${last}/10`],
            ["content-length", String(last - first + 1)],
          ],
          body: body.slice(first, last + 1),
        },
      );
    const isStored = async () => !(await window.get({}, { headers: [["cache-control", "no-store"]] })).isAsked;

    it("is stored once they are the whole", async () => {
      for (const [first, last] of [
        [0, 3],
        [4, 4],
        [5, 9],
      ] as const) {
        expect(await isStored()).toBe(false);
        expect((await get(first, last)).text).toBe(body.slice(first, last + 1));
      }
      const whole = await window.get();
      expect([whole.isAsked, whole.head?.status, whole.text]).toEqual([false, 200, body]);
      expect(headerValue(whole.head?.headers ?? [], "content-length")).toBe("10");
      expect(headerValue(whole.head?.headers ?? [], "content-range")).toBeNull();
      expect((await get(2, 3)).isAsked).toBe(false);
    });

    it.each<[string, () => Promise<unknown>]>([
      ["one is missing", async () => [await get(0, 3), await get(5, 9)]],
      ["another version came between", async () => [await get(0, 3), await get(4, 9, [["etag", '"2"']])]],
      ["nothing says that they are of one", async () => [await get(0, 3, []), await get(4, 9, [])]],
      ["the tag is weak", async () => [await get(0, 3, [["etag", 'W/"1"']]), await get(4, 9, [["etag", 'W/"1"']])]],
      [
        "something made it untrue between",
        async () => {
          await get(0, 3);
          await window.get({ method: "POST" });
          await get(4, 9);
        },
      ],
      [
        "one was cancelled",
        async () => {
          await get(0, 3);
          const range = { headers: [["range", "bytes=4-9"]] as const };
          const head = [
            ["etag", '"1"'],
            ["content-range", "bytes 4-9/10"],
            ["content-length", "6"],
          ] as const;
          const until = new Promise<void>((resolve) => setImmediate(resolve));
          const log = new ConsumerLog();
          const asked = window.begin(range, log, {
            status: 206,
            headers: [...FRESH, ...head],
            body: body.slice(4),
            until,
          });
          asked.cancel();
          await until;
        },
      ],
    ])("is not stored where %s", async (_, load) => {
      await load();
      expect(await isStored()).toBe(false);
    });
  });

  it("shows a page of another origin no field that CORS does not let it read", async () => {
    const api = { url: "https://api.example/x", mode: "cors", credentials: "omit", destination: "" } as const;
    const names = async (change: Partial<RequestHead>) =>
      (await window.get(change)).head?.headers.map(([name]) => name) ?? [];
    await window.get(api, { headers: FRESH, body: "0123456789" });
    const part: Partial<RequestHead> = { ...api, headers: [["range", "bytes=2-4"]] };
    for (const shown of [await names(api), await names(part)]) {
      expect(shown).toContain("cache-control");
      expect(shown).not.toContain("age");
      expect(shown).not.toContain("content-range");
    }
    const open = { ...api, url: "https://api.example/open" };
    await window.get(open, { headers: [...FRESH, ["access-control-expose-headers", "*"]], body: "x" });
    expect(await names(open)).toContain("age");
    const video: Partial<RequestHead> = { ...part, url: "https://api.example/v", destination: "video" };
    await window.get({ ...video, headers: [] }, { headers: FRESH, body: "0123456789" });
    expect(await names(video)).toContain("content-range");
  });

  it("is given whole where it is long, and not at all once it is cancelled", async () => {
    const body = "0123456789abcdef".repeat(50_000);
    await window.get({}, { headers: FRESH, body });
    const again = await window.get();
    expect([again.isAsked, again.text === body]).toEqual([false, true]);
    const log = new ConsumerLog();
    window.source.source({ head: picture, body: null, push: null }, log, () => ({ cancel() {} })).cancel();
    await turns(20);
    expect(log.events).toEqual([]);
  });

  it("is fetched where its body was lost", async () => {
    await window.get({}, { headers: FRESH, body: "first" });
    await window.stored();
    const database = await phone.disk.raw();
    await database.clear("blocks");
    expect((await window.get({}, { headers: FRESH, body: "second" })).text).toBe("second");
    expect((await window.get({}, { body: "third" })).text).toBe("second");
  });

  it("is copied from a push, which is neither answered nor made conditional", async () => {
    await window.get({}, { headers: STALE, body: "first" });
    const push = { session: { wasCarried: true }, answer: () => ({ cancel() {} }) };
    expect((await window.get({}, { headers: FRESH, body: "pushed" }, push)).text).toBe("pushed");
    expect(window.lastAsked?.headers).toEqual([]);
    expect((await window.get({}, { body: "third" })).text).toBe("pushed");
  });

  it("is not what was asked for before it changed", async () => {
    let release = (): void => {};
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    const early = window.get({}, { headers: FRESH, body: "old", until });
    while (window.asked.length === 0) await turns(1);
    await window.get({ method: "PUT" }, { body: "done" });
    release();
    expect((await early).text).toBe("old");
    expect((await window.get({}, { body: "new" })).text).toBe("new");
  });

  it("needs no push", async () => {
    expect(window.source.isAtHand(picture)).toBe(false);
    await window.get({}, { headers: FRESH, body: "first" });
    await window.stored();
    expect(window.source.isAtHand(picture)).toBe(true);
    phone.time += 61_000;
    expect(window.source.isAtHand(picture)).toBe(false);
  });

  it.each([
    ["back", -1],
    ["ahead", 1],
  ])("is asked for after the clock was set a year %s, and once more when it is right again", async (_, direction) => {
    const year = direction * 365 * 24 * 3_600_000;
    await window.get({}, { headers: FRESH, body: "first" });
    phone.time += year;
    expect((await window.get({}, { headers: FRESH, body: "second" })).text).toBe("second");
    expect((await window.get()).isAsked).toBe(false);
    phone.time -= year;
    expect((await window.get({}, { headers: FRESH, body: "third" })).text).toBe("third");
    expect((await window.get()).isAsked).toBe(false);
    expect(window.store.use.entries).toBe(1);
  });
});
