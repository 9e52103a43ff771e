import { describe, expect, it, vi } from "vitest";
import { ErrorCode } from "../../../shared/errors.ts";
import { MESSAGE_TAG, type PageToShell } from "../../messages/page-messages.ts";
import { openBrowser } from "../testing/tab-rig.ts";
import { typedNavigation } from "./navigation-request.ts";

const A = "https://a.example";
const B = "https://b.example";

it("keeps of a title no more than a person reads", () => {
  const { report, shown } = openBrowser();
  report(`${A}/`, "loading", "a");
  report(`${A}/`, "loaded", "a", "x".repeat(1_000_000));
  expect(shown()).toMatchObject({ phase: "loaded", title: "x".repeat(300) });
});

describe("while the next page is on its way", () => {
  it("goes on loading when the page before gets ready, or changes its title", () => {
    const { report, shown, tab } = openBrowser();
    report(`${A}/`, "loading", "a");
    tab.go(`${B}/`);
    report(`${A}/`, "interactive", "a");
    report(`${A}/`, "loaded", "a", "(1) A");
    expect(shown()).toMatchObject({ phase: "loading", url: `${B}/`, title: "" });
    tab.stop();
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/`, title: "(1) A" });
  });

  it("goes on loading when the document that is loaded anew gets ready first", () => {
    const { report, shown, tab } = openBrowser();
    report(`${A}/`, "loading", "a");
    tab.reload();
    report(`${A}/`, "loaded", "a", "(1) A");
    expect(shown()).toMatchObject({ phase: "loading", title: "(1) A" });
    report(`${A}/`, "loading", "b");
    report(`${A}/`, "loaded", "b");
    expect(shown().phase).toBe("loaded");
  });

  it("goes on loading when a frame of the page before has got no document", () => {
    const { hear, show, shown, tab } = openBrowser();
    show(`${A}/`, "a");
    tab.go(`${A}/2`);
    hear({ type: "document", kind: "none", origin: A, url: `${A}/frame` });
    expect(shown()).toMatchObject({ phase: "loading", url: `${A}/2` });
    hear({ type: "document", kind: "none", origin: A, url: `${A}/2` });
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/` });
  });

  const led = (url: string, leadsTo: string) =>
    ({ type: "document", kind: "none", origin: new URL(url).origin, url, leadsTo }) as const;

  it("stays, and asks about another app, where a redirect leads the page to that", () => {
    const { hear, hearPage, show, shown, log } = openBrowser();
    show(`${A}/`, "a");
    hearPage({ tag: MESSAGE_TAG, type: "leaving", url: `${A}/out` }, A);
    hear(led(`${A}/out`, "tel:+49301234"));
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/` });
    expect(log).toContain(`open tel:+49301234 for ${A}`);
    // The page's word comes after the end of that.
    hear(led(`${A}/2`, "tel:2"));
    hearPage({ tag: MESSAGE_TAG, type: "leaving", url: `${A}/2` }, A);
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/` });
    expect(log).toContain(`open tel:2 for ${A}`);
    hearPage({ tag: MESSAGE_TAG, type: "navigate", ...typedNavigation(`${B}/out`), replace: false } as PageToShell, A);
    hear(led(`${B}/out`, "sms:1"));
    expect(log).toContain(`open sms:1 for ${A}, which has not led there`);
  });

  it("heeds no other app that a page of another tab is led to", () => {
    const { hear, show, shown, tab, log } = openBrowser();
    show(`${A}/`, "a");
    hear(led(`${B}/out`, "tel:+49301234"));
    hear(led(`${A}/out`, "tel:+49301234"));
    tab.go(`${A}/2`);
    hear(led(`${B}/out`, "tel:+49301234"));
    expect(shown()).toMatchObject({ phase: "loading", url: `${A}/2` });
    expect(log.filter((each) => each.startsWith("open "))).toEqual([]);
  });

  it("says what the app cannot open where the person has gone there", () => {
    for (const before of ["", `${A}/`]) {
      const { hear, show, shown, tab, log } = openBrowser();
      if (before !== "") show(before, "a");
      tab.go(`${B}/out`);
      hear(led(`${B}/out`, "tel:+49301234"));
      expect(shown().unopened ?? shown()).toMatchObject({ url: "tel:+49301234" });
      expect(log.filter((each) => each.startsWith("open "))).toEqual([]);
    }
  });

  it("ends where a redirect has led to no document", () => {
    const { hear, show, shown, tab } = openBrowser();
    show(`${A}/`, "a");
    tab.go(`${A}/redirect`);
    hear({ type: "navigation", kind: "answered", id: 1 });
    hear({ type: "document", kind: "none", origin: A, url: `${A}/file` });
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/` });
  });

  it("ends where the page's word that it leaves comes after the end of that", () => {
    const { hear, hearPage, show, shown } = openBrowser();
    show(`${A}/`, "a");
    hear({ type: "document", kind: "none", origin: A, url: `${A}/file` });
    hearPage({ tag: MESSAGE_TAG, type: "leaving", url: `${A}/file` }, A);
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/` });
  });

  it("ends where the page's word that it leaves comes after the failure of that, and where another page has begun to load", () => {
    const failed = {
      type: "document",
      kind: "failed",
      url: `${A}/2`,
      method: "GET",
      code: ErrorCode.OFFLINE,
      message: "",
    } as const;
    for (const isEarly of [true, false])
      for (const phase of ["loading", "loaded"] as const) {
        const { hear, hearPage, report, shown, tab } = openBrowser();
        tab.go(`${A}/`);
        report(`${A}/`, "loading", "a");
        if (phase === "loaded") report(`${A}/`, phase, "a");
        if (isEarly) hear(failed);
        hearPage({ tag: MESSAGE_TAG, type: "leaving", url: `${A}/2` }, A);
        if (!isEarly) hear(failed);
        expect(shown()).toMatchObject({
          phase: "loaded",
          url: `${A}/`,
          unopened: { url: `${A}/2`, code: ErrorCode.OFFLINE },
        });
      }
  });

  it("ends where a page that has not all loaded goes to its own address again, and that fails", () => {
    const { hear, hearPage, report, shown, tab } = openBrowser();
    tab.go(`${A}/`);
    report(`${A}/`, "loading", "a");
    hearPage({ tag: MESSAGE_TAG, type: "leaving", url: `${A}/`, isAgain: true }, A);
    hear({ type: "document", kind: "failed", url: `${A}/`, method: "GET", code: ErrorCode.OFFLINE, message: "" });
    expect(shown()).toMatchObject({ phase: "loaded", unopened: { url: `${A}/`, code: ErrorCode.OFFLINE } });
  });

  it("ends where the page goes elsewhere by itself as the frame leaves it for another site, and that fails", () => {
    const { booted, hear, hearPage, show, shown, tab } = openBrowser();
    show(`${A}/`, "a");
    booted.add(B);
    tab.sendTo(typedNavigation(`${B}/`));
    hearPage({ tag: MESSAGE_TAG, type: "leaving", url: `${A}/x` }, A);
    hear({ type: "document", kind: "failed", url: `${A}/x`, method: "GET", code: ErrorCode.OFFLINE, message: "" });
    expect(shown()).toMatchObject({ phase: "loaded", unopened: { url: `${A}/x`, code: ErrorCode.OFFLINE } });
  });

  it("asks before another app is opened to which a half loaded page is led", () => {
    const { hear, hearPage, log, report, tab } = openBrowser();
    tab.go(`${A}/`);
    report(`${A}/`, "loading", "a");
    hearPage({ tag: MESSAGE_TAG, type: "leaving", url: `${A}/call` }, A);
    hear(led(`${A}/call`, "tel:1"));
    expect(log).toContain(`open tel:1 for ${A}`);
  });

  it("ends where a frame's news came between that of the page's document and the page's word that it leaves", () => {
    const { hear, hearPage, show, shown } = openBrowser();
    show(`${A}/`, "a");
    const told = { type: "silent-document", url: `${A}/raw`, title: "Raw", id: null } as const;
    hear({ ...told, phase: "loading" });
    hear({ type: "document", kind: "none", origin: A, url: `${A}/file` });
    hear({ ...told, phase: "loaded" });
    hearPage({ tag: MESSAGE_TAG, type: "leaving", url: `${A}/raw` }, A);
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/raw`, title: "Raw" });
  });

  it("goes on where news of its address is older than the page's word that it leaves", () => {
    vi.useFakeTimers();
    const { hear, hearPage, show, shown } = openBrowser();
    show(`${A}/`, "a");
    hear({ type: "document", kind: "none", origin: A, url: `${A}/file` });
    vi.advanceTimersByTime(2_000);
    hearPage({ tag: MESSAGE_TAG, type: "leaving", url: `${A}/file` }, A);
    expect(shown().phase).toBe("loading");
    vi.useRealTimers();
  });

  it("ends where the page's word that it leaves comes after a document that says nothing itself", () => {
    const { hear, hearPage, show, shown } = openBrowser();
    show(`${A}/`, "a");
    const told = { type: "silent-document", url: `${A}/raw`, title: "Raw", id: null } as const;
    for (const phase of ["loading", "loaded"] as const) hear({ ...told, phase });
    expect(shown().url).toBe(`${A}/`);
    hearPage({ tag: MESSAGE_TAG, type: "leaving", url: `${A}/raw` }, A);
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/raw`, title: "Raw" });
  });

  it.each(["before", "after"])(
    "ends where the boot page's word comes %s a document that says nothing itself has loaded",
    (when) => {
      const { hear, log, say, shown, tab } = openBrowser();
      tab.go(`${A}/raw`);
      say(A, "booting");
      const told = { type: "silent-document", url: `${A}/raw`, title: "Raw", id: 1 } as const;
      hear({ ...told, phase: "loading" });
      if (when === "before") say(A, "slot-ready");
      hear({ ...told, phase: "loaded" });
      if (when === "after") say(A, "slot-ready");
      expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/raw`, title: "Raw", isFrameEmpty: false });
      log.length = 0;
      tab.reload();
      expect(log.at(-1)).toBe(`replace ${A}/raw`);
    },
  );

  it("takes the page that it was sent to, where the page before has set out by itself, too", () => {
    const { hearPage, show, shown, tab } = openBrowser();
    show(`${A}/`, "a");
    tab.sendTo(typedNavigation(`${B}/`));
    for (const path of ["x", "y"]) hearPage({ tag: MESSAGE_TAG, type: "leaving", url: `${A}/${path}` }, A);
    show(`${B}/`, "b");
    expect(shown()).toMatchObject({ phase: "loaded", url: `${B}/` });
  });

  it("stays at the start page, whatever the page before says late", () => {
    const { report, say, shown, tab } = openBrowser();
    report(`${A}/`, "loading", "a");
    tab.home();
    report(`${A}/`, "interactive", "a", "A");
    say(A, "leaving");
    report("/blank", "loaded", "start2");
    expect(shown()).toMatchObject({ phase: "idle", url: "" });
    report(`${A}/`, "loaded", "a", "A");
    expect(shown()).toMatchObject({ phase: "idle", url: "" });
  });

  it("takes no late word of the page before for a step back to it, nor for its leaving", () => {
    const { log, report, say, show, shown, tab } = openBrowser();
    show(`${A}/`, "a");
    tab.go(`${B}/`);
    report(`${B}/`, "loading", "b");
    log.length = 0;
    report(`${A}/`, "loaded", "a", "A, at last");
    say(A, "leaving");
    expect(shown()).toMatchObject({ phase: "loading", url: `${B}/`, canGoForward: false });
    expect(log).toEqual([]);
    report(`${B}/`, "loaded", "b");
    expect(shown()).toMatchObject({ phase: "loaded", url: `${B}/` });
    // The history leads to it.
    report(`${A}/`, "loading", "a");
    expect(shown()).toMatchObject({ phase: "loading", url: `${A}/`, canGoForward: true });
  });

  it("brings the page back where a boot page comes after the person has pressed stop", () => {
    const { log, say, show, shown, tab } = openBrowser();
    show(`${A}/`, "a");
    tab.go(`${B}/`);
    tab.stop();
    log.length = 0;
    say(B, "booting");
    expect(log.splice(0)).toEqual([`replace again ${A}/`]);
    say(B, "slot-ready");
    expect(log).toEqual([`replace again ${A}/`]);
    show(`${A}/`, "a2");
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/` });
  });

  it("shows what Back leads to after the person has pressed stop, also by a boot page", () => {
    const { log, say, report, show, shown, tab } = openBrowser();
    show(`${A}/`, "a");
    tab.go(`${B}/`);
    report(`${B}/`, "loading", "b");
    tab.stop();
    vi.stubGlobal("history", { go() {} });
    tab.back();
    vi.unstubAllGlobals();
    log.length = 0;
    say(A, "booting");
    expect(log).toEqual([]);
    show(`${A}/`, "a");
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/`, canGoForward: true });
  });

  it("shows what Back leads to before the start page is there", () => {
    const { report, show, shown, tab } = openBrowser();
    show(`${A}/`, "a");
    show(`${A}/2`, "a2");
    tab.home();
    report(`${A}/2`, "loaded", "a2");
    expect(shown().url).toBe("");
    show(`${A}/`, "a");
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/` });
  });

  it("goes where the person asks, wherever a page before is redirected", () => {
    const { hear, hearPage, log, show, tab } = openBrowser();
    show(`${A}/`, "a");
    tab.go(`${B}/`);
    log.length = 0;
    hearPage({ tag: MESSAGE_TAG, type: "moved", url: "https://c.example/" }, A);
    expect(log).toEqual([]);
    // The frame has lost the page to it.
    hear({ type: "navigation", kind: "failed", id: 1, url: `${B}/`, code: ErrorCode.CONNECTION_RESET, message: "" });
    expect(log).toContain(`replace again ${A}/`);
  });

  it("does not take a page's word that it goes to another site", () => {
    const { hearPage, show, shown } = openBrowser();
    show(`${A}/`, "a");
    hearPage({ tag: MESSAGE_TAG, type: "leaving", url: `${B}/x` }, A);
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/` });
  });

  it("goes on loading when the notice of a page before comes into the frame first", () => {
    const { hearPage, log, show, shown, tab } = openBrowser();
    show(`${A}/`, "a");
    tab.go(`${A}/2`);
    tab.go(`${B}/`);
    const notice = { url: `${A}/2`, code: ErrorCode.CONNECTION_RESET, message: "", historyKey: "a2" };
    hearPage({ tag: MESSAGE_TAG, type: "failed", ...notice }, A);
    expect(shown()).toMatchObject({ phase: "loading", url: `${B}/`, error: null, unopened: null });
    show(`${B}/`, "b");
    expect(shown()).toMatchObject({ phase: "loaded", url: `${B}/` });
    expect(log.filter((line) => line.startsWith("ask"))).toHaveLength(2);
  });

  it("does so where the next page is of the same site", () => {
    const { report, say, show, shown } = openBrowser();
    show(`${A}/`, "a");
    say(A, "leaving");
    report(`${A}/`, "loaded", "a", "(1) A");
    expect(shown().phase).toBe("loading");
    show(`${A}/2`, "a2");
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/2` });
  });

  it("is there again where that page stays after all", () => {
    const { report, say, show, shown, tab } = openBrowser();
    show(`${A}/`, "a");
    say(A, "leaving");
    say(A, "staying");
    report(`${A}/`, "loaded", "a", "A");
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/`, title: "A" });
    tab.go(`${A}/2`);
    say(A, "staying");
    report(`${A}/`, "loaded", "a", "A");
    expect(shown()).toMatchObject({ phase: "loading", url: `${A}/2` });
  });

  it("is there at once where the next is another part of the same document", () => {
    const { report, show, shown, tab } = openBrowser();
    show(`${A}/`, "a");
    tab.go(`${A}/#part`);
    report(`${A}/#part`, "loaded", "a2");
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/#part` });
  });
});

