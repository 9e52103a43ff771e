import { afterEach, expect, it, vi } from "vitest";
import { type DocumentPhase, MESSAGE_TAG, type PageToShell } from "../../messages/page-messages.ts";
import type { Notice } from "../app/state.ts";
import { SlotPlaces } from "../frames/slot-frames.ts";
import { createFakeFrame, createFakeSlots, openApp, openBrowser, sendsTo } from "../testing/tab-rig.ts";
import { typedNavigation } from "./navigation-request.ts";
import type { KeptEntry } from "./session-history.ts";
import type { Tab } from "./tab.ts";
import { type OtherTabs, Tabs } from "./tabs.ts";
import type { AppWindow } from "./windows.ts";

const [A, B] = ["https://a.example", "https://b.example"];
const TOP = { x: 0, y: 0 };

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Tabs whose frames do nothing but write down what they are told. */
function openTabs(mostBehind = 5, lastMark: unknown = null) {
  const { app, log } = openApp();
  const { slotFor, slots } = createFakeSlots(log);
  const marks: unknown[] = [];
  const browserList = {
    length: 1,
    state: lastMark,
    go: (delta = 0) => log.push(`go ${delta}`),
    pushState(state: unknown) {
      marks.push(state);
      browserList.length += 1;
    },
  };
  let focused: Element | null = null;
  let kept: { readonly entries: readonly KeptEntry[]; readonly others: OtherTabs } | null = null;
  vi.stubGlobal("history", { go: (delta: number) => log.push(`browser goes ${delta}`) });
  const tabs = new Tabs({
    app,
    places: new SlotPlaces(slots),
    slots,
    createFrame: () => createFakeFrame(log).element as unknown as HTMLIFrameElement,
    focusPage: () => void log.push("focus"),
    keepFocus: () => {
      log.push("focus is kept");
      return focused;
    },
    openOtherApp() {},
    history: browserList,
    keep(entries, others) {
      kept = { entries, others };
    },
    mostBehind,
  });
  tabs.mount({ append() {} } as unknown as ParentNode);
  const report = ({ tab, frame }: AppWindow, url: string, phase: DocumentPhase, historyKey: string) => {
    const slot = url.startsWith("/") ? null : slotFor(new URL(url).origin);
    const sent = { title: url, isPosted: false, icon: null };
    const message = { tag: MESSAGE_TAG, type: "document", phase, url, historyKey, ...sent } as const;
    tab.onPageMessage(message, slot, frame.element.contentWindow as Window);
  };
  /** A document comes into the window, with an entry of its own. */
  const show = (window: AppWindow, url: string, historyKey: string) => {
    report(window, url, "loading", historyKey);
    report(window, url, "loaded", historyKey);
  };
  const open = () => {
    tabs.open();
    const first = tabs.shown;
    report(first, "/blank", "loaded", "start");
    return first;
  };
  const first = tabs.shown;
  report(first, "/blank", "loaded", "start");
  log.length = 0;
  return {
    app,
    tabs,
    first,
    log,
    marks,
    browserList,
    show,
    report,
    open,
    kept: () => kept,
    /** The browser gives the window's frame the focus. */
    focus: (window: AppWindow) => {
      focused = window.frame.element;
    },
    /** A page in the window speaks. */
    say: (window: AppWindow, message: PageToShell, origin = A, isActive = true) => {
      const source = window.frame.element.contentWindow as Window;
      const userActivation = { isActive, hasBeenActive: isActive };
      const slot = slotFor(origin);
      if (!tabs.take(message, slot, { source, from: window, ports: [], userActivation }))
        window.tab.onPageMessage(message, slot, source);
    },
    urls: () => tabs.state.tabs.map(({ url }) => url),
  };
}

it("goes through a tab's own history where the browser's list has another tab's entries before it", () => {
  const { tabs, first, log, marks, show, open } = openTabs();
  show(first, `${A}/1`, "a1");
  show(first, `${A}/2`, "a2");
  first.tab.back();
  expect(log.splice(0)).toContain("browser goes -1");
  show(first, `${A}/1`, "a1");
  first.tab.forward();
  show(first, `${A}/2`, "a2");

  const second = open();
  expect(marks).toEqual([{ tab: 1 }]);
  show(second, `${B}/1`, "b1");
  tabs.show(1);
  expect(marks.splice(0)).toHaveLength(2);
  log.length = 0;
  first.tab.back();
  expect(log).toContain(`replace ${A}/1`);
  expect(marks).toEqual([{ tab: 3 }]);
  // The browser may give it the key of the entry whose place it takes.
  show(first, `${A}/1`, "a2");
  expect(first.tab.state).toMatchObject({ url: `${A}/1`, canGoBack: true, canGoForward: true });
  first.tab.forward();
  show(first, `${A}/2`, "a2");
  expect(first.tab.state).toMatchObject({ url: `${A}/2`, canGoForward: false });

  // What it adds from now on, the browser leads through.
  show(first, `${A}/3`, "a3");
  log.length = 0;
  first.tab.back();
  expect(log).toContain("browser goes -1");
});

