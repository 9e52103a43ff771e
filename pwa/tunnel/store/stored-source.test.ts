import { beforeEach, describe, expect, it, vi } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { ClientExchange, ResponseConsumer } from "../../../shared/http/client-exchange.ts";
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { HeaderList, RequestHead, ResponseHead, ScriptCookie } from "../../../shared/http/heads.ts";
import { isKnownUrl } from "../../../shared/http/known-urls.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { ConsumerLog } from "../../../shared/testing/exchange-rig.ts";
import type { Ask, PhoneRequest } from "../requests/response-source.ts";
import { DISK_TIME } from "./bounded.ts";
import type { ResponseStore } from "./database/response-store.ts";
import { isStoredExchange, type StoredExchange } from "./exchanges/stored-exchange.ts";
import { StoredSource } from "./stored-source.ts";
import type { StoredSourcePlatform } from "./stored-source-platform.ts";
import { FakeDisk } from "./testing/fake-disk.ts";

const SITE = "https://a.example";
const FRESH: HeaderList = [["cache-control", "max-age=60"]];
const STALE: HeaderList = [
  ["cache-control", "max-age=0"],
  ["etag", '"1"'],
];

interface OriginAnswer extends Partial<ResponseHead> {
  readonly body?: string;
  readonly fails?: RopewayError;
  /** What the head waits for. */
  readonly until?: Promise<void>;
}

const picture: RequestHead = {
  method: "GET",
  url: `${SITE}/x.png`,
  headers: [],
  destination: "image",
  mode: "no-cors",
  credentials: "include",
  redirect: "follow",
  referrer: `${SITE}/`,
  origin: SITE,
  topLevelOrigin: SITE,
};
const page: RequestHead = { ...picture, url: `${SITE}/`, destination: "document", mode: "navigate", origin: null };

let disk: FakeDisk<StoredExchange>;
let time: number;
let isAway: boolean;
let window: TestWindow;
let windows: TestWindow[] = [];

/** A window of the app, with an edge that answers as the test says. */
class TestWindow {
  readonly asked: RequestHead[] = [];
  readonly source: StoredSource;
  readonly store: ResponseStore<StoredExchange>;
  /** URLs of pages shown as they were stored, and how long ago that was. */
  readonly pages: string[] = [];
  /** Whether the database never opens. */
  isStuck = false;
  readonly timers = new Set<() => void>();
  /** What nobody waits for. */
  readonly later = new Set<() => void>();
  /** One for each request that follows, the last for all. */
  #answers: OriginAnswer[] = [];

  constructor() {
    this.store = disk.open({ bodyBytes: 2_000_000, bytes: 16_000_000, blockBytes: 256 * 1024 });
    const platform: StoredSourcePlatform = {
      now: () => time,
      setTimer: (task, delay) => {
        const timers = delay <= DISK_TIME ? this.timers : this.later;
        timers.add(task);
        return () => void timers.delete(task);
      },
      isAway: () => isAway,
      failure: (code, message) => new RopewayError(code, "stream", "library", message),
      onNewerPage: (url) => void this.pages.push(`newer ${url}`),
      onStoredPage: ({ url, storedAt }) => void this.pages.push(`${url} ${time - storedAt}`),
    };
    windows.push(this);
    this.source = new StoredSource(this.store, platform, (urls) => {
      for (const other of windows) if (other !== this) other.source.cookiesChanged(urls);
    });
  }

  readonly #edge: Ask = ({ head }, consumer) => {
    this.asked.push(head);
    const [next = {}] = this.#answers.length > 1 ? this.#answers.splice(0, 1) : this.#answers;
    const { body = "", fails, until, ...answer } = next;
    let isCancelled = false;
    const run = async (): Promise<void> => {
      await turns(1);
      await until;
      if (isCancelled) return;
      if (fails !== undefined) return consumer.onError(fails);
      consumer.onHead({
        status: 200,
        headers: [],
        url: head.url,
        redirected: false,
        coding: "identity",
        scriptCookies: [],
        ...answer,
      });
      for (let at = 0; at < body.length && !isCancelled; at += CHUNK) {
        await consumer.onBody(new TextEncoder().encode(body.slice(at, at + CHUNK)));
        await turns(4);
      }
      if (!isCancelled) consumer.onEnd();
    };
    void run();
    return {
      cancel: () => {
        isCancelled = true;
      },
    };
  };

  begin(
    change: Partial<RequestHead>,
    consumer: ResponseConsumer,
    answers: OriginAnswer | OriginAnswer[],
    push: PhoneRequest["push"] = null,
  ): ClientExchange {
    this.#answers = Array.isArray(answers) ? answers : [answers];
    return this.source.source({ head: { ...picture, ...change }, body: null, push }, consumer, this.#edge);
  }

  /** @returns what the page gets, and whether the edge was asked. */
  async get(
    change: Partial<RequestHead> = {},
    answers: OriginAnswer | OriginAnswer[] = {},
    push: PhoneRequest["push"] = null,
  ): Promise<ConsumerLog & { isAsked: boolean }> {
    if (!this.isStuck) await this.store.opened;
    const before = this.asked.length;
    const log = new ConsumerLog();
    const consumer: ResponseConsumer = {
      onHead: (head) => log.onHead(head),
      onBody: (chunk) => log.onBody(structuredClone(chunk, { transfer: [chunk.buffer] })),
      onEnd: () => log.onEnd(),
      onError: (error) => log.onError(error),
    };
    this.begin(change, consumer, answers, push);
    await log.over;
    return Object.assign(log, { isAsked: this.asked.length > before });
  }

  /** Waits until what was answered is stored, for other windows too. */
  async stored(change: Partial<RequestHead> = {}): Promise<void> {
    await this.get({ ...change, cache: "only-if-cached" });
  }

  /** A second passes as soon as somebody waits for the disk. */
  async waitForDisk(): Promise<void> {
    while (this.timers.size === 0) await turns(1);
    for (const task of this.timers) task();
    this.timers.clear();
  }

  get lastAsked(): RequestHead | undefined {
    return this.asked.at(-1);
  }
}

