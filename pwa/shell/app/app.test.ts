import { describe, expect, it, vi } from "vitest";
import { ErrorCode } from "../../../shared/errors.ts";
import { MESSAGE_TAG } from "../../messages/page-messages.ts";
import { openApp, openTab, sendsTo } from "../testing/tab-rig.ts";
import type { Notice, SiteEvent } from "./state.ts";

const A = "https://a.example";
const B = "https://b.example";

/** Two tabs beside one app. */
function openTwo() {
  const opened = openApp();
  return { ...opened, one: openTab(opened, 1), other: openTab(opened, 2) };
}

describe("two tabs beside one app", () => {
  it("have a page, a history and a failure each", () => {
    const { one, other, hear } = openTwo();
    one.show(`${A}/`, "a");
    one.show(`${A}/2`, "a2");
    other.tab.go(`${B}/`);
    hear({ type: "navigation", kind: "failed", id: 1, url: `${B}/`, code: ErrorCode.CONNECTION_REFUSED, message: "" });
    expect(one.shown()).toMatchObject({ phase: "loaded", url: `${A}/2`, canGoBack: true, error: null });
    expect(other.shown()).toMatchObject({ phase: "failed", url: `${B}/`, canGoBack: false });
  });

  it("count their own page, and follow redirects of their own", () => {
    const { one, other, hear, log } = openTwo();
    one.tab.go(`${A}/`);
    other.tab.go(`${B}/`);
    const progress = {
      requests: 3,
      requestsDone: 1,
      trackersBlocked: 0,
      linkBytesUp: 1,
      linkBytesDown: 1,
      originBytes: 1,
      expectedBytes: 1,
      roundTrip: 0,
      storeAnswers: 0,
      storeValidations: 0,
      storeReferences: 0,
      storeBytes: 0,
      pagesWarmed: 0,
      pagesWarmedUsed: 0,
      waiting: { pictures: 0, films: 0, bytes: 0 },
    };
    hear({ type: "progress", tab: 2, progress });
    expect(one.shown().cost.requests).toBe(0);
    expect(other.shown().cost.requests).toBe(3);
    log.length = 0;
    hear({ type: "navigation", kind: "moved", id: 2, url: "https://c.example/" });
    expect(log).toEqual(["src https://c.example/"]);
    one.show(`${A}/`, "a");
    other.show("https://c.example/", "c");
    expect(one.shown()).toMatchObject({ phase: "loaded", url: `${A}/` });
    expect(other.shown()).toMatchObject({ phase: "loaded", url: "https://c.example/" });
  });

  it("hear their own frame only", () => {
    const { one, other } = openTwo();
    const elsewhere = {} as Window;
    const slot = { label: A, origin: A, topLevelOrigin: A, topLevel: true };
    one.show(`${A}/`, "a");
    other.tab.onPageMessage(sendsTo(`${B}/`), slot, elsewhere);
    other.tab.onPageMessage({ tag: MESSAGE_TAG, type: "leaving", url: `${A}/2` }, slot, elsewhere);
    expect(one.shown()).toMatchObject({ phase: "loaded", url: `${A}/` });
    expect(other.shown()).toMatchObject({ phase: "idle", url: "" });
  });

  it("share the link and what the app says, and come back by themselves", () => {
    const { one, other, hear, log } = openTwo();
    one.tab.go(`${A}/`);
    other.tab.go(`${B}/`);
    hear({ type: "link", link: { kind: "waiting", since: 0, retryAt: 0 } });
    hear({ type: "navigation", kind: "failed", id: 1, url: `${A}/`, code: ErrorCode.LINK_LOST, message: "" });
    hear({ type: "navigation", kind: "failed", id: 2, url: `${B}/`, code: ErrorCode.LINK_LOST, message: "" });
    hear({ type: "uncertain", url: `${B}/pay` });
    for (const tab of [one, other])
      expect(tab.shown()).toMatchObject({ link: { kind: "waiting" }, notice: { kind: "uncertain", url: `${B}/pay` } });
    log.length = 0;
    hear({ type: "link", link: { kind: "open" } });
    expect(log.filter((line) => line.startsWith("ask"))).toEqual([`ask 3 ${A}/`, `ask 4 ${B}/`]);
  });

  it("both go home when all site data is forgotten", () => {
    const { app, one, other } = openTwo();
    one.show(`${A}/`, "a");
    other.show(`${B}/`, "b");
    app.clearSiteData();
    for (const tab of [one, other]) expect(tab.shown()).toMatchObject({ phase: "idle", url: "" });
  });

  it("have what is stored forgotten when the phone is paired anew", async () => {
    const { app } = openTwo();
    const tell = vi.spyOn(app.tunnel, "tell");
    vi.stubGlobal("fetch", async () => Response.json({ token: "t" }));
    await app.pair("another-key");
    vi.unstubAllGlobals();
    expect(tell).toHaveBeenCalledWith({ type: "store", kind: "empty" });
  });

  it("lose nothing by a key that the phone is paired with, and ask once about each other", async () => {
    const { app } = openTwo();
    const tell = vi.spyOn(app.tunnel, "tell");
    const answer = Promise.withResolvers<void>();
    const asked = vi.fn(async () => {
      await answer.promise;
      return Response.json({ token: "t" });
    });
    vi.stubGlobal("fetch", asked);
    const both = [app.pair("key"), app.pair(" key ")];
    await vi.waitFor(() => expect(asked).toHaveBeenCalled());
    answer.resolve();
    await Promise.all(both);
    tell.mockClear();
    await app.pair("key");
    expect(asked).toHaveBeenCalledTimes(1);
    expect(tell).not.toHaveBeenCalled();

    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("no network")));
    await app.pair("another");
    vi.unstubAllGlobals();
    expect(app.state.notice).toEqual({ kind: "wrong-key", why: "Your edge cannot be reached now." });
  });

  it("try no key again that another has taken the place of", async () => {
    const { app } = openTwo();
    const keys: string[] = [];
    let answers: () => Promise<Response> = () => Promise.reject(new Error("no network"));
    vi.stubGlobal("fetch", (_path: string, { headers }: { headers: { authorization: string } }) => {
      keys.push(headers.authorization);
      return answers();
    });
    await app.pair("mistyped");
    answers = async () => Response.json({ token: "t" });
    await app.pair("right");
    app.ensurePaired();
    vi.unstubAllGlobals();
    expect(keys).toEqual(["Bearer mistyped", "Bearer right"]);
  });

  it("take no answer about a key that another has taken the place of", async () => {
    const { app, storage } = openApp([], { kind: "unpaired" });
    const answers = new Map(["one", "other"].map((key) => [`Bearer ${key}`, Promise.withResolvers<Response>()]));
    vi.stubGlobal(
      "fetch",
      (_path: string, { headers }: { headers: { authorization: string } }) =>
        answers.get(headers.authorization)?.promise,
    );
    const asking = [app.pair("one"), app.pair("other")];
    answers.get("Bearer other")?.resolve(Response.json({ token: "other's" }));
    await asking[1];
    answers.get("Bearer one")?.resolve(Response.json({ token: "one's" }));
    await asking[0];
    vi.unstubAllGlobals();
    expect(storage.getItem("ropeway.token")).toBe("other's");
    expect(app.state.pairing).toBe("idle");
  });

  it("say that the edge is asked about a key and cannot be reached, ask it again, and stop when it refuses", async () => {
    vi.useFakeTimers();
    const { app } = openApp([], { kind: "unpaired" });
    const answers = [
      Promise.withResolvers<Response>(),
      Promise.withResolvers<Response>(),
      Promise.withResolvers<Response>(),
    ];
    const asked = vi.fn((): Promise<Response> | undefined => answers[asked.mock.calls.length - 1]?.promise);
    vi.stubGlobal("fetch", asked);
    const pairing = app.pair("key");
    expect(app.state.pairing).toBe("asking");
    answers[0]?.reject(new TypeError("no network"));
    await pairing;
    expect(app.state).toMatchObject({ pairing: "unreachable", link: { kind: "unpaired" } });

    // After a pause by itself. The person is told nothing else meanwhile.
    vi.runOnlyPendingTimers();
    await vi.waitFor(() => expect(asked).toHaveBeenCalledTimes(2));
    expect(app.state.pairing).toBe("unreachable");
    answers[1]?.reject(new TypeError("no network"));
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));

    // With the network. Whoever brings it anew meanwhile asks no second time.
    app.ensurePaired();
    app.ensurePaired();
    await vi.waitFor(() => expect(asked).toHaveBeenCalledTimes(3));
    answers[2]?.resolve(Response.json({}, { status: 401 }));
    await vi.waitFor(() => expect(app.state).toMatchObject({ pairing: "idle", link: { kind: "refused", why: null } }));
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("stay out of the recent sites where they were forgotten, whatever their titles say later", () => {
    const { app, visited } = openApp([`${A}/`]);
    const loaded = (url: string, isNew: boolean) => app.onPageLoaded({ url, title: "(1)", icon: null }, isNew);
    loaded(`${A}/page`, false);
    loaded(`${B}/`, false);
    loaded(`${B}/`, true);
    expect(visited).toEqual([`${A}/page`, `${B}/`]);
  });

  it("say why site data could not be forgotten", async () => {
    const { app } = openTwo();
    vi.spyOn(app.tunnel, "clearSiteData").mockResolvedValue("Cannot clear: try again");
    app.clearSiteData();
    await vi.waitFor(() => expect(app.state.notice).toEqual({ kind: "not-cleared", why: "Cannot clear: try again" }));
  });
});

