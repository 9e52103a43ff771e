import { beforeEach, describe, expect, it, vi } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { HeaderList, RequestHead, ScriptCookie } from "../../../shared/http/heads.ts";
import { isKnownUrl, READS_MARKED } from "../../../shared/http/phone-fields.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { ConsumerLog } from "../../../shared/testing/http/exchange-rig.ts";
import type { Ask, PhoneRequest } from "../exchange/exchange.ts";
import { FRESH, page, picture, SITE, STALE, TestPhone, type TestWindow } from "./testing/stored-windows.ts";

let phone: TestPhone;
let window: TestWindow;

beforeEach(() => {
  phone = new TestPhone();
  window = phone.open();
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

  it("has scripts' requests asked anew once the page has written something", async () => {
    const data = { url: `${SITE}/cart`, destination: "", mode: "cors" } as const;
    await window.get(page, { headers: [["cache-control", "no-store"]] });
    await window.get(data, { headers: STALE, body: "none" });
    await window.stored(data);
    for (const isWritten of [false, true]) {
      const count = window.asked.length;
      await window.get(page, [{ body: "<p>" }, { status: 304 }]);
      await asks(window, count + 2);
      if (isWritten) await window.get({ ...data, url: `${SITE}/add`, method: "POST" });
      const got = await window.get(data, { headers: STALE, body: "one" });
      expect([got.isAsked, got.text]).toEqual(isWritten ? [true, "one"] : [false, "none"]);
    }
  });

  it.each([
    ["another page was opened", () => window.get({ ...page, url: `${SITE}/other` })],
    ["a little time has passed", async () => window.later.forEach((task) => void task())],
  ])("has it in the next run of the app, too, where %s before that", async (_, happens) => {
    await visit();
    await happens();
    const kept = () => window.store.visit(`${SITE} ${SITE}`, page.url);
    await vi.waitFor(async () => expect(await kept()).toBeDefined(), 20_000);
    const next = phone.open();
    await next.get(page, [{ body: "<p>" }, { status: 304 }]);
    await asks(next, 3);
    expect(urlsAsked(next, 3).sort()).toEqual([page.url, `${SITE}/a.png`, `${SITE}/b.png`]);
  });

  it.each([
    ["the phone is unpaired", () => window.source.unpaired()],
    [
      "a month has passed",
      async () => {
        phone.time += 31 * 86_400_000;
        await window.get({ url: `${SITE}/` });
        for (const task of window.later) task();
      },
    ],
  ])("is not known any more once %s", async (_, happens) => {
    const kept = async () => (await phone.disk.raw()).count("visits");
    await visit();
    for (const task of window.later) task();
    await vi.waitFor(async () => expect(await kept()).toBeGreaterThan(0), 20_000);
    await happens();
    await vi.waitFor(async () => expect(await kept()).toBe(0), 20_000);
    const next = phone.open();
    await next.get(page, [{ body: "<p>" }, { status: 304 }]);
    const picture = await next.get(own("a"), { status: 304 });
    expect([picture.isAsked, picture.text, next.source.stats.storeAsked]).toEqual([true, "a", 0]);
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
    phone.time += 61_000;
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
    const other = phone.open();
    const again = await other.get(page, { status: 304, scriptCookies: [cookie] });
    expect([again.isAsked, again.text, again.head?.scriptCookies]).toEqual([true, "<p>", [cookie]]);
    expect(other.lastAsked?.headers).toEqual([["if-none-match", '"1"']]);
    expect((await other.get(page)).isAsked).toBe(false);
  });

  it("has without a link the cookies of when it was last confirmed", async () => {
    await window.get(page, { headers: STALE, body: "<p>", scriptCookies: [cookie] });
    await window.get(page, { status: 304, scriptCookies: [{ ...cookie, value: "2" }] });
    const disk = await phone.disk.raw();
    const written = [{ meta: { scriptCookies: [{ value: "2" }] } }];
    await vi.waitFor(async () => expect(await disk.getAll("entries")).toMatchObject(written), 20_000);
    phone.isAway = true;
    const other = phone.open();
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
          const network: Ask = ({ taps = [] }) => ({
            cancel() {
              for (const tap of taps) tap.onOver?.("cancelled");
            },
          });
          window.source.source(request, new ConsumerLog(), network).cancel();
        },
      ],
      ["one of another window", () => phone.open().get(login, { scriptCookies: [cookie] })],
      ["a page of another window", () => phone.open().get({ ...page, url: `${SITE}/in` })],
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

describe("a document with scripts in it", () => {
  const scriptless = { ...page, isScriptless: true } as const;
  const marked = { ...page, marksReads: true };
  const headers: HeaderList = [...FRESH, ["etag", '"1"']];

  it("that was asked for without marks answers no request that wants them", async () => {
    await window.get(scriptless, { headers, body: "plain" });
    await window.stored(scriptless);
    expect((await window.get(scriptless)).text).toBe("plain");
    expect(await window.get(marked, { headers, body: "marked" })).toMatchObject({ isAsked: true, text: "marked" });
    expect(window.lastAsked?.headers).toEqual([]);
    await window.stored(marked);
    for (const head of [marked, scriptless])
      expect(await window.get(head)).toMatchObject({ isAsked: false, text: "marked" });
  });

  it("keeps its marks when it is confirmed", async () => {
    await window.get(marked, { headers: STALE, body: "marked" });
    for (const head of [scriptless, marked])
      expect((await window.get(head, { status: 304, headers: STALE })).text).toBe("marked");
    expect(window.lastAsked?.headers).toContainEqual(["if-none-match", '"1"']);
  });

  it.each([false, true])("is asked for anew where it came as a warmed page, but with marks: %s", async (hasMarks) => {
    const warmed = { session: { wasCarried: true }, answer: () => ({ cancel() {} }) };
    await window.get(marked, { headers: hasMarks ? [...headers, READS_MARKED] : headers, body: "warmed" }, warmed);
    await window.stored();
    const text = hasMarks ? "warmed" : "marked";
    expect(await window.get(marked, { headers, body: "marked" })).toMatchObject({ isAsked: !hasMarks, text });
  });

  it("is shown without marks while the link is away", async () => {
    await window.get(scriptless, { headers, body: "plain" });
    await window.stored(scriptless);
    phone.isAway = true;
    expect((await window.get(marked, { until: new Promise(() => {}) })).text).toBe("plain");
  });
});