const CHUNK = 64 * 1024;

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

beforeEach(() => {
  disk = new FakeDisk(isStoredExchange);
  time = Date.UTC(2026, 0, 1);
  isAway = false;
  windows = [];
  window = new TestWindow();
});

describe("what is fresh", () => {
  it("is answered with no request, in this run and the next", async () => {
    expect((await window.get({}, { headers: FRESH, body: "first" })).text).toBe("first");
    time += 30_000;
    for (const each of [window, new TestWindow()]) {
      const again = await each.get({}, { body: "second" });
      expect([again.isAsked, again.text, again.head?.status]).toEqual([false, "first", 200]);
      expect(headerValue(again.head?.headers ?? [], "age")).toBe("30");
    }
    expect(window.source.stats).toMatchObject({ storeAnswers: 1, storeValidations: 0, storeBytes: 5 });
  });

  it("is asked for once it is stale", async () => {
    await window.get({}, { headers: FRESH, body: "first" });
    time += 61_000;
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
    time += 100_000;
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
    const database = await disk.raw();
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
    time += 61_000;
    expect(window.source.isAtHand(picture)).toBe(false);
  });

  it.each([
    ["back", -1],
    ["ahead", 1],
  ])("is asked for after the clock was set a year %s, and once more when it is right again", async (_, direction) => {
    const year = direction * 365 * 24 * 3_600_000;
    await window.get({}, { headers: FRESH, body: "first" });
    time += year;
    expect((await window.get({}, { headers: FRESH, body: "second" })).text).toBe("second");
    expect((await window.get()).isAsked).toBe(false);
    time -= year;
    expect((await window.get({}, { headers: FRESH, body: "third" })).text).toBe("third");
    expect((await window.get()).isAsked).toBe(false);
    expect(window.store.use.entries).toBe(1);
  });
});

describe("a page that was seen", () => {
  it("says with its navigation what need not be pushed, and then asks about what is stale of that", async () => {
    const secret: HeaderList = [["cache-control", "no-store"]];
    const stale: HeaderList = [
      ["cache-control", "max-age=0"],
      ["etag", '"1"'],
    ];
    await window.get(page, { headers: secret });
    for (const [name, headers] of Object.entries({ fresh: FRESH, stale, secret }))
      await window.get({ url: `${SITE}/${name}` }, { headers, body: "x".repeat(300) });
    for (const name of ["fresh", "stale"]) await window.stored({ url: `${SITE}/${name}` });
    const before = window.asked.length;
    await window.get(page, { headers: secret });
    await vi.waitFor(() => expect(window.asked.length).toBe(before + 2));
    const [navigation, question] = window.asked.slice(before);
    expect([navigation?.url, question?.url]).toEqual([page.url, `${SITE}/stale`]);
    const known = navigation?.known ?? new Set<number>();
    const isKnown = ["fresh", "stale", "secret"].map((name) => isKnownUrl(known, `${SITE}/${name}`));
    expect(isKnown).toEqual([true, true, false]);
  });

  it("says what other pages of its site used, where it was not seen itself", async () => {
    await window.get({ ...page, url: `${SITE}/other` }, { headers: FRESH });
    await window.get({}, { headers: FRESH, body: "x" });
    await window.stored();
    await window.get(page, { headers: FRESH });
    expect(isKnownUrl(window.asked.at(-1)?.known ?? new Set(), picture.url)).toBe(true);
  });

  it("says nothing where it is loaded anew", async () => {
    await window.get(page, { headers: FRESH });
    await window.get({}, { headers: FRESH, body: "x" });
    await window.stored();
    await window.get({ ...page, cache: "reload" }, { headers: FRESH });
    expect(window.asked.at(-1)?.known).toBe(undefined);
  });
});

describe("what is read", () => {
  const headers: HeaderList = [
    ["cache-control", "max-age=0, stale-while-revalidate=60"],
    ["etag", '"1"'],
  ];
  const body = "x".repeat(900_000);

  /** Gets the picture, and reads no further than its first piece until `goOn`. */
  function getSlowly(answers: OriginAnswer) {
    const log = new ConsumerLog();
    let goOn = (): void => {};
    const paced = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const onBody = (chunk: Uint8Array) => {
      void log.onBody(chunk);
      return log.bytes === chunk.length ? paced : undefined;
    };
    const exchange = window.begin(
      {},
      {
        onHead: (head) => log.onHead(head),
        onBody,
        onEnd: () => log.onEnd(),
        onError: (error) => log.onError(error),
      },
      answers,
    );
    return { log, goOn, cancel: () => exchange.cancel() };
  }

  it.each<[string, () => Promise<unknown>]>([
    ["replaced", () => vi.waitFor(async () => expect((await window.get()).text).toBe("new"))],
    ["replaced by another window", () => new TestWindow().get({ cache: "reload" }, { headers: FRESH, body: "new" })],
    ["forgotten", () => window.store.forget(() => true)],
    ["forgotten by another window", () => new TestWindow().store.forget(() => true)],
  ])("stays whole though it is %s meanwhile, and then goes", async (_, act) => {
    await window.get({}, { headers, body });
    await window.stored();
    time += 1000;
    const { log, goOn } = getSlowly({ headers: FRESH, body: "new" });
    await vi.waitFor(() => expect(log.bytes).toBeGreaterThan(0));
    await act();
    goOn();
    await log.over;
    expect([log.bytes, log.error]).toEqual([body.length, null]);
    const database = await disk.raw();
    await vi.waitFor(async () => expect(await database.count("blocks")).toBe(await database.count("entries")));
  });

  it("goes at once where its page gives up", async () => {
    await window.get({}, { headers, body });
    await window.stored();
    const { log, cancel } = getSlowly({ until: new Promise(() => {}) });
    await vi.waitFor(() => expect(log.bytes).toBeGreaterThan(0));
    await new TestWindow().store.forget(() => true);
    cancel();
    const database = await disk.raw();
    await vi.waitFor(async () => expect(await database.count("blocks")).toBe(0));
  });

  it("fails once where a part of it is broken, and is fetched from then on", async () => {
    await window.get({}, { headers: FRESH, body });
    await window.stored();
    const database = await disk.raw();
    const [, second] = await database.getAllKeys("blocks");
    await database.put("blocks", new Uint8Array(5), second);
    expect((await window.get()).error?.message).toMatch(/a part of it is gone/);
    expect((await window.get({}, { body: "good" })).text).toBe("good");
  });
});