it("follows a redirect though the page before has come into the frame meanwhile", () => {
  const { hear, log, report, show, shown, tab } = openBrowser();
  tab.go(`${B}/`);
  report(`${A}/`, "loading", "a");
  hear({ type: "navigation", kind: "moved", id: 1, url: `${B}/to` });
  expect(log.at(-1)).toBe(`src ${B}/to`);
  show(`${B}/to`, "b");
  expect(shown()).toMatchObject({ phase: "loaded", url: `${B}/to` });
});

it("sends the frame out again where it has lost its way, and its page waits", () => {
  const { booted, hear, log, show, shown, tab } = openBrowser();
  show(`${A}/`, "a");
  tab.go(`${B}/`);
  const sent = log.length;
  const waits = () => hear({ type: "navigation", kind: "answered", id: 1 });
  waits();
  // Its boot page is on its way.
  waits();
  expect(log.slice(sent)).toEqual([]);
  booted.add(B);
  waits();
  expect(log.slice(sent)).toEqual([`src again ${B}/`]);
  show(`${B}/`, "b");
  waits();
  expect([shown().phase, log.slice(sent)]).toEqual(["loaded", [`src again ${B}/`]]);
});

it("leaves a frame alone whose boot page goes on to the page at this moment", () => {
  vi.useFakeTimers();
  const { booted, hear, log, say, show, tab } = openBrowser();
  show(`${A}/`, "a");
  tab.go(`${B}/`);
  const sent = log.length;
  const waits = () => hear({ type: "navigation", kind: "answered", id: 1 });
  waits();
  say(B, "slot-ready");
  booted.add(B);
  vi.advanceTimersByTime(2_900);
  waits();
  expect(log.slice(sent)).toEqual([]);
  vi.advanceTimersByTime(200);
  waits();
  expect(log.slice(sent)).toEqual([`src again ${B}/`]);
  vi.useRealTimers();
});