it("keeps a tab's way where the page before speaks on while the app leads to another site's", () => {
  const { tabs, first, show, open, report } = openTabs();
  show(first, `${B}/1`, "b1");
  show(first, `${A}/2`, "a2");
  open();
  tabs.show(1);
  first.tab.back();
  report(first, `${A}/2`, "loaded", "a2");
  show(first, `${B}/1`, "b1x");
  expect(first.tab.state).toMatchObject({ url: `${B}/1`, canGoForward: true });
  first.tab.forward();
  show(first, `${A}/2`, "a2x");
  expect(first.tab.state).toMatchObject({ url: `${A}/2`, canGoForward: false });
});

it("takes the phone's way back from the beginning of a tab for a step of that tab", () => {
  const { tabs, first, log, marks, show, open, urls } = openTabs();
  show(first, `${A}/1`, "a1");
  show(first, `${A}/2`, "a2");
  open();
  tabs.show(1);
  marks.length = 0;
  tabs.onEntry({ tab: 1 });
  expect(log).toContain(`replace ${A}/1`);
  expect(marks.length).toBeGreaterThan(0);
  show(first, `${A}/1`, "a1b");
  expect(urls()).toEqual([`${A}/1`, ""]);

  // A tab with the start page alone closes.
  tabs.show(2);
  tabs.onEntry({ tab: 3 });
  expect(urls()).toEqual([`${A}/1`]);
  // An entry of the tab's own.
  const steps = log.length;
  tabs.onEntry(marks.at(-1));
  expect(log.length).toBe(steps);
});

it("puts the tab in front behind what a frame behind it has added to the browser's list", () => {
  const { first, log, marks, show, open } = openTabs();
  show(first, `${A}/1`, "a1");
  const second = open();
  show(second, `${B}/1`, "b1");
  show(second, `${B}/2`, "b2");
  marks.length = 0;
  vi.useFakeTimers();
  for (const page of ["2", "3", "4"]) show(first, `${A}/${page}`, `a${page}`);
  // Once in a while, however many those are.
  expect(marks).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(marks).toHaveLength(1);
  log.length = 0;
  second.tab.back();
  expect(log).toContain(`replace ${B}/1`);
  vi.useRealTimers();
});

it("keeps the page that was heard last, whatever was seen since, until it is silent", () => {
  const { tabs, first, log, show, open, say } = openTabs(1);
  const sound = (isOn: boolean) => say(first, { tag: MESSAGE_TAG, type: "sound", isOn });
  show(first, `${A}/1`, "a1");
  sound(true);
  show(open(), `${B}/1`, "b1");
  show(open(), `${B}/2`, "b2");
  show(open(), `${B}/3`, "b3");
  expect(tabs.all).toHaveLength(2);
  expect(tabs.all).toContain(first);
  sound(false);
  show(open(), `${B}/4`, "b4");
  expect(tabs.all).not.toContain(first);
  expect(log).not.toContain("focus is kept");
});

it("tells of troubles of a page behind, and of what failed there, when it is in front", () => {
  const { app, tabs, first, show, open, say } = openTabs();
  show(first, `${A}/1`, "a1");
  show(open(), `${B}/1`, "b1");
  const trouble = (kind: "socket" | "hidden", isOver = false) =>
    say(first, { tag: MESSAGE_TAG, type: "trouble", trouble: kind, isOver });
  for (const kind of ["hidden", "socket"] as const) trouble(kind);
  trouble("hidden", true);
  expect(app.state.notice).toBeNull();
  tabs.show(1);
  expect(app.state.notice).toEqual({ kind: "trouble", trouble: "socket", url: `${A}/1` });
});