describe("what is stale", () => {
  it.each<[string, string]>([
    ["cache-control", "no-store"],
    ["vary", "*"],
  ])("is kept no longer where a 304 says %s: %s", async (name, value) => {
    const old: HeaderList = [...STALE, ["last-modified", "Wed, 01 Jan 2020 00:00:00 GMT"]];
    await window.get({}, { headers: old, body: "first" });
    expect((await window.get({}, { status: 304, headers: [[name, value]] })).text).toBe("first");
    const again = await window.get({}, { body: "second" });
    expect([again.text, window.lastAsked?.headers]).toEqual(["second", []]);
  });

  it("costs a 304", async () => {
    await window.get({}, { headers: STALE, body: "first" });
    const again = await window.get({}, { status: 304, headers: [...FRESH, ["x-new", "1"]] });
    expect(window.lastAsked?.headers).toContainEqual(["if-none-match", '"1"']);
    expect([again.head?.status, again.text]).toEqual([200, "first"]);
    expect(again.head?.headers).toContainEqual(["x-new", "1"]);
    expect((await window.get()).isAsked).toBe(false);
    expect(window.source.stats.storeValidations).toBe(1);
  });

  it("is freshened by a HEAD that says the same, and dropped by one that says other", async () => {
    await window.get({}, { headers: STALE, body: "first" });
    await window.get({ method: "HEAD" }, { headers: [...FRESH, ["etag", '"1"']] });
    expect((await window.get()).isAsked).toBe(false);
    await window.get({ method: "HEAD" }, { headers: [...FRESH, ["etag", '"2"']] });
    expect((await window.get({}, { body: "second" })).text).toBe("second");
    expect(window.lastAsked?.headers).toEqual([]);
  });

  it("is replaced by what is new", async () => {
    await window.get({}, { headers: STALE, body: "first" });
    expect((await window.get({}, { headers: FRESH, body: "second" })).text).toBe("second");
    expect((await window.get({}, { body: "third" })).text).toBe("second");
  });

  it("is fetched whole where the condition met a redirect, or the body is gone", async () => {
    await window.get({}, { headers: STALE, body: "first" });
    await window.stored();
    await (await disk.raw()).clear("blocks");
    expect((await window.get({}, [{ status: 304 }, { headers: STALE, body: "second" }])).text).toBe("second");
    const moved = { status: 304, redirected: true, url: `${SITE}/y` };
    expect((await window.get({}, [moved, { body: "third" }])).text).toBe("third");
  });

  describe("with a body that came again", () => {
    const body = "as before ".repeat(100);
    const name = { hash: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/), size: 1000 };
    const noValidator: HeaderList = [["cache-control", "max-age=0"]];
    const cdn = { url: "https://cdn.example/p.png" };

    it.each([
      ["its own origin", {}],
      ["another origin", cdn],
      ["a document", page],
    ])("of %s is given under the head that came, with nothing of the body sent", async (_, change) => {
      await window.get(change, { headers: noValidator, body });
      const reference = { headers: [...FRESH, ["x-now", "2"]] as HeaderList, isReference: true };
      const got = await window.get(change, reference);
      expect(window.lastAsked?.stored).toEqual(name);
      expect([got.text, got.head?.isReference]).toEqual([body, undefined]);
      expect(headerValue(got.head?.headers ?? [], "x-now")).toBe("2");
      expect(window.source.stats).toMatchObject({ storeReferences: 1, storeReferencedBytes: 1000 });
      expect((await window.get(change)).isAsked).toBe(false);
    });

    it("of another origin is asked about by the validator that its page is not shown", async () => {
      const note: HeaderList = [...noValidator, ["ropeway-etag", '"1"'], ["ropeway-age", "9"]];
      await window.get(cdn, { headers: note, body: "x" });
      const got = await window.get(cdn, { status: 304, headers: FRESH });
      expect(window.lastAsked?.stored).toEqual({ ...name, size: 1, validator: '"1"' });
      expect(window.lastAsked?.headers).toEqual([]);
      expect([got.text, got.head?.status]).toEqual(["x", 200]);
      expect((await window.get(cdn)).isAsked).toBe(false);
      time += 61_000;
      await window.get(cdn, { headers: [...noValidator, ["ropeway-last-modified", "Sat"]], body });
      expect(window.lastAsked?.stored?.validator).toBe('"1"');
      await window.get(cdn, { headers: noValidator, body });
      expect(window.lastAsked?.stored).toEqual({ ...name, validator: "Sat" });
    });

    it("under a new name is given from the old one, and stored under its own", async () => {
      const script = (name: string) => ({ url: `${SITE}/${name}`, destination: "script" }) as const;
      await window.get(script("app.123.js"), { headers: FRESH, body });
      await window.stored(script("app.123.js"));
      for (const renamed of ["app.4f6.js", "app.4f6.js?v=2"]) {
        const got = await window.get(script(renamed), { headers: FRESH, isReference: true });
        expect(window.lastAsked?.stored).toEqual(name);
        expect([got.text, got.head?.url]).toEqual([body, `${SITE}/${renamed}`]);
        if (renamed === "app.4f6.js") {
          await window.stored(script(renamed));
          expect((await window.get(script(renamed))).isAsked).toBe(false);
          await window.store.remove((await window.store.index(`${SITE} ${SITE}`)).find(`${SITE}/app.123.js`));
        }
      }
    });

    it("is named under no other name where more than one may be meant, and for nobody else's", async () => {
      const script = (name: string, from = SITE) => ({ url: `${from}/${name}`, destination: "script" }) as const;
      await window.get(script("app.1.js"), { headers: FRESH, body });
      await window.get(script("app.2.js"), { headers: FRESH, body });
      const others = [
        script("app.3.js"),
        script("lib.3.js"),
        script("app.3.js", "https://cdn.example"),
        { url: `${SITE}/app.3.js` },
      ];
      for (const other of others) {
        await window.get(other, { headers: [["cache-control", "no-store"]], body });
        expect(window.lastAsked).not.toHaveProperty("stored");
      }
      const elsewhere = { ...script("y.1.js", "https://cdn.example"), credentials: "omit" } as const;
      await window.get(elsewhere, { headers: FRESH, body });
      await window.get({ ...elsewhere, url: "https://cdn.example/y.2.js" }, { headers: FRESH, body });
      expect(window.lastAsked).not.toHaveProperty("stored");
    });

    it("goes from the store where it is not to be kept, and to the page all the same", async () => {
      await window.get({}, { headers: noValidator, body });
      const reference = { headers: [["cache-control", "no-store"]] as HeaderList, isReference: true };
      expect((await window.get({}, reference)).text).toBe(body);
      await window.get({}, { body: "new" });
      expect(window.lastAsked).not.toHaveProperty("stored");
    });

    it("is asked for whole where the phone has lost it meanwhile", async () => {
      await window.get({}, { headers: noValidator, body });
      await window.stored();
      await (await disk.raw()).clear("blocks");
      const got = await window.get({}, [{ isReference: true }, { body: "whole" }]);
      expect([got.text, window.lastAsked?.stored]).toEqual(["whole", undefined]);
    });

    it("is not named where it was another the last time, is short, or a part of it is asked for", async () => {
      await window.get({}, { headers: noValidator, body });
      await window.get({}, { headers: noValidator, body: body.toUpperCase() });
      expect(window.lastAsked?.stored).toEqual(name);
      expect((await window.get({}, { headers: noValidator, body })).text).toBe(body);
      expect(window.lastAsked).not.toHaveProperty("stored");
      await window.get({}, { headers: noValidator, body: "short" });
      expect(window.lastAsked?.stored).toEqual(name);
      for (const headers of [[], [["range", "bytes=0-1"]]] as HeaderList[]) {
        await window.get({ headers }, { headers: noValidator, body });
        expect(window.lastAsked).not.toHaveProperty("stored");
      }
    });

    it("is named for its own page and credentials alone", async () => {
      await window.get(cdn, { headers: noValidator, body });
      for (const change of [
        { origin: "https://b.example" },
        { topLevelOrigin: "https://b.example" },
        { credentials: "omit" },
      ] as const) {
        await window.get({ ...cdn, ...change }, { headers: noValidator, body });
        expect(window.lastAsked).not.toHaveProperty("stored");
      }
    });
  });

  it("is never made conditional across origins, where that would need a preflight", async () => {
    const font = {
      url: "https://cdn.example/f",
      mode: "cors",
      credentials: "same-origin",
      destination: "font",
    } as const;
    await window.get(font, { headers: STALE, body: "first" });
    expect((await window.get(font, { body: "second" })).text).toBe("second");
    expect(window.lastAsked?.headers).toEqual([]);
  });

  it("is shown and checked beside, where its origin lets it be", async () => {
    const headers: HeaderList = [
      ["cache-control", "max-age=0, stale-while-revalidate=60"],
      ["etag", '"1"'],
    ];
    await window.get({}, { headers, body: "first" });
    time += 1000;
    const shown = await window.get({}, { headers: FRESH, body: "second" });
    expect([shown.isAsked, shown.text]).toEqual([true, "first"]);
    await vi.waitFor(async () => expect((await window.get({}, { body: "third" })).text).toBe("second"), 20_000);
  });

  it("hides an origin's failure, where that lets it", async () => {
    await window.get({}, { headers: [["cache-control", "max-age=0, stale-if-error=60"]], body: "first" });
    const shown = await window.get({}, { status: 503, body: "down" });
    expect([shown.head?.status, shown.text]).toEqual([200, "first"]);
  });

  it("fails as the network does", async () => {
    await window.get({}, { headers: STALE, body: "first" });
    const fails = new RopewayError(ErrorCode.CONNECTION_RESET, "stream", "origin", "Cannot load: reset");
    expect((await window.get({}, { fails })).error).toBe(fails);
  });
});