it("sends the frame out again where its boot page was cut off and nothing came, and waits longer for a slow one", () => {
  vi.useFakeTimers();
  const { hear, log, show, shown, tab } = openBrowser();
  show(`${A}/`, "a");
  tab.go(`${B}/`);
  const sent = log.length;
  const waits = () => hear({ type: "navigation", kind: "answered", id: 1 });
  waits();
  vi.advanceTimersByTime(3_000);
  waits();
  vi.advanceTimersByTime(9_900);
  expect(log.slice(sent)).toEqual([]);
  vi.advanceTimersByTime(200);
  expect(log.slice(sent)).toEqual([`src again ${B}/`]);
  show(`${B}/`, "b");
  waits();
  vi.advanceTimersByTime(60_000);
  expect([shown().phase, log.slice(sent)]).toEqual(["loaded", [`src again ${B}/`]]);
  vi.useRealTimers();
});

describe("going somewhere else than the page that is on its way", () => {
  it("ends at the start page by Back", () => {
    const { log, report, say, show, shown, tab } = openBrowser();
    show(`${A}/`, "a");
    say(A, "leaving");
    report("/blank", "loaded", "start");
    expect(shown()).toMatchObject({ phase: "idle", url: "" });
    show(`${A}/`, "a");
    tab.go(`${B}/`);
    report("/blank", "loaded", "start");
    expect(shown()).toMatchObject({ phase: "idle", url: "" });
    expect(log).toContain("abandon 1");
  });

  it("gives it up for the start page, also where it waits for the link", () => {
    const { hear, log, shown, tab } = openBrowser();
    hear({ type: "link", link: { kind: "offline", since: 0 } });
    tab.go(`${B}/`);
    tab.home();
    log.length = 0;
    hear({ type: "link", link: { kind: "open" } });
    hear({
      type: "navigation",
      kind: "failed",
      id: 1,
      url: `${B}/`,
      code: ErrorCode.LINK_LOST,
      message: "",
    });
    expect(shown()).toMatchObject({ phase: "idle", url: "", error: null });
    expect(log).toEqual([]);
  });

  it("does not stop the page that Back leads to", () => {
    const { log, report, show, shown, tab } = openBrowser();
    show(`${A}/`, "a");
    tab.go(`${B}/`);
    report(`${B}/`, "loading", "b");
    tab.stop();
    log.length = 0;
    report(`${A}/`, "loading", "a");
    expect(shown().phase).toBe("loading");
    expect(log).toEqual([]);
  });

  it("leaves no page the power to keep the person by its own history", () => {
    const { log, report, show, tab } = openBrowser();
    show(`${A}/1`, "a1");
    show(`${A}/2`, "a2");
    tab.go(`${B}/`);
    report(`${A}/1`, "loaded", "a1");
    expect(log).not.toContain("abandon 1");
  });
});