it("ends a tab behind that takes the focus knowing that nobody sees it, and no other", () => {
  const { tabs, first, log, show, open, say } = openTabs();
  const focus = (isBehind: boolean) => say(first, { tag: MESSAGE_TAG, type: "focus", has: true, isBehind });
  show(first, `${A}/1`, "a1");
  show(open(), `${B}/1`, "b1");
  log.length = 0;
  focus(false);
  expect(log.splice(0)).toContain("focus is kept");
  expect(tabs.all).toHaveLength(2);
  focus(true);
  expect(log).toContain("focus is kept");
  expect(tabs.all).not.toContain(first);
});

it("ends a tab behind that takes the focus again by a document that does not tell of it", () => {
  vi.useFakeTimers();
  const { tabs, first, log, show, open, say, focus } = openTabs();
  show(first, `${A}/1`, "a1");
  const second = open();
  show(second, `${B}/1`, "b1");
  const lose = () => {
    focus(first);
    say(second, { tag: MESSAGE_TAG, type: "focus", has: false, isBehind: false }, B);
    vi.advanceTimersByTime(1_000);
  };
  log.length = 0;
  lose();
  expect(log.splice(0)).toContain("focus is kept");
  expect(tabs.all).toContain(first);
  lose();
  expect(tabs.all).not.toContain(first);
  expect(tabs.all).toContain(second);
  vi.useRealTimers();
});

it("keeps frames while there is room, and brings a page back without one where it was", () => {
  const { tabs, first, log, show, open, urls } = openTabs(1);
  show(first, `${A}/1`, "a1");
  show(first, `${A}/2`, "a2");
  show(open(), `${B}/1`, "b1");
  open();
  expect(tabs.all).toHaveLength(2);
  expect(urls()).toEqual([`${A}/2`, `${B}/1`, ""]);
  log.length = 0;
  tabs.show(1);
  expect(log).toContain("src /blank");
  const { tab, frame } = tabs.shown;
  expect(tab.state).toMatchObject({ phase: "loading", destination: { url: `${A}/2` } });
  expect(frame).not.toBe(first.frame);
});

it("closes a tab, and takes that back where it was", () => {
  const { app, tabs, first, show, open, urls } = openTabs();
  show(first, `${A}/1`, "a1");
  show(open(), `${B}/1`, "b1");
  tabs.move(2, 0);
  expect(urls()).toEqual([`${B}/1`, `${A}/1`]);
  tabs.close(2);
  expect(urls()).toEqual([`${A}/1`]);
  const notice = app.state.notice as Notice & { kind: "closed-tab" };
  notice.undo();
  expect(urls()).toEqual([`${B}/1`, `${A}/1`]);
  expect(tabs.state.tabs[0]).toMatchObject({ isShown: true });
  tabs.close(1);
  tabs.close(2);
  expect(urls()).toEqual([""]);
});

it("closes a tab that a page has led to by its own script, or the way back, without a word", () => {
  const { app, tabs, first, show, say, urls } = openTabs();
  show(first, `${A}/1`, "a1");
  const opens = { id: null, name: "" };
  const led = () => {
    say(first, { ...sendsTo(`${B}/1`), opens } as PageToShell);
    show(tabs.shown, `${B}/1`, "b1");
    return tabs.shown;
  };
  const close = { tag: MESSAGE_TAG, type: "window", act: { kind: "close" } } as const;
  say(led(), close, B);
  tabs.onEntry(null);
  expect([urls(), tabs.shown]).toEqual([[`${A}/1`], first]);
  led().tab.back();
  expect([urls(), app.state.notice]).toEqual([[`${A}/1`], null]);
  // The person has opened it; and one that has shown more than a page stays, too.
  say(first, close);
  const gone = led();
  show(gone, `${B}/2`, "b2");
  say(gone, close, B);
  expect(urls()).toEqual([`${A}/1`, `${B}/2`]);
});