it("sites that are forgotten close, also one that is on its way, and lose their slots", () => {
  const { app, one, other, log } = openTwo();
  one.show(`${A}/`, "a");
  other.show(`${B}/`, "b");
  app.changeSettings({ pixelReaders: [A, B], trackerExceptions: ["a.example", "b.example"] });
  app.forgetSites((url) => url.startsWith(A));
  expect(app.state.settings).toMatchObject({ pixelReaders: [B], trackerExceptions: ["b.example"] });
  expect([one.shown().url, other.shown().url]).toEqual(["", `${B}/`]);
  expect(log).toContain(`forget slots ${A}`);
  other.tab.go(`${A}/2`);
  app.forgetSites((url) => url.startsWith(A));
  expect(other.shown().url).toBe("");
});

it("tells of pages from the first on, of those that are forgotten, and that this is taken back", () => {
  const { app, one } = openTwo();
  one.show(`${A}/`, "a");
  const heard: SiteEvent[] = [];
  app.hearSites((event) => heard.push(event));
  expect(heard).toMatchObject([{ kind: "loaded", site: { url: `${A}/` }, isNew: true }]);
  heard.length = 0;
  one.report(`${A}/`, "loaded", "a", "(1) A");
  one.report(`${A}/2`, "loaded", "a2", "A");
  expect(heard).toMatchObject([
    { site: { url: `${A}/`, title: "(1) A" }, isNew: false },
    { site: { url: `${A}/2` }, isNew: true },
  ]);
  heard.length = 0;
  app.forgetRecent(`${A}/`);
  app.forgetSites((url) => url.startsWith(B));
  app.forgetRecent("all");
  (app.state.notice as Notice & { kind: "forgotten" }).undo();
  const isForgotten = ({ kind, isOf }: SiteEvent & { isOf?: ((url: string) => boolean) | null }) =>
    kind === "forget" ? [`${A}/x`, `${B}/x`].filter((url) => isOf?.(url) ?? true) : kind;
  expect(heard.map(isForgotten)).toEqual([[`${A}/x`], [`${B}/x`], [`${A}/x`, `${B}/x`], "remember"]);
});