describe("a document", () => {
  const cookie: ScriptCookie = {
    name: "a",
    value: "1",
    domain: "a.example",
    hostOnly: true,
    path: "/",
    secure: false,
    expires: null,
  };

  it("comes with the cookies that its scripts may read now", async () => {
    await window.get(page, { headers: FRESH, body: "<p>", scriptCookies: [cookie] });
    await window.get({}, { scriptCookies: [{ ...cookie, name: "b" }] });
    await window.get({
      url: EdgeRequest.SCRIPT_COOKIE,
      method: "PUT",
      headers: [
        ["document-url", `${SITE}/`],
        ["cookie-string", encodeURIComponent("c=3")],
      ],
    });
    const again = await window.get(page, { body: "new" });
    expect([again.isAsked, again.text]).toEqual([false, "<p>"]);
    expect(again.head?.scriptCookies.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  });

  it("is asked about where its cookies are not known", async () => {
    await window.get(page, { headers: [...FRESH, ["etag", '"1"']], body: "<p>" });
    await window.stored(page);
    const other = new TestWindow();
    const again = await other.get(page, { status: 304, scriptCookies: [cookie] });
    expect([again.isAsked, again.text, again.head?.scriptCookies]).toEqual([true, "<p>", [cookie]]);
    expect(other.lastAsked?.headers).toEqual([["if-none-match", '"1"']]);
    expect((await other.get(page)).isAsked).toBe(false);
  });

  it("has without a link the cookies of when it was last confirmed", async () => {
    await window.get(page, { headers: STALE, body: "<p>", scriptCookies: [cookie] });
    await window.get(page, { status: 304, scriptCookies: [{ ...cookie, value: "2" }] });
    await window.stored(page);
    isAway = true;
    const other = new TestWindow();
    const fails = new RopewayError(ErrorCode.LINK_LOST, "session", "library", "Cannot reach the edge: try again");
    const shown = await other.get(page, { fails });
    expect(shown.head?.scriptCookies).toEqual([{ ...cookie, value: "2" }]);
  });

  it("is asked about after a request that may have set cookies of its host, of which nobody told", async () => {
    await window.get(page, { headers: FRESH, body: "<p>" });
    await window.get({ url: `${SITE}/api`, mode: "cors", origin: "https://b.example" });
    expect((await window.get(page)).isAsked).toBe(true);
  });

  describe("is asked about after", () => {
    const login: Partial<RequestHead> = { method: "POST", url: `${SITE}/login`, mode: "cors", destination: "" };
    const c: Partial<RequestHead> = { ...page, url: "https://c.example/", topLevelOrigin: "https://c.example" };
    const fails = new RopewayError(ErrorCode.CONNECTION_RESET, "stream", "origin", "Cannot load: reset");

    beforeEach(async () => {
      await window.get(page, { headers: FRESH, body: "<p>", scriptCookies: [cookie] });
      expect((await window.get(page)).isAsked).toBe(false);
    });

    it.each<[string, () => unknown]>([
      ["a request that failed", () => window.get(login, { fails })],
      [
        "one that was cancelled",
        () => {
          const request: PhoneRequest = { head: { ...picture, ...login }, body: null, push: null };
          window.source.source(request, new ConsumerLog(), () => ({ cancel() {} })).cancel();
        },
      ],
      ["one of another window", () => new TestWindow().get(login, { scriptCookies: [cookie] })],
      ["a page of another window", () => new TestWindow().get({ ...page, url: `${SITE}/in` })],
      [
        "a redirect that may have led over it",
        () => window.get(c, { redirected: true, url: "https://c.example/done" }),
      ],
    ])("%s", async (_, act) => {
      await act();
      expect((await window.get(page)).isAsked).toBe(true);
    });
  });

  it("is not that of a link from elsewhere, with which other cookies go", async () => {
    await window.get(page, { headers: FRESH, body: "<p>" });
    expect((await window.get({ ...page, origin: "https://b.example" }, { body: "other" })).isAsked).toBe(true);
  });
});

describe("while the link is away", () => {
  const lost = new RopewayError(ErrorCode.LINK_LOST, "session", "library", "Cannot reach the edge: try again");
  const never = new Promise<void>(() => {});

  beforeEach(async () => {
    await window.get(page, { headers: [["etag", '"1"']], body: "<p>", scriptCookies: [] });
    await window.get({}, { headers: STALE, body: "first" });
    await window.get(
      { url: `${SITE}/strict` },
      { headers: [["cache-control", "max-age=0, must-revalidate"]], body: "x" },
    );
    time += 5000;
  });

  it("shows what is stored at once, and says how old its page is", async () => {
    isAway = true;
    expect((await window.get(page, { until: never })).text).toBe("<p>");
    expect((await window.get({}, { until: never })).text).toBe("first");
    expect((await window.get({ cache: "no-cache" }, { until: never })).text).toBe("first");
    expect(window.pages).toEqual([`${SITE}/ 5000`]);
  });

  it("says of a fresh page how old it is, too", async () => {
    const fresh = { ...page, url: `${SITE}/fresh` };
    await window.get(fresh, { headers: FRESH, body: "<p>", scriptCookies: [] });
    time += 1000;
    expect((await window.get(fresh)).isAsked).toBe(false);
    expect(window.pages).toEqual([]);
    isAway = true;
    expect((await window.get(fresh)).isAsked).toBe(false);
    expect(window.pages).toEqual([`${SITE}/fresh 1000`]);
  });

  it("shows it when the link goes, also to a window that has just opened", async () => {
    const other = new TestWindow();
    for (const change of [{}, page]) await window.stored(change);
    for (const each of [window, other]) {
      const before = each.asked.length;
      const shown = each.get({}, { until: never });
      while (each.asked.length === before) await turns(1);
      each.source.linkLeft();
      expect((await shown).text).toBe("first");
      expect((await each.get(page, { fails: lost })).text).toBe("<p>");
    }
  });

  it("shows a page and all that is in it as they were, whatever they say of being asked about", async () => {
    for (const directive of ["no-cache", "must-revalidate", "max-age=0, must-revalidate"]) {
      isAway = false;
      const strict = { ...page, url: `${SITE}/${directive}` };
      await window.get(strict, { headers: [["cache-control", directive]], body: directive, scriptCookies: [] });
      isAway = true;
      expect((await window.get(strict, { until: never })).text).toBe(directive);
      expect((await window.get({ url: `${SITE}/strict` }, { until: never })).text).toBe("x");
      // Of the page that came meanwhile it is not known.
      isAway = false;
      await window.get(page, { headers: STALE, body: "<p>", scriptCookies: [] });
      isAway = true;
      expect((await window.get({ url: `${SITE}/strict` }, { fails: lost })).error).toBe(lost);
    }
  });

  it("shows a page that the link left while it was asked for, with all that is in it", async () => {
    for (const change of [page, {}]) await window.stored(change);
    const shown = window.get(page, { until: never });
    await turns(3);
    isAway = true;
    window.source.linkLeft();
    expect((await shown).text).toBe("<p>");
    expect((await window.get({ url: `${SITE}/strict` }, { until: never })).text).toBe("x");
  });

  it("shows what a redirect led to, at the one address and at the other", async () => {
    const www = "https://www.a.example/home";
    const moved = { url: www, redirected: true, headers: STALE, scriptCookies: [] };
    await window.get({ ...page, url: `${SITE}/old` }, { ...moved, body: "home" });
    await window.get({ url: `${SITE}/latest.png` }, { ...moved, url: `${SITE}/5.png`, body: "five" });
    time += 1000;
    // With the link up none of it is used.
    const home = { ...page, url: www, topLevelOrigin: new URL(www).origin };
    expect((await window.get(home, { headers: STALE, body: "home, asked for" })).isAsked).toBe(true);
    expect((await window.get({ url: `${SITE}/latest.png` }, { ...moved, body: "five" })).isAsked).toBe(true);
    isAway = true;
    const shown = await window.get({ ...page, url: `${SITE}/old` }, { until: never });
    expect([shown.text, shown.head?.url, shown.head?.redirected]).toEqual(["home, asked for", www, true]);
    expect((await window.get(home, { until: never })).head).toMatchObject({ url: www, redirected: false });
    expect(window.pages.at(-1)).toBe(`${www} 0`);
  });

  it("shows where the last redirect led, and follows none in circles", async () => {
    const moved = { redirected: true, headers: STALE, scriptCookies: [] };
    await window.get({ ...page, url: `${SITE}/a` }, { ...moved, url: `${SITE}/b`, body: "first" });
    await window.get({ ...page, url: `${SITE}/b` }, { ...moved, url: `${SITE}/a`, body: "second" });
    isAway = true;
    for (const [from, to] of ["ab", "ba"]) {
      const shown = await window.get({ ...page, url: `${SITE}/${from}` }, { until: never });
      expect(shown.head?.url).toMatch(new RegExp(`^${SITE}/[${from}${to}]$`));
    }
  });

  it("shows a page wherever the person comes from", async () => {
    const linked = { ...page, url: `${SITE}/linked`, origin: "https://b.example" };
    await window.get(linked, { headers: STALE, body: "linked", scriptCookies: [] });
    isAway = true;
    expect((await window.get({ ...linked, origin: null }, { until: never })).text).toBe("linked");
    expect((await window.get({ ...linked, destination: "iframe", origin: SITE }, { fails: lost })).error).toBe(lost);
  });

  it("fails where nothing is stored, or that may not be shown so, or a reload asks for what is new", async () => {
    isAway = true;
    const changes: Partial<RequestHead>[] = [
      { url: `${SITE}/none` },
      { url: `${SITE}/strict` },
      { cache: "reload" },
      { method: "POST" },
    ];
    for (const change of changes) expect((await window.get(change, { fails: lost })).error).toBe(lost);
  });

  it("goes on with what has begun to come", async () => {
    const shown = await window.get({}, { headers: FRESH, body: "a".repeat(200_000) });
    window.source.linkLeft();
    expect(shown.bytes).toBe(200_000);
  });
});

describe("where the disk never answers", () => {
  beforeEach(() => {
    disk = new FakeDisk(isStoredExchange);
    disk.opening = new Promise(() => {});
    window = new TestWindow();
    window.isStuck = true;
  });

  it("the network does, each time", async () => {
    for (const body of ["first", "second"]) {
      expect((await window.get({}, { headers: FRESH, body })).text).toBe(body);
      await window.get({ method: "POST" }, { body: "done" });
    }
    expect(window.timers.size).toBe(0);
  });

  it("the edge still hears that everything is to go", async () => {
    const cleared = window.get({ method: "DELETE", url: EdgeRequest.SITE_DATA }, { status: 204 });
    await window.waitForDisk();
    await cleared;
    expect(window.lastAsked?.url).toBe(EdgeRequest.SITE_DATA);
  });

  it("a page hears that the link was lost", async () => {
    const fails = new RopewayError(ErrorCode.LINK_LOST, "session", "library", "Cannot reach the edge: try again");
    const failed = window.get({}, { fails });
    await window.waitForDisk();
    expect((await failed).error).toBe(fails);
  });

  it("a response that cannot be read in time is fetched", async () => {
    disk.opening = Promise.resolve();
    window = new TestWindow();
    await window.get({}, { headers: FRESH, body: "first" });
    await window.stored();
    vi.spyOn(window.store, "read").mockReturnValue(new Promise(() => {}));
    const fetched = window.get({}, { body: "second" });
    await window.waitForDisk();
    expect((await fetched).text).toBe("second");
  });
});

describe("what is dropped", () => {
  it("is what an unsafe method may have changed", async () => {
    await window.get({}, { headers: FRESH, body: "first" });
    await window.get({ method: "POST" }, { body: "done" });
    expect((await window.get({}, { headers: FRESH, body: "second" })).isAsked).toBe(true);
    await window.get({ method: "POST" }, { status: 500 });
    expect((await window.get({}, {})).isAsked).toBe(false);
  });

  it("is where an unsafe method was redirected to", async () => {
    await window.get({ url: `${SITE}/list` }, { headers: FRESH, body: "old" });
    await window.get({ method: "POST", url: `${SITE}/add` }, { redirected: true, url: `${SITE}/list`, body: "new" });
    expect((await window.get({ url: `${SITE}/list` }, { body: "asked" })).text).toBe("asked");
  });

  it("is what Clear-Site-Data says", async () => {
    await window.get({}, { headers: FRESH, body: "first" });
    await window.get({ url: `${SITE}/logout` }, { headers: [["clear-site-data", '"cache"']] });
    expect((await window.get({}, { body: "second" })).isAsked).toBe(true);
  });

  it("is what a redirect that the edge followed says", async () => {
    await window.get({}, { headers: FRESH, body: "first" });
    const elsewhere = { redirected: true, url: "https://elsewhere.example/" };
    await window.get({ url: `${SITE}/logout` }, { ...elsewhere, headers: [["ropeway-cleared", SITE]] });
    expect((await window.get({}, { body: "second" })).isAsked).toBe(true);
  });

  it("is everything, before the edge is told, where the person asks for it", async () => {
    const other = new TestWindow();
    await window.get({}, { headers: FRESH, body: "first" });
    await window.stored();
    await other.get();
    await window.get({ method: "DELETE", url: EdgeRequest.SITE_DATA }, { status: 204 });
    expect(window.store.use).toEqual({ bytes: 0, entries: 0 });
    for (const each of [window, other]) expect((await each.get({}, { body: "second" })).isAsked).toBe(true);
  });

  it("is one site where the person asks for that, and what is under way of it", async () => {
    const own: Partial<RequestHead> = { topLevelOrigin: "https://own.example", origin: "https://own.example" };
    await window.get({}, { headers: FRESH, body: "first" });
    await window.get(own, { headers: FRESH, body: "own" });
    await window.stored();
    await window.stored(own);
    const until = Promise.withResolvers<void>();
    const late = window.get({ url: `${SITE}/late` }, { headers: FRESH, body: "late", until: until.promise });
    await window.get(
      { method: "DELETE", url: EdgeRequest.SITE, headers: [["host-name", "a.example"]] },
      { status: 204 },
    );
    expect(window.lastAsked?.url).toBe(EdgeRequest.SITE);
    until.resolve();
    await late;
    await window.stored();
    expect((await window.get({}, { body: "second" })).isAsked).toBe(true);
    expect((await window.get({ url: `${SITE}/late` }, { body: "second" })).isAsked).toBe(true);
    expect((await window.get(own, { body: "second" })).isAsked).toBe(false);
  });

  describe("even where it cannot be taken out", () => {
    const clearing: Partial<RequestHead> = { method: "DELETE", url: EdgeRequest.SITE_DATA };

    beforeEach(async () => {
      await window.get({}, { headers: FRESH, body: "private" });
      await window.stored();
    });

    const full = () => {
      throw new DOMException("Full", "QuotaExceededError");
    };

    it.each<[string, () => Promise<unknown>]>([
      ["since nothing can be written", async () => void Object.assign(disk, { onPut: full })],
      ["since a later release has closed the database", async () => disk.upgrade(3)],
    ])("%s", async (_, spoil) => {
      const other = new TestWindow();
      await other.get();
      await spoil();
      expect((await window.get(clearing, { status: 204 })).head?.status).toBe(204);
      disk.onPut = () => {};
      for (const each of [window, other, new TestWindow()]) {
        const url = `${SITE}/new-${disk.windows.length}`;
        expect((await each.get({}, { body: "second" })).isAsked).toBe(true);
        await each.get({ url }, { headers: FRESH, body: "third" });
        expect((await each.get({ url })).isAsked).toBe(false);
      }
    });

    it("since a later release has the database", async () => {
      await disk.upgrade(3);
      const late = new TestWindow();
      expect((await late.get(clearing, { status: 204 })).head?.status).toBe(204);
      expect((await (await disk.raw()).getAll("entries")).length).toBe(0);
    });

    it("or says what to do, and tells the edge all the same", async () => {
      disk.onPut = full;
      disk.onDelete = full;
      const { error, head } = await window.get(clearing, { status: 204 });
      expect([head, error?.message]).toEqual([null, expect.stringMatching(/then clear site data again$/)]);
      expect(window.lastAsked?.url).toBe(EdgeRequest.SITE_DATA);
    });
  });
});

describe("a document that was visited", () => {
  const urlsAsked = (from: TestWindow, count: number) => from.asked.slice(-count).map(({ url }) => url);
  const own = (name: string) => ({ url: `${SITE}/${name}.png` });

  async function visit(): Promise<void> {
    await window.get(page, { headers: [["cache-control", "no-store"]] });
    for (const name of ["a", "b"]) await window.get(own(name), { headers: STALE, body: name });
    await window.get(own("fresh"), { headers: FRESH, body: "fresh" });
    await window.stored(own("fresh"));
  }

  const asks = (from: TestWindow, count: number) => vi.waitFor(() => expect(from.asked).toHaveLength(count), 20_000);

  it("has what its page will want asked about with it, and the page is not kept waiting for more", async () => {
    await visit();
    await window.get(page, [{ body: "<p>" }, { status: 304 }]);
    await asks(window, 7);
    expect(urlsAsked(window, 3).sort()).toEqual([page.url, `${SITE}/a.png`, `${SITE}/b.png`]);
    for (const name of ["a", "b"]) {
      const got = await window.get(own(name));
      expect([got.isAsked, got.text, got.head?.status]).toEqual([false, name, 200]);
    }
    expect(window.source.stats).toMatchObject({ storeAsked: 2, storeAskedUsed: 2 });
  });

  it.each([
    ["another page was opened", () => window.get({ ...page, url: `${SITE}/other` })],
    ["a little time has passed", async () => window.later.forEach((task) => void task())],
  ])("has it in the next run of the app, too, where %s before that", async (_, happens) => {
    await visit();
    await happens();
    const kept = () => window.store.visit(`${SITE} ${SITE}`, page.url);
    await vi.waitFor(async () => expect(await kept()).toBeDefined(), 20_000);
    const next = new TestWindow();
    await next.get(page, [{ body: "<p>" }, { status: 304 }]);
    await asks(next, 3);
    expect(urlsAsked(next, 3).sort()).toEqual([page.url, `${SITE}/a.png`, `${SITE}/b.png`]);
  });

  it("shows what came in place of what was stored", async () => {
    await visit();
    await window.get(page, [{ body: "<p>" }, { headers: STALE, body: "new" }]);
    await asks(window, 7);
    const got = await window.get(own("a"));
    expect([got.isAsked, got.text]).toEqual([false, "new"]);
  });

  it("is asked about once: a page that asks again is heard", async () => {
    await visit();
    await window.get(page, [{ body: "<p>" }, { status: 304 }]);
    await asks(window, 7);
    await window.get(own("a"));
    expect((await window.get(own("a"), { status: 304 })).isAsked).toBe(true);
    time += 61_000;
    expect((await window.get(own("b"), { status: 304 })).isAsked).toBe(true);
  });

  it("is as any other on reload, and once the person has it forgotten", async () => {
    await visit();
    await window.get({ ...page, cache: "no-cache" });
    expect(urlsAsked(window, 1)).toEqual([page.url]);
    await visit();
    await window.get({ method: "DELETE", url: EdgeRequest.SITE_DATA }, { status: 204 });
    await window.get(page);
    expect(urlsAsked(window, 1)).toEqual([page.url]);
  });
});

describe("another site", () => {
  const EVIL = "https://evil.example";
  const secret = "bank's bytes ".repeat(6000);
  const cdn = { url: "https://cdn.example/x.js", destination: "script" } as const;
  const frame: Partial<RequestHead> = { ...page, destination: "iframe", topLevelOrigin: EVIL, origin: EVIL };
  const askers: readonly Partial<RequestHead>[] = [
    { origin: EVIL, topLevelOrigin: EVIL },
    // A frame of the bank's page, and the bank's page in a frame.
    { origin: EVIL, topLevelOrigin: SITE },
    { origin: SITE, topLevelOrigin: EVIL },
    { origin: null, topLevelOrigin: SITE },
  ];
  const asked: readonly Partial<RequestHead>[] = [
    {},
    cdn,
    { mode: "cors", credentials: "omit" },
    { ...cdn, mode: "cors", credentials: "omit" },
    { headers: [["range", "bytes=0-9"]] },
    { destination: "video", headers: [["if-none-match", '"1"']] },
  ];

  /** The bank's page as the person had it yesterday: all of it is stored, and a visit noted. */
  async function bank(): Promise<void> {
    await window.get(page, { headers: [...FRESH, ["etag", '"1"']], body: secret });
    await window.get({}, { headers: STALE, body: secret });
    await window.get(cdn, { headers: FRESH, body: secret });
    for (const change of [page, {}, cdn]) await window.stored(change);
    window.asked.length = 0;
  }

  /** All that a site may see, and what it makes the phone say to the edge, in this window or a new one. */
  async function probe(change: Partial<RequestHead>, from: TestWindow, body = secret): Promise<unknown> {
    const before = from.asked.length;
    const got = await from.get(change, { headers: [...FRESH, ["etag", '"1"']], body });
    const { events, head, chunks, error, isAsked } = got;
    const sizes = chunks.map((chunk) => chunk.length);
    return { events, head, sizes, error: error?.message ?? null, isAsked, sent: from.asked.slice(before) };
  }

  async function probeAll(isNew: boolean): Promise<unknown[]> {
    const from = isNew ? new TestWindow() : window;
    const seen: unknown[] = [await probe(frame, from)];
    for (const asker of askers) {
      for (const request of asked) {
        for (const cache of ["only-if-cached", "force-cache", "no-cache", "reload"] as const) {
          seen.push(await probe({ ...request, ...asker, cache }, from));
        }
      }
    }
    return seen;
  }

  it.each([false, true])("sees and causes the same as with an empty store (in a new window: %j)", async (isNew) => {
    const empty = await probeAll(isNew);
    disk = new FakeDisk(isStoredExchange);
    windows = [];
    window = new TestWindow();
    await bank();
    expect(await probeAll(isNew)).toEqual(empty);
  });

  it("learns nothing by serving what it guesses to be stored", async () => {
    const guess: Partial<RequestHead> = { url: `${EVIL}/guess`, origin: EVIL, topLevelOrigin: SITE };
    const guessing = async (body: string) => {
      const first = await probe(guess, window, body);
      await window.stored(guess);
      time += 61_000;
      return [first, await probe(guess, window, body), await probe({ ...guess, cache: "reload" }, window, body)];
    };
    const wrong = await guessing(secret.replace("bank", "tank"));
    disk = new FakeDisk(isStoredExchange);
    time = Date.UTC(2026, 0, 1);
    windows = [];
    window = new TestWindow();
    await bank();
    const right = await guessing(secret);
    expect(JSON.stringify(right).replace(/"stored":\{[^}]*\}/g, "")).toBe(
      JSON.stringify(wrong).replace(/"stored":\{[^}]*\}/g, ""),
    );
  });

  it("finds nothing once all was forgotten, nor does anybody on the disk", async () => {
    await bank();
    await window.get({ method: "DELETE", url: EdgeRequest.SITE_DATA }, { status: 204 });
    const database = await disk.raw();
    for (const name of ["entries", "blocks", "partitions", "visits"] as const) {
      expect(await database.count(name)).toBe(0);
    }
    expect(JSON.stringify(await database.getAll("totals"))).not.toContain("example");
    for (const change of [page, {}, cdn]) expect((await window.get(change, { body: "new" })).text).toBe("new");
  });
});