it("closes a tab that a page has led to a file alone, once the browser has that", () => {
  vi.useFakeTimers();
  const { tabs, first, log, show, say, urls } = openTabs();
  show(first, `${A}/1`, "a1");
  const alone = { id: null, name: "" };
  /** A file answers what the tab has asked for last. @param id of another tab's navigation. */
  const ends = (tab: Tab, url: string, id?: number) => {
    const [, asked] = /^ask (\d+)/.exec(log.findLast((line) => line.startsWith("ask")) ?? "") ?? [];
    tab.onTunnelEvent({ type: "document", kind: "none", origin: B, url, id: id ?? Number(asked) });
  };
  const led = (url: string) => {
    // As many as a tap may have been opened before.
    vi.advanceTimersByTime(6_000);
    say(first, { ...sendsTo(url), opens: alone } as PageToShell);
    return tabs.shown;
  };
  ends(led(`${B}/file`).tab, `${B}/file`);
  expect(urls()).toHaveLength(2);
  vi.runAllTimers();
  expect(urls()).toEqual([`${A}/1`]);

  // Another tab's file, an answer without content, and a file after it.
  const waiting = led(`${B}/2`).tab;
  ends(waiting, `${B}/2`, 1);
  vi.runAllTimers();
  waiting.onTunnelEvent({ type: "document", kind: "none", origin: B, url: `${B}/2` });
  vi.runAllTimers();
  expect(urls()).toHaveLength(2);
  waiting.sendTo(typedNavigation(`${B}/3`, A));
  ends(waiting, `${B}/3`);
  vi.advanceTimersByTime(700);
  waiting.sendTo(typedNavigation(`${B}/4`, A));
  ends(waiting, `${B}/4`);
  vi.advanceTimersByTime(700);
  expect(urls()).toHaveLength(2);
  vi.runAllTimers();
  expect(urls()).toEqual([`${A}/1`]);

  // The person has closed it meanwhile.
  const { tab } = led(`${B}/5`);
  ends(tab, `${B}/5`);
  tab.back();
  expect(urls()).toEqual([`${A}/1`]);
  vi.runAllTimers();
  expect(urls()).toEqual([`${A}/1`]);

  // The person has typed its address, there is a page, or the tab is the person's own.
  const typed = led(`${B}/6`);
  typed.tab.go(`${B}/7`);
  ends(typed.tab, `${B}/7`);
  tabs.show(1);
  const next = led(`${B}/8`);
  show(next, `${B}/8`, "b8");
  tabs.show(1);
  for (const window of [next, first]) {
    window.tab.sendTo(typedNavigation(`${B}/file`, A));
    ends(window.tab, `${B}/file`);
  }
  vi.runAllTimers();
  expect(urls()).toHaveLength(3);
});

it("opens no tab for a page above a hundred, but by the person's word", () => {
  const { app, tabs, first, show, say } = openTabs();
  show(first, `${A}/1`, "a1");
  for (let count = 1; count < 100; count += 1) tabs.open(typedNavigation(`${B}/${count}`), "behind");
  say(first, { ...sendsTo(`${B}/more`), opens: { id: null, name: "" } } as PageToShell);
  expect(tabs.state.tabs).toHaveLength(100);
  (app.state.notice as Notice & { kind: "window" }).show?.();
  expect(tabs.state.tabs).toHaveLength(101);
});

it("is told to be kept, is there again, and forgets", () => {
  const { first, show, open, kept } = openTabs();
  show(first, `${A}/1`, "a1");
  show(open(), `${B}/1`, "b1");
  const entry = { url: `${A}/1`, isRepeatable: true, scroll: TOP };
  const { others } = kept() ?? { others: { tabs: [], at: 0 } };
  expect(others).toMatchObject({ at: 1, tabs: [{ title: `${A}/1`, entries: [{ url: "" }, entry] }] });

  const again = openTabs();
  again.tabs.resume(others);
  expect(again.urls()).toEqual([`${A}/1`, ""]);
  again.tabs.forget((url) => url.startsWith(A), true);
  expect(again.urls()).toEqual([""]);
});

it("has tabs stay when their pages are forgotten, and be kept again when that is taken back", () => {
  const { tabs, first, show, report, open, kept, urls } = openTabs(0);
  show(first, `${A}/1`, "a1");
  show(first, `${A}/2`, "a2");
  const second = open();
  show(second, `${A}/3`, "a3");
  /** The pages that are not forgotten, those of the tab shown last. */
  const left = () => {
    const { entries = [], others } = kept() ?? {};
    const all = [...(others?.tabs.flatMap((tab) => tab.entries) ?? []), ...entries];
    return all.flatMap(({ url, forgottenBy }) => (url === "" || forgottenBy ? [] : [url.at(-1)])).join("");
  };
  const isOf = (url: string) => url.startsWith(A);
  tabs.forget((url) => url === `${A}/1`);
  const undo = tabs.forget(isOf);
  expect([urls(), left()]).toEqual([[`${A}/2`, `${A}/3`], ""]);
  undo();
  expect(left()).toBe("23");

  tabs.forget(isOf);
  tabs.show(1);
  report(tabs.shown, "/blank", "loaded", "start again");
  expect(tabs.shown.tab.state).toMatchObject({ phase: "loading", destination: { url: `${A}/2` } });
  show(tabs.shown, `${A}/2`, "a2 again");
  expect(left()).toBe("2");
});