it("has open pages kept again when it is taken back that all were forgotten", () => {
  const { app, log } = openApp();
  app.forgetRecent(`${A}/`);
  expect(app.state.notice).toBeNull();
  app.forgetRecent("all");
  (app.state.notice as Notice & { kind: "forgotten" }).undo();
  app.clearSiteData();
  const all = `${A},${B}`;
  expect(log.filter((line) => /stay|again|close/.test(line))).toEqual([
    `${A} stay`,
    `${all} stay`,
    `${all} are kept again`,
    `${all} close`,
  ]);
});

it("asks while the link is away which pages can be read, once", async () => {
  const { app, hear, log } = openApp();
  const away = { kind: "waiting", since: 0, retryAt: 0 } as const;
  hear({ type: "link", link: away });
  hear({ type: "link", link: { kind: "connecting", since: 0, attempt: 2 } });
  expect(app.state.readable).toBeNull();
  await vi.waitFor(() => expect(app.state.readable).toEqual(new Set()));
  expect(log).toEqual(["readable "]);
  hear({ type: "link", link: { kind: "open" } });
  expect(app.state.readable).toBeNull();
  hear({ type: "link", link: away });
  hear({ type: "link", link: { kind: "open" } });
  await Promise.resolve();
  expect(app.state.readable).toBeNull();
});

it("has pages of before open at once, when the link is there and no page loads, once", () => {
  const { app, hear, log } = openApp([`${A}/`, `${B}/`]);
  expect(log.splice(0)).toEqual([`ready ${A}/,${B}/`]);
  app.draw();
  const away = { kind: "waiting", since: 0, retryAt: 0 } as const;
  hear({ type: "link", link: away });
  hear({ type: "link", link: { kind: "open" } });
  expect(log).toEqual([`readable ${A}/,${B}/`]);
});

it("asks for nothing else while a page loads, nor before one that waited for the link", () => {
  const open = { type: "link", link: { kind: "open" } } as const;
  const isReady = (log: readonly string[]) => log.includes(`ready ${B}/`);
  const opened = openApp([`${B}/`], { kind: "connecting", since: 0, attempt: 1 });
  const one = openTab(opened, 1);
  one.tab.go(`${A}/`);
  opened.hear(open);
  expect(isReady(opened.log)).toBe(false);
  one.show(`${A}/`, "a");
  expect(isReady(opened.log)).toBe(true);

  const waiting = openApp([`${B}/`], { kind: "offline", since: 0 });
  const other = openTab(waiting, 1);
  other.tab.go(`${A}/`);
  waiting.hear({ type: "navigation", kind: "failed", id: 1, url: `${A}/`, code: ErrorCode.LINK_LOST, message: "" });
  expect(other.shown()).toMatchObject({ phase: "failed", tryingAgain: "with the link" });
  waiting.hear(open);
  expect([waiting.log.includes(`ask 2 ${A}/`), isReady(waiting.log)]).toEqual([true, false]);
});