describe("where the frame has a document that is not the page", () => {
  it("loads an address with a fragment again after a failure", () => {
    const { hear, hearPage, log, tab } = openBrowser();
    tab.go(`${A}/#part`);
    hear({
      type: "navigation",
      kind: "failed",
      id: 1,
      url: `${A}/`,
      code: ErrorCode.LINK_LOST,
      message: "",
    });
    hearPage(
      { tag: MESSAGE_TAG, type: "failed", url: `${A}/#part`, code: ErrorCode.LINK_LOST, message: "", historyKey: "a" },
      A,
    );
    log.length = 0;
    tab.reload();
    expect(log.slice(1)).toEqual(["ask 2 https://a.example/", "replace again https://a.example/#part"]);
  });

  it("loads the page shown again when a redirect leads to a part of it", () => {
    const { hear, log, show, shown, tab } = openBrowser();
    show(`${B}/end#part`, "b");
    tab.go(`${A}/redirect#own`);
    hear({ type: "navigation", kind: "moved", id: 1, url: `${B}/end` });
    expect(log.at(-1)).toBe(`src again ${B}/end#own`);
    show(`${B}/end#own`, "b2");
    expect(shown()).toMatchObject({ phase: "loaded", url: `${B}/end#own` });
  });

  it("loads the page shown again when its address with the fragment is typed, but not for another part of it", () => {
    const { log, report, show, shown, tab } = openBrowser();
    show(`${A}/#part`, "a");
    log.length = 0;
    tab.go(`${A}/#part`);
    expect(log).toContain("replace again https://a.example/#part");
    show(`${A}/#part`, "a");
    log.length = 0;
    tab.go(`${A}/#other`);
    // Nothing is asked for.
    expect(log).toEqual(["src https://a.example/#other"]);
    expect(shown().phase).toBe("loading");
    report(`${A}/#other`, "loaded", "a2");
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/#other` });
  });

  it("brings the page before back when the person stops after a boot page has taken its place", () => {
    const { log, say, show, shown, tab } = openBrowser();
    show(`${A}/`, "a");
    tab.go(`${B}/`);
    say(B, "slot-ready");
    log.length = 0;
    tab.stop();
    expect(log).toEqual(["abandon 1", "tell stop", "replace again https://a.example/"]);
    show(`${A}/`, "b");
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/` });
    expect(log.filter((line) => line === "tell stop")).toHaveLength(1);
  });
});

it("draws no icon that comes when the page of another site is there", async () => {
  const { app, hearPage, show, shown } = openBrowser();
  const icon = Promise.withResolvers<string>();
  app.tunnel.icon = () => icon.promise;
  const page = { url: `${A}/`, title: "", historyKey: "a", isPosted: false, icon: `${A}/icon.png` };
  hearPage({ tag: MESSAGE_TAG, type: "document", phase: "loading", ...page }, A);
  hearPage({ tag: MESSAGE_TAG, type: "document", phase: "loaded", ...page }, A);
  show(`${B}/`, "b");
  icon.resolve("data:image/png,a");
  await icon.promise;
  await Promise.resolve();
  await Promise.resolve();
  expect(shown()).toMatchObject({ url: `${B}/`, icon: null });
});

it("shows the page that steps in its own history under its own address until the other comes", () => {
  const { show, shown, tab, log } = openBrowser();
  for (const [key, path] of Object.entries({ a: "/1", b: "/2", c: "/3" })) show(A + path, key);
  expect(tab.step(-4, "started")).toBe(false);
  expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/3` });
  expect(tab.step(-2, "started")).toBe(true);
  expect(shown()).toMatchObject({ phase: "loading", url: `${A}/3` });
  expect(log.filter((line) => line.startsWith("ask"))).toEqual([`ask 1 ${A}/1`]);
});