it("opens no more tabs for a tap than windows, and offers the next one", () => {
  const { app, tabs, first, show, say } = openTabs();
  show(first, `${A}/1`, "a1");
  const wish = { ...sendsTo(`${B}/1`), opens: { id: null, name: "", tab: "behind" } } as PageToShell;
  for (let asked = 0; asked < 100; asked += 1) say(first, wish);
  expect(tabs.state.tabs).toHaveLength(4);
  const { show: open } = app.state.notice as Notice & { kind: "window" };
  open?.();
  expect(tabs.state.tabs).toHaveLength(5);
  tabs.show(2);
  expect(app.state.notice).toBeNull();
});

it("says nothing of a page any more when another tab is in front", () => {
  const { app, tabs, first, show, say, open } = openTabs();
  show(first, `${A}/1`, "a1");
  say(first, { tag: MESSAGE_TAG, type: "trouble", trouble: "socket" });
  expect(app.state.notice).toMatchObject({ kind: "trouble" });
  const second = open();
  expect(app.state.notice).toBeNull();
  show(second, `${B}/1`, "b1");
  say(first, { ...sendsTo(`${B}/2`), opens: { id: "w", name: "" } } as PageToShell);
  expect(app.state.notice).toBeNull();
  expect(tabs.all).toHaveLength(2);
});

it("leaves the focus where it is when a page comes into a tab behind", () => {
  const { first, log, show, open } = openTabs();
  open();
  log.length = 0;
  show(first, `${A}/1`, "a1");
  expect(log).not.toContain("focus");
});

it("has no more frames than there is room for, and keeps what has not yet loaded", () => {
  const { tabs, first, show, urls, kept } = openTabs(1);
  show(first, `${A}/1`, "a1");
  for (const path of [1, 2, 3]) tabs.open(typedNavigation(`${B}/${path}`), "behind");
  expect(tabs.all).toHaveLength(2);
  expect(urls()).toEqual([`${A}/1`, `${B}/3`, `${B}/2`, `${B}/1`]);
  const entries = kept()?.others.tabs.map((tab) => tab.entries.map(({ url }) => url));
  expect(entries).toEqual([[`${B}/3`], [`${B}/2`], [`${B}/1`]]);
});

it("gives the room of a tab that closes to the others", () => {
  const { tabs, first, show, open } = openTabs(1);
  show(first, `${A}/1`, "a1");
  tabs.openLink(`${A}/2`, "in front");
  const third = open();
  show(third, `${B}/1`, "b1");
  tabs.show(2);
  tabs.close(2);
  expect(tabs.shown.tab.state.destination).toMatchObject({ url: `${A}/1` });
  expect(tabs.all).toContain(third);
});

it("takes a tab back once, and not where its site is forgotten", () => {
  const { app, tabs, first, show, open, urls } = openTabs();
  show(first, `${A}/1`, "a1");
  show(open(), `${B}/1`, "b1");
  tabs.close(1);
  const { undo } = app.state.notice as Notice & { kind: "closed-tab" };
  undo();
  undo();
  expect(urls()).toEqual([`${A}/1`, `${B}/1`]);
  tabs.close(1);
  const again = app.state.notice as Notice & { kind: "closed-tab" };
  tabs.forget((url) => url.startsWith(A));
  expect(app.state.notice).toBeNull();
  again.undo();
  expect(urls()).toEqual([`${B}/1`]);
});

it("does nothing that the page of the tab before still wants of the one frame", () => {
  const { tab, log, show, report, hearPage } = openBrowser();
  show(`${A}/1`, "a1");
  tab.restart([{ url: `${B}/1`, isRepeatable: true, scroll: TOP }]);
  log.length = 0;
  hearPage(sendsTo(`${A}/2`), A);
  hearPage({ tag: MESSAGE_TAG, type: "moved", url: `${A}/3` }, A);
  hearPage({ tag: MESSAGE_TAG, type: "failed", url: `${A}/4`, code: 1, message: "", historyKey: "a4" }, A);
  expect(log).toEqual([]);
  report("/blank", "loaded", "start again");
  expect(tab.state).toMatchObject({ url: `${B}/1`, phase: "loading", canGoBack: false });
});