describe("a page that is shown as it was stored", () => {
  /** Shows what was stored of it ten minutes ago, with nobody asked before, and then checks. */
  async function show(headers: HeaderList, then: OriginAnswer): Promise<readonly string[]> {
    await window.get(page, { headers, body: "first" });
    await window.stored(page);
    time += 600_000;
    const shown = await window.get(page, then);
    expect(shown.text).toBe("first");
    for (const task of window.later) task();
    await window.stored(page);
    await turns(200);
    return window.pages;
  }
  const guessed: HeaderList = [
    ["last-modified", new Date(0).toUTCString()],
    ["etag", '"1"'],
  ];
  const usable: HeaderList = [
    ["cache-control", "max-age=60, stale-while-revalidate=6000"],
    ["etag", '"1"'],
  ];

  it.each([
    ["guessed to be fresh", guessed],
    ["usable while it is asked about", usable],
  ])("says that there is another version, where it is %s", async (_, headers) => {
    await show(headers, { headers, body: "second" });
    await vi.waitFor(() => expect(window.pages).toEqual([`newer ${SITE}/`]), 20_000);
  });

  it.each([
    ["it holds", guessed, { status: 304 }],
    ["the same body came again", guessed, { headers: guessed, body: "first" }],
    ["its origin fails", usable, { status: 500, body: "down" }],
    [
      "another may not be stored",
      guessed,
      { headers: [["cache-control", "no-store"]], body: "second" } as OriginAnswer,
    ],
  ] as const)("says nothing where %s", async (_, headers, then) => {
    expect(await show(headers, then as OriginAnswer)).toEqual([]);
  });

  it("counts once what the page got, though it was confirmed beside", async () => {
    await show(guessed, { status: 304 });
    await vi.waitFor(() => expect(window.source.stats.storeValidations).toBe(1), 20_000);
    const { storeAnswers, storeBytes } = window.source.stats;
    expect(storeBytes).toBe(Number(storeAnswers) * "first".length);
  });

  it("is not asked about where its origin said for how long it is fresh", async () => {
    const headers: HeaderList = [["cache-control", "max-age=6000"], ...guessed];
    expect(await show(headers, { body: "second" })).toEqual([]);
    expect(window.asked).toHaveLength(1);
  });

  it("is not asked about while the link is away", async () => {
    isAway = true;
    await show(guessed, { body: "second" });
    expect(window.asked).toHaveLength(1);
  });
});
