import { beforeEach, describe, expect, it, vi } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { HeaderList } from "../../../shared/http/heads.ts";
import { turns } from "./testing/stored-bodies.ts";
import { FRESH, type OriginAnswer, page, SITE, STALE, TestPhone, type TestWindow } from "./testing/stored-windows.ts";

let phone: TestPhone;
let window: TestWindow;

beforeEach(() => {
  phone = new TestPhone();
  window = phone.open();
});

const failure = (code: keyof typeof ErrorCode) =>
  new RopewayError(ErrorCode[code], "stream", "peer", "Cannot load: as the test says");

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

  it("is another page where the person wants to save data, if it says so", async () => {
    const varying: HeaderList = [...FRESH, ["vary", "Save-Data"]];
    await window.get({}, { headers: varying, body: "large" });
    expect((await window.get()).isAsked).toBe(false);
    phone.savesData = true;
    expect((await window.get({}, { headers: varying, body: "small" })).text).toBe("small");
    expect(await window.get()).toMatchObject({ isAsked: false, text: "small" });
    phone.savesData = false;
    expect(await window.get()).toMatchObject({ isAsked: false, text: "large" });
  });

  it("is another page in another language of the phone, if it says so", async () => {
    const varying: HeaderList = [...FRESH, ["vary", "Accept-Language"]];
    await window.get({}, { headers: varying, body: "hello" });
    expect((await window.get()).isAsked).toBe(false);
    phone.acceptLanguage = "fr";
    expect((await window.get({}, { headers: varying, body: "bonjour" })).text).toBe("bonjour");
    expect(await window.get()).toMatchObject({ isAsked: false, text: "bonjour" });
    phone.acceptLanguage = "en";
    expect(await window.get()).toMatchObject({ isAsked: false, text: "hello" });
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

  it("keeps its reason phrase, whatever a 304 says", async () => {
    await window.get({}, { reason: "Fine", headers: STALE, body: "first" });
    const again = await window.get({}, { status: 304, reason: "Still so", headers: FRESH });
    expect([again.head?.status, again.head?.reason]).toEqual([200, "Fine"]);
    expect(await window.get()).toMatchObject({ isAsked: false, head: { status: 200, reason: "Fine" } });
    const part = await window.get({ headers: [["range", "bytes=1-2"]] });
    expect([part.head?.status, part.head?.reason]).toEqual([206, undefined]);
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
    await (await phone.disk.raw()).clear("blocks");
    expect((await window.get({}, [{ status: 304 }, { headers: STALE, body: "second" }])).text).toBe("second");
    const moved = { status: 304, redirected: true, url: `${SITE}/y` };
    expect((await window.get({}, [moved, { body: "third" }])).text).toBe("third");
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
    phone.time += 1000;
    const shown = await window.get({}, { headers: FRESH, body: "second" });
    expect([shown.isAsked, shown.text]).toEqual([true, "first"]);
    await vi.waitFor(async () => expect((await window.get({}, { body: "third" })).text).toBe("second"), 20_000);
  });

  it("hides an origin's failure, where that lets it", async () => {
    await window.get({}, { headers: [["cache-control", "max-age=0, stale-if-error=60"]], body: "first" });
    const shown = await window.get({}, { status: 503, body: "down" });
    expect([shown.head?.status, shown.text]).toEqual([200, "first"]);
  });

  it.each([
    "NAME_NOT_RESOLVED",
    "CONNECTION_REFUSED",
    "CONNECTION_RESET",
    "UPSTREAM_TIMEOUT",
    "UPSTREAM_FAILED",
  ] as const)("hides that an origin could not be asked, where that lets it, for so long: %s", async (code) => {
    await window.get({}, { headers: [["cache-control", "max-age=0, stale-if-error=60"]], body: "first" });
    const fails = failure(code);
    const shown = await window.get({}, { fails });
    expect([shown.head?.status, shown.text, shown.error]).toEqual([200, "first", null]);
    phone.time += 61_000;
    expect((await window.get({}, { fails })).error).toBe(fails);
  });

  it.each(["TLS_FAILED", "DESTINATION_FORBIDDEN", "BLOCKED", "CANCEL", "INTERNAL_ERROR"] as const)(
    "does not hide what is no failure of an origin: %s",
    async (code) => {
      await window.get({}, { headers: [["cache-control", "max-age=0, stale-if-error=60"]], body: "first" });
      const fails = failure(code);
      expect((await window.get({}, { fails })).error).toBe(fails);
    },
  );

  it.each(["max-age=600", "max-age=600, must-revalidate"])(
    "hides no failure without leave, though what is stored is fresh: %s",
    async (freshness) => {
      const headers: HeaderList = [
        ["cache-control", freshness],
        ["etag", '"1"'],
      ];
      await window.get({}, { headers, body: "first" });
      const fails = failure("CONNECTION_REFUSED");
      expect((await window.get({ cache: "no-cache" }, { fails })).error).toBe(fails);
      expect((await window.get({ cache: "no-cache" }, { status: 503, body: "down" })).text).toBe("down");
    },
  );

  it("shows a document with the cookies of now where its origin could not be asked", async () => {
    const place = { domain: "a.example", hostOnly: true, path: "/", secure: false };
    const login = { ...place, name: "a", value: "1", expires: null };
    const headers: HeaderList = [["cache-control", "max-age=0, stale-if-error=600"]];
    await window.get(page, { headers, body: "first", scriptCookies: [login] });
    await window.stored(page);
    await window.get(
      {},
      { headers: [["cache-control", "no-store"]], scriptCookies: [{ ...login, value: "", expires: 0 }] },
    );
    const got = await window.get(page, { fails: failure("CONNECTION_REFUSED") });
    expect([got.text, got.head?.scriptCookies]).toEqual(["first", []]);
  });

  it("does not hide that an answer broke off, once it has begun", async () => {
    await window.get({}, { headers: [["cache-control", "max-age=0, stale-if-error=60"]], body: "first" });
    const breaksOff = failure("CONNECTION_RESET");
    const got = await window.get({}, { body: "sec", breaksOff });
    expect([got.text, got.error]).toEqual(["sec", breaksOff]);
  });

  it("fails as the network does", async () => {
    await window.get({}, { headers: STALE, body: "first" });
    const fails = failure("CONNECTION_RESET");
    expect((await window.get({}, { fails })).error).toBe(fails);
  });
});

describe("a page that is shown as it was stored", () => {
  /** Shows what was stored of it ten minutes ago, with nobody asked before, and then checks. */
  async function show(headers: HeaderList, then: OriginAnswer): Promise<readonly string[]> {
    await window.get(page, { headers, body: "first" });
    await window.stored(page);
    phone.time += 600_000;
    const shown = await window.get(page, then);
    expect(shown.text).toBe("first");
    for (const task of window.later) task();
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

  it("asks when the link is back, where it was away, and waits without timers", async () => {
    await window.get(page, { headers: guessed, body: "first" });
    await window.stored(page);
    phone.time += 600_000;
    await window.get(page, { headers: guessed, body: "second" });
    phone.isAway = true;
    const runLater = (): number => {
      const tasks = [...window.later];
      window.later.clear();
      for (const task of tasks) task();
      return tasks.length;
    };
    expect(runLater()).toBeGreaterThan(0);
    expect(runLater()).toBe(0);
    expect(window.pages).toEqual([]);
    phone.isAway = false;
    for (let times = 0; times < 2; times++) {
      window.source.linkBack();
      expect(runLater()).toBe(1 - times);
    }
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
    phone.isAway = true;
    await show(guessed, { body: "second" });
    expect(window.asked).toHaveLength(1);
  });
});