it("takes addresses of links that are held for texts, whatever a page gives", () => {
  const { tab, hearPage, show } = openBrowser();
  show(`${A}/1`, "a1");
  const held = { url: ["https://b.example"] as unknown as string, picture: "javascript:alert(1)" };
  hearPage({ tag: MESSAGE_TAG, type: "held", ...held }, A);
  expect(tab.state.held).toEqual({ url: "https://b.example/", picture: null });
});

it("lets no page open for ever, in front of all else, what can be done with a link", () => {
  const { tab, hearPage, show } = openBrowser();
  show(`${A}/1`, "a1");
  const hold = () => hearPage({ tag: MESSAGE_TAG, type: "held", url: `${B}/`, picture: "" }, A);
  for (const _ of Array(3)) {
    hold();
    expect(tab.state.held).not.toBeNull();
    tab.letGo();
  }
  hold();
  expect(tab.state.held).toBeNull();
  const now = vi.spyOn(performance, "now").mockReturnValue(performance.now() + 5_000);
  hold();
  now.mockRestore();
  expect(tab.state.held).not.toBeNull();
});

/** As `openTabs`, where the page at A has opened windows. */
function openWindows() {
  const opened = openTabs();
  const { tabs, first, log, marks, browserList, show, say } = opened;
  show(first, `${A}/1`, "a1");
  show(first, `${A}/2`, "a2");
  let ids = 0;
  const open = (url: string, from = first, origin = A) => {
    say(from, { ...sendsTo(url), opens: { id: `w${++ids}`, name: "" } } as PageToShell, origin);
    return tabs.shown;
  };
  const close = (window: AppWindow) =>
    say(window, { tag: MESSAGE_TAG, type: "window", act: { kind: "close" } } as PageToShell, B);
  /** A page comes, with an entry of the browser's where it is not the first of its frame. */
  const add = (window: AppWindow, url: string, key: string) => {
    if (window.frame.history.depth > 0 || window.tab.state.url !== "") browserList.length += 1;
    show(window, url, key);
  };
  /** What the tabs did with the browser's list since. */
  const moves = () => [...log.splice(0).filter((line) => line.startsWith("go ")), ...marks.splice(0)];
  /** The id of the tab that was opened last. */
  const last = () => Math.max(...tabs.state.tabs.map(({ id }) => id));
  return { ...opened, open, close, add, moves, last };
}

it("lists a window of a page beside that, with its own history, and leads back to the page that has opened it", () => {
  const { tabs, first, urls, open, add } = openWindows();
  const window = open(`${B}/1`);
  expect(tabs.state.openedBy).toBe(A);
  add(window, `${B}/1`, "b1");
  expect(urls()).toEqual([`${A}/2`, `${B}/1`]);
  expect(first.frame.element).toMatchObject({ title: "Page behind", inert: true });
  tabs.show(1);
  expect([tabs.shown, tabs.state.openedBy]).toEqual([first, null]);
  tabs.show(2);
  expect(tabs.shown).toBe(window);
  tabs.shown.tab.back();
  expect([tabs.shown, urls()]).toEqual([first, [`${A}/2`]]);
});

it("steps back over what a window has added to the browser's list as it closes", () => {
  const { tabs, first, log, open, close, add, moves } = openWindows();
  moves();
  const window = open(`${B}/1`);
  expect(moves()).toEqual([{ tab: 1 }]);
  for (const page of [1, 2, 3]) add(window, `${B}/${page}`, `b${page}`);
  close(window);
  expect([moves(), tabs.shown]).toEqual([["go -3"], first]);
  tabs.onEntry(null);
  expect(moves()).toEqual([]);
  // The browser leads through the page's own entries still.
  first.tab.back();
  expect(log.splice(0)).toContain("browser goes -1");
  add(first, `${A}/1`, "a1");

  // An entry that the window has left lies ahead, and leads nowhere.
  tabs.onEntry({ tab: 1 });
  expect([moves(), tabs.shown]).toEqual([[], first]);

  // The page below has gone on meanwhile, and stays there.
  const other = open(`${B}/4`);
  add(other, `${B}/4`, "b4");
  add(first, `${A}/3`, "a3");
  moves();
  close(other);
  expect(moves()).toEqual([{ tab: 3 }]);

  // The window has sent it on before it closed, and the next page may be there before the steps are made.
  const last = open(`${B}/5`);
  add(last, `${B}/5`, "b5");
  first.tab.sendTo(typedNavigation(`${A}/4`, B));
  moves();
  close(last);
  expect(moves()).toEqual([{ tab: 5 }]);
});

