import { beforeEach, describe, expect, it, vi } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { turns } from "./testing/stored-bodies.ts";
import { FRESH, page, SITE, STALE, TestPhone, type TestWindow } from "./testing/stored-windows.ts";

let phone: TestPhone;
let window: TestWindow;

beforeEach(() => {
  phone = new TestPhone();
  window = phone.open();
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
    phone.time += 5000;
  });

  it("shows what is stored at once, and says how old its page is", async () => {
    phone.isAway = true;
    expect((await window.get(page, { until: never })).text).toBe("<p>");
    expect((await window.get({}, { until: never })).text).toBe("first");
    expect((await window.get({ cache: "no-cache" }, { until: never })).text).toBe("first");
    expect(window.pages).toEqual([`${SITE}/ 5000`]);
  });

  it.each([
    ["asks once the link is back whether the page has another version, and says so", undefined, [`newer ${SITE}/`]],
    ["does not ask about a page of the history", "force-cache", []],
  ] as const)("%s", async (_, cache, news) => {
    const wake = (): void => {
      const tasks = [...window.later];
      window.later.clear();
      for (const task of tasks) task();
    };
    phone.isAway = true;
    const answers = [{ until: never }, { headers: STALE, body: "<p>new" }];
    // The second visit takes the place of the first.
    for (let times = 0; times < 2; times++) await window.get({ ...page, ...(cache && { cache }) }, answers);
    // A picture of the page may be asked about ahead, where the disk was quick enough to say that the page has it.
    const pages = () => window.asked.filter(({ destination }) => destination === "document");
    const before = pages().length;
    wake();
    window.source.linkBack();
    wake();
    await turns(200);
    expect(pages()).toHaveLength(before);
    phone.isAway = false;
    window.source.linkBack();
    wake();
    await turns(200);
    expect(
      pages()
        .slice(before)
        .map(({ url }) => url),
    ).toEqual(news.map(() => `${SITE}/`));
    await vi.waitFor(() => expect(window.pages).toEqual([`${SITE}/ 5000`, `${SITE}/ 5000`, ...news]), 20_000);
  });

  it("says of a fresh page how old it is, too", async () => {
    const fresh = { ...page, url: `${SITE}/fresh` };
    await window.get(fresh, { headers: FRESH, body: "<p>", scriptCookies: [] });
    phone.time += 1000;
    expect((await window.get(fresh)).isAsked).toBe(false);
    expect(window.pages).toEqual([]);
    phone.isAway = true;
    expect((await window.get(fresh)).isAsked).toBe(false);
    expect(window.pages).toEqual([`${SITE}/fresh 1000`]);
  });

  it("shows it when the link goes, also to a window that has just opened", async () => {
    const other = phone.open();
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
      phone.isAway = false;
      const strict = { ...page, url: `${SITE}/${directive}` };
      await window.get(strict, { headers: [["cache-control", directive]], body: directive, scriptCookies: [] });
      phone.isAway = true;
      expect((await window.get(strict, { until: never })).text).toBe(directive);
      expect((await window.get({ url: `${SITE}/strict` }, { until: never })).text).toBe("x");
      // Of the page that came meanwhile it is not known.
      phone.isAway = false;
      await window.get(page, { headers: STALE, body: "<p>", scriptCookies: [] });
      phone.isAway = true;
      expect((await window.get({ url: `${SITE}/strict` }, { fails: lost })).error).toBe(lost);
    }
  });

  it.each(["en", ""])("shows a page in the language that the phone had, which was %o", async (before) => {
    const greeting = { ...page, url: `${SITE}/hello` };
    const varying = { headers: [...STALE, ["vary", "Accept-Language"]], body: "<p>hello" } as const;
    phone.acceptLanguage = before;
    await window.get(greeting, varying);
    phone.acceptLanguage = "fr";
    phone.isAway = true;
    expect((await window.get(greeting, { until: never })).text).toBe("<p>hello");
  });

  it("shows a page that the link left while it was asked for, with all that is in it", async () => {
    for (const change of [page, {}]) await window.stored(change);
    const shown = window.get(page, { until: never });
    await turns(3);
    phone.isAway = true;
    window.source.linkLeft();
    expect((await shown).text).toBe("<p>");
    expect((await window.get({ url: `${SITE}/strict` }, { until: never })).text).toBe("x");
  });

  it("shows what a redirect led to, at the one address and at the other", async () => {
    const www = "https://www.a.example/home";
    const moved = { url: www, redirected: true, headers: STALE, scriptCookies: [] };
    await window.get({ ...page, url: `${SITE}/old` }, { ...moved, body: "home" });
    await window.get({ url: `${SITE}/latest.png` }, { ...moved, url: `${SITE}/5.png`, body: "five" });
    phone.time += 1000;
    // With the link up none of it is used.
    const home = { ...page, url: www, topLevelOrigin: new URL(www).origin };
    expect((await window.get(home, { headers: STALE, body: "home, asked for" })).isAsked).toBe(true);
    expect((await window.get({ url: `${SITE}/latest.png` }, { ...moved, body: "five" })).isAsked).toBe(true);
    phone.isAway = true;
    const shown = await window.get({ ...page, url: `${SITE}/old` }, { until: never });
    expect([shown.text, shown.head?.url, shown.head?.redirected]).toEqual(["home, asked for", www, true]);
    expect((await window.get(home, { until: never })).head).toMatchObject({ url: www, redirected: false });
    expect(window.pages.at(-1)).toBe(`${www} 0`);
  });

  it("shows where the last redirect led, and follows none in circles", async () => {
    const moved = { redirected: true, headers: STALE, scriptCookies: [] };
    await window.get({ ...page, url: `${SITE}/a` }, { ...moved, url: `${SITE}/b`, body: "first" });
    await window.get({ ...page, url: `${SITE}/b` }, { ...moved, url: `${SITE}/a`, body: "second" });
    phone.isAway = true;
    for (const [from, to] of ["ab", "ba"]) {
      const shown = await window.get({ ...page, url: `${SITE}/${from}` }, { until: never });
      expect(shown.head?.url).toMatch(new RegExp(`^${SITE}/[${from}${to}]$`));
    }
  });

  it("shows a page wherever the person comes from", async () => {
    const linked = { ...page, url: `${SITE}/linked`, origin: "https://b.example" };
    await window.get(linked, { headers: STALE, body: "linked", scriptCookies: [] });
    phone.isAway = true;
    expect((await window.get({ ...linked, origin: null }, { until: never })).text).toBe("linked");
    expect((await window.get({ ...linked, destination: "iframe", origin: SITE }, { fails: lost })).error).toBe(lost);
  });

  it("fails where nothing is stored, or that may not be shown so, or a reload asks for what is new", async () => {
    phone.isAway = true;
    const changes: Partial<RequestHead>[] = [
      { url: `${SITE}/none` },
      { url: `${SITE}/strict` },
      { cache: "reload" },
      { method: "POST" },
    ];
    for (const change of changes) expect((await window.get(change, { fails: lost })).error).toBe(lost);
  });

  it.each([
    ["script", false, "error"],
    ["style", false, "error"],
    ["image", false, "waits"],
    ["script", true, "waits"],
  ] as const)("does without a %s that holds the page up (link back: %s): %s", async (destination, isBack, outcome) => {
    phone.isAway = true;
    await window.get(page, { until: never });
    const before = window.asked.length;
    const got = window.get({ url: `${SITE}/not-stored`, destination }, { until: never });
    while (window.asked.length === before) await turns(1);
    if (isBack) phone.isAway = false;
    for (const task of window.later) task();
    const first = await Promise.race([got.then(({ error }) => error?.code), turns(50).then(() => "waits")]);
    expect(first).toBe(outcome === "error" ? ErrorCode.OFFLINE : "waits");
  });

  it("goes on with what has begun to come", async () => {
    const shown = await window.get({}, { headers: FRESH, body: "a".repeat(200_000) });
    window.source.linkLeft();
    expect(shown.bytes).toBe(200_000);
  });
});