it("steps back over no more entries than the browser's list has, however many a page tells of", () => {
  const { browserList, open, close, show, moves } = openWindows();
  const window = open(`${B}/1`);
  for (const page of Array(30).keys()) show(window, `${B}/${page}`, `b${page}`);
  browserList.length += 2;
  moves();
  close(window);
  expect(moves()).toEqual(["go -3"]);
});

it("closes a window where the phone's way back has left it, and not before it has gone through its own history", () => {
  const { tabs, first, log, open, add, moves, last } = openWindows();
  moves();
  const one = open(`${B}/1`);
  add(one, `${B}/1`, "b1");
  const over = open(`${B}/2`, one, B);
  add(over, `${B}/2`, "b2");
  expect(moves()).toEqual([{ tab: 1 }, { tab: 2 }]);
  // Both at once.
  tabs.onEntry(null);
  expect([moves(), tabs.shown]).toEqual([[], first]);

  const window = open(`${B}/3`);
  add(window, `${B}/3`, "b3");
  add(window, `${B}/4`, "b4");
  tabs.show(1);
  tabs.show(last());
  expect([tabs.shown, moves()]).toEqual([window, [{ tab: 3 }, { tab: 4 }, { tab: 5 }]]);
  tabs.onEntry({ tab: 4 });
  expect(log).toContain(`replace ${B}/3`);
  expect([tabs.shown, moves()]).toEqual([window, [{ tab: 6 }]]);
  add(window, `${B}/3`, "b3x");
  tabs.onEntry({ tab: 5 });
  expect(tabs.shown).toBe(first);
});

it("gives a window that opens as another closes its entry where the browser's way back has led", () => {
  const { tabs, first, open, close, moves } = openWindows();
  close(open(`${B}/1`));
  moves();
  const second = open(`${B}/2`);
  expect(moves()).toEqual([]);
  tabs.onEntry(null);
  expect([moves(), tabs.shown]).toEqual([[{ tab: 2 }], second]);

  // One that closes before that has none to go back over.
  close(second);
  expect(moves()).toEqual(["go -1"]);
  close(open(`${B}/3`));
  expect([moves(), tabs.shown]).toEqual([[], first]);
});

it("keeps the frames of windows and of the pages that have opened them while one of these is in front", () => {
  const { tabs, first, show, say, open, log } = openTabs(1);
  show(first, `${A}/1`, "a1");
  const told = () => log.filter((line) => line === "tell tab behind").length;
  for (const id of ["v", "w"]) {
    say(first, { ...sendsTo(`${B}/${id}`), opens: { id, name: "" } } as PageToShell);
    tabs.show(1);
  }
  expect([tabs.all.length, told()]).toEqual([3, 0]);
  open();
  expect(told()).toBeGreaterThanOrEqual(3);
  // There is room for the frame seen last of the others.
  expect(tabs.all).toHaveLength(2);
  expect(tabs.all).toContain(first);
  expect(tabs.state.tabs).toHaveLength(4);
});

it("takes one press of the phone's Back for one step, whichever tab was below", () => {
  const { app, tabs, first, log, open, add, moves, urls } = openWindows();
  app.changeSettings({ windowOpeners: ["a.example"] });
  const one = open(`${B}/1`);
  add(one, `${B}/1`, "b1");
  // From behind, over the first window.
  const two = open(`${B}/2`);
  add(two, `${B}/2`, "b2");
  expect(urls()).toEqual([`${A}/2`, `${B}/1`, `${B}/2`]);
  log.length = 0;
  tabs.onEntry({ tab: 1 });
  expect([tabs.shown, first.tab.state.url]).toEqual([first, `${A}/2`]);
  expect(log.filter((line) => /^(replace|browser)/.test(line))).toEqual([]);

  // The tab below the one shown has gone.
  tabs.show(2);
  const three = open(`${B}/3`, one, B);
  add(three, `${B}/3`, "b3");
  tabs.close(2);
  moves();
  tabs.onEntry({ tab: 3 });
  expect([tabs.shown, urls(), moves()]).toEqual([first, [`${A}/2`], [{ tab: 6 }]]);
});

it("leads no page below back where the phone's Back leaps over a window's own entries", () => {
  const { tabs, log, open, add } = openWindows();
  const window = open(`${B}/1`);
  for (const page of [1, 2]) add(window, `${B}/${page}`, `b${page}`);
  log.length = 0;
  tabs.onEntry(null);
  expect(log.filter((line) => /^(replace|browser)/.test(line))).toEqual([`replace ${B}/1`]);
  expect(tabs.shown).toBe(window);
});

it("leads forward by itself where a tab's entry has cut the browser's list", () => {
  const { tabs, first, log, open, close, add } = openWindows();
  first.tab.back();
  add(first, `${A}/1`, "a1");
  const window = open(`${B}/1`);
  add(window, `${B}/1`, "b1");
  close(window);
  tabs.onEntry(null);
  log.length = 0;
  first.tab.forward();
  expect(log.filter((line) => /^(replace|browser)/.test(line))).toEqual([`replace ${A}/2`]);
});

it("counts its entries on after a reload, and from where the person has come to", () => {
  const again = openTabs(5, { tab: 7 });
  const second = again.open();
  expect(again.marks).toEqual([{ tab: 8 }]);
  again.show(second, `${B}/1`, "b1");
  // An entry of before the reload.
  again.tabs.show(1);
  again.tabs.close(2);
  again.tabs.onEntry({ tab: 3 });
  again.show(again.first, `${A}/1`, "a1");
  again.show(again.first, `${A}/2`, "a2");
  again.say(again.first, { ...sendsTo(`${B}/2`), opens: { id: "w", name: "" } } as PageToShell);
  again.show(again.tabs.shown, `${B}/2`, "b2");
  again.log.length = 0;
  again.tabs.onEntry({ tab: 3 });
  expect(again.tabs.shown).toBe(again.first);
  expect(again.log.filter((line) => /^(replace|browser)/.test(line))).toEqual([]);
});

it("parts a window from its opener as the person goes elsewhere in it, or it loses its frame", () => {
  for (const way of ["home", "typed", "rest"] as const) {
    const { app, tabs, first, log, open, say, show, last } = openWindows();
    const window = open(`${B}/1`);
    show(window, `${B}/1`, "b1");
    const { element } = window.frame;
    expect([tabs.state.openedBy, element.name]).toEqual([A, "ropeway-opened "]);
    if (way === "home") window.tab.home();
    else if (way === "typed") window.tab.go("https://bank.example/");
    else {
      tabs.close(last());
      (app.state.notice as Notice & { kind: "closed-tab" }).undo();
    }
    expect([tabs.state.openedBy, element.name], way).toEqual([null, ""]);
    // The page that has opened it is behind now.
    if (way !== "rest") expect(log.includes("tell tab behind"), way).toBe(true);
    log.length = 0;
    const act = { kind: "go", url: `${A}/3`, replace: false } as const;
    say(first, { tag: MESSAGE_TAG, type: "window", id: "w1", act } as PageToShell);
    expect(
      log.filter((line) => line.startsWith("ask")),
      way,
    ).toEqual([]);
  }
});

it("takes the focus back from a page of the group that says again and again that it has it", () => {
  vi.useFakeTimers();
  const { tabs, log, open, say, show, focus } = openWindows();
  const window = open(`${B}/1`);
  show(window, `${B}/1`, "b1");
  tabs.show(1);
  focus(window);
  log.length = 0;
  for (let times = 0; times < 10; times += 1) {
    say(window, { tag: MESSAGE_TAG, type: "focus", has: true, isBehind: false }, B);
    vi.advanceTimersByTime(90);
  }
  expect(log.filter((line) => line === "focus is kept").length).toBeGreaterThan(3);
});

it("lets a page bring its windows to the front a few times, and over itself by a tap alone", () => {
  const { tabs, first, open, say, show, marks } = openWindows();
  const focusOn = (id: string, isActive = true) => {
    const message = { tag: MESSAGE_TAG, type: "window", id, act: { kind: "focus" } } as PageToShell;
    say(first, message, A, isActive);
  };
  const one = open(`${B}/1`);
  show(one, `${B}/1`, "b1");
  tabs.show(1);
  focusOn("w1", false);
  expect(tabs.shown).toBe(first);
  const two = open(`${B}/2`);
  show(two, `${B}/2`, "b2");
  marks.length = 0;
  for (let times = 0; times < 100; times += 1) focusOn(times % 2 === 0 ? "w1" : "w2", false);
  expect(marks).toHaveLength(3);
});
