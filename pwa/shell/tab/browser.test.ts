import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ErrorCode } from "../../../shared/errors.ts";
import { type DocumentPhase, MESSAGE_TAG, type PageToShell } from "../../messages/page-messages.ts";
import type { BrowserOptions } from "../app/browser-options.ts";
import type { Slot } from "../frames/slot-registry.ts";
import { testState } from "../testing/test-state.ts";
import { BrowserController } from "./browser.ts";

const A = "https://a.example";
const B = "https://b.example";

/** A controller whose frame and tunnel do nothing but write down what they are told. */
function open(isAsked = true) {
  const log: string[] = [];
  const slots = new Map<string, Slot>();
  const contentWindow = {
    location: { replace: (url: string) => void log.push(`replace ${url}`) },
    postMessage: ({ type, isConfirmed = false }: { type: string; isConfirmed?: boolean }) =>
      void log.push(`tell ${type}${isConfirmed ? " confirmed" : ""}`),
  };
  const frames = {
    page: {
      contentWindow,
      set src(url: string) {
        log.push(`src ${url}`);
      },
    },
    slotFor(origin: string): Slot {
      const slot = slots.get(origin) ?? { label: origin, origin, topLevelOrigin: origin, topLevel: true };
      slots.set(origin, slot);
      return slot;
    },
    slotUrl: (_slot: Slot, url: string, isAgain = false) => (isAgain ? `again ${url}` : url),
    originOf: ({ origin }: Slot) => origin,
    isBooted: () => false,
  };
  let navigations = 0;
  const tunnel = {
    navigate: ({ url, method }: { url: string; method: string }) => {
      navigations += 1;
      log.push(`${method === "GET" ? "ask" : method} ${navigations} ${url}`);
      return navigations;
    },
    tell: ({ type, id = 0 }: { type: string; id?: number }) => {
      if (type === "abandon") log.push(`abandon ${id}`);
    },
    stats: async () => ({}),
    icon: async () => null,
  };
  const state = testState();
  const controller = new BrowserController({
    tunnel,
    frames,
    sites: { recent: [], pinned: [], visit() {} },
    settings: { current: state.settings },
    totals: { current: null, add: () => null },
    demoUrl: null,
    render() {},
    async pair() {},
    ensurePaired() {},
    forgetSlots() {},
    onCommit() {},
    openOtherApp(url: string) {
      log.push(`open ${url}`);
      return isAsked;
    },
  } as unknown as BrowserOptions);
  controller.update({ link: { kind: "open" } });
  const source = contentWindow as unknown as Window;
  /** A document in the frame says how far it is. */
  const report = (url: string, phase: DocumentPhase, historyKey: string, title = "") => {
    const message = { tag: MESSAGE_TAG, type: "document", phase, url, title, icon: null, historyKey } as const;
    const { origin } = new URL(url, "https://ropeway.example");
    controller.onPageMessage(message, url.startsWith("/") ? null : frames.slotFor(origin), source);
  };
  const say = (origin: string, type: "leaving" | "staying" | "booting" | "slot-ready") =>
    controller.onPageMessage({ tag: MESSAGE_TAG, type, url: `${origin}/` }, frames.slotFor(origin), source);
  const show = (url: string, historyKey: string) => {
    report(url, "loading", historyKey);
    report(url, "loaded", historyKey);
  };
  report("/blank", "loaded", "start");
  return { controller, log, report, say, show, source };
}

describe("the bar, while a page is visible", () => {
  const sendsTo = (url: string): PageToShell => ({
    tag: MESSAGE_TAG,
    type: "navigate",
    url,
    method: "GET",
    headers: [],
    body: null,
    referrer: "",
    replace: false,
  });
  const slot: Slot = { label: A, origin: A, topLevelOrigin: A, topLevel: true };
  const failure = { type: "navigation-failed", id: 1, url: `${B}/`, code: ErrorCode.CONNECTION_REFUSED } as const;

  it("does not show where that page sends the frame before it is there", () => {
    const { controller, report, show, source } = open();
    show(`${A}/`, "a");
    controller.onPageMessage(sendsTo(`${B}/`), slot, source);
    const shown = { phase: "loading", url: `${A}/`, destination: { kind: "started", url: `${B}/` } };
    expect(controller.state).toMatchObject(shown);
    controller.onTunnelEvent({ type: "navigation-moved", url: "https://c.example/" });
    report(`${A}/`, "interactive", "a", "Bank");
    expect(controller.state).toMatchObject({ ...shown, title: "Bank" });
    show("https://c.example/", "c");
    expect(controller.state).toMatchObject({ phase: "loaded", url: "https://c.example/", destination: null });
  });

  it("nor by a redirect that the page makes up", () => {
    const { controller, show, source } = open();
    show(`${A}/`, "a");
    controller.onPageMessage({ tag: MESSAGE_TAG, type: "moved", url: `${B}/` }, slot, source);
    expect(controller.state).toMatchObject({ phase: "loading", url: `${A}/` });
  });

  it("shows an address that was typed until that page goes elsewhere", () => {
    for (const message of [sendsTo("https://c.example/"), { tag: MESSAGE_TAG, type: "leaving", url: `${A}/2` }]) {
      const { controller, show, source } = open();
      show(`${A}/`, "a");
      controller.go(`${B}/`);
      expect(controller.state).toMatchObject({ url: `${B}/`, destination: { kind: "typed", url: `${B}/` } });
      controller.onPageMessage(message as PageToShell, slot, source);
      expect(controller.state).toMatchObject({ phase: "loading", url: `${A}/` });
    }
  });

  it("shows an address that failed only as long as the error covers the page", () => {
    const { controller, say, show, source } = open();
    show(`${A}/`, "a");
    controller.onPageMessage(sendsTo(`${B}/`), slot, source);
    controller.onTunnelEvent({ ...failure, message: "" });
    expect(controller.state).toMatchObject({ phase: "failed", url: `${B}/` });
    say(A, "leaving");
    expect(controller.state).toMatchObject({ phase: "loading", url: `${A}/`, error: null });
    controller.onTunnelEvent({ ...failure, message: "" });
    controller.reload();
    expect(controller.state).toMatchObject({ phase: "loading", url: `${A}/`, error: null });
  });

  it("reloads that page, and does not go where it sends the frame", () => {
    const { controller, log, say, show, source } = open();
    show(`${A}/`, "a");
    controller.onPageMessage(sendsTo(`${B}/`), slot, source);
    log.length = 0;
    controller.reload();
    expect(log).toEqual(["abandon 1", "tell reload"]);
    controller.onPageMessage(sendsTo(`${B}/`), slot, source);
    say(B, "slot-ready");
    log.length = 0;
    controller.reload();
    expect(log).toEqual(["abandon 2", `replace again ${A}/`]);
  });
});

describe("a page that sends itself to its own address", () => {
  const slot: Slot = { label: A, origin: A, topLevelOrigin: A, topLevel: true };
  const opened = () => {
    const all = open();
    const sendItself = () => {
      const message = {
        tag: MESSAGE_TAG,
        type: "navigate",
        url: `${A}/`,
        method: "GET",
        headers: [],
        body: null,
      } as const;
      all.controller.onPageMessage({ ...message, referrer: "", replace: true }, slot, all.source);
    };
    const asked = () => all.log.filter((line) => line.startsWith("ask")).length;
    return { ...all, sendItself, asked };
  };

  it("is stopped the third time, and stays, and the person is told", () => {
    const { controller, report, sendItself, asked, show } = opened();
    for (let time = 0; time < 3; time++) {
      report(`${A}/`, "loading", "a");
      sendItself();
      // Once for each document.
      if (time < 2) sendItself();
    }
    expect(asked()).toBe(2);
    report(`${A}/`, "loaded", "a");
    expect(controller.state).toMatchObject({ phase: "loaded", url: `${A}/`, notice: { kind: "loop", url: `${A}/` } });
    show(`${B}/`, "b");
    expect(controller.state.notice).toBeNull();
  });

  it("may do so once after each time that the person goes there", () => {
    const { controller, show, sendItself, asked } = opened();
    for (let time = 0; time < 4; time++) {
      controller.go(`${A}/`);
      show(`${A}/`, "a");
      sendItself();
      show(`${A}/`, "a");
    }
    expect(asked()).toBe(8);
    expect(controller.state.notice).toBeNull();
  });
});

describe("while the next page is on its way", () => {
  it("goes on loading when the page before gets ready, or changes its title", () => {
    const { controller, report } = open();
    report(`${A}/`, "loading", "a");
    controller.go(`${B}/`);
    report(`${A}/`, "interactive", "a");
    report(`${A}/`, "loaded", "a", "(1) A");
    expect(controller.state).toMatchObject({ phase: "loading", url: `${B}/`, title: "" });
    controller.stop();
    expect(controller.state).toMatchObject({ phase: "loaded", url: `${A}/`, title: "(1) A" });
  });

  it("does so where the next page is of the same site", () => {
    const { controller, report, say, show } = open();
    show(`${A}/`, "a");
    say(A, "leaving");
    report(`${A}/`, "loaded", "a", "(1) A");
    expect(controller.state.phase).toBe("loading");
    show(`${A}/2`, "a2");
    expect(controller.state).toMatchObject({ phase: "loaded", url: `${A}/2` });
  });

  it("is there again where that page stays after all", () => {
    const { controller, report, say, show } = open();
    show(`${A}/`, "a");
    say(A, "leaving");
    say(A, "staying");
    report(`${A}/`, "loaded", "a", "A");
    expect(controller.state).toMatchObject({ phase: "loaded", url: `${A}/`, title: "A" });
    controller.go(`${A}/2`);
    say(A, "staying");
    report(`${A}/`, "loaded", "a", "A");
    expect(controller.state).toMatchObject({ phase: "loading", url: `${A}/2` });
  });

  it("is there at once where the next is another part of the same document", () => {
    const { controller, report, show } = open();
    show(`${A}/`, "a");
    controller.go(`${A}/#part`);
    report(`${A}/#part`, "loaded", "a2");
    expect(controller.state).toMatchObject({ phase: "loaded", url: `${A}/#part` });
  });
});

describe("going somewhere else than the page that is on its way", () => {
  it("ends at the start page by Back", () => {
    const { controller, log, report, say, show } = open();
    show(`${A}/`, "a");
    say(A, "leaving");
    report("/blank", "loaded", "start");
    expect(controller.state).toMatchObject({ phase: "idle", url: "" });
    show(`${A}/`, "a");
    controller.go(`${B}/`);
    report("/blank", "loaded", "start");
    expect(controller.state).toMatchObject({ phase: "idle", url: "" });
    expect(log).toContain("abandon 1");
  });

  it("gives it up for the start page, also where it waits for the link", () => {
    const { controller, log } = open();
    controller.onTunnelEvent({ type: "link", link: { kind: "offline", since: 0 } });
    controller.go(`${B}/`);
    controller.home();
    log.length = 0;
    controller.onTunnelEvent({ type: "link", link: { kind: "open" } });
    controller.onTunnelEvent({
      type: "navigation-failed",
      id: 1,
      url: `${B}/`,
      code: ErrorCode.LINK_LOST,
      message: "",
    });
    expect(controller.state).toMatchObject({ phase: "idle", url: "", error: null });
    expect(log).toEqual([]);
  });

  it("does not stop the page that Back leads to", () => {
    const { controller, log, report, show } = open();
    show(`${A}/`, "a");
    controller.go(`${B}/`);
    report(`${B}/`, "loading", "b");
    controller.stop();
    log.length = 0;
    report(`${A}/`, "loading", "a");
    expect(controller.state.phase).toBe("loading");
    expect(log).toEqual([]);
  });

  it("leaves no page the power to keep the person by its own history", () => {
    const { controller, log, report, show } = open();
    show(`${A}/1`, "a1");
    show(`${A}/2`, "a2");
    controller.go(`${B}/`);
    report(`${A}/1`, "loaded", "a1");
    expect(log).not.toContain("abandon 1");
  });
});

describe("where the frame has a document that is not the page", () => {
  it("loads an address with a fragment again after a failure", () => {
    const { controller, log, source } = open();
    controller.go(`${A}/#part`);
    controller.onTunnelEvent({
      type: "navigation-failed",
      id: 1,
      url: `${A}/`,
      code: ErrorCode.LINK_LOST,
      message: "",
    });
    controller.onPageMessage(
      { tag: MESSAGE_TAG, type: "failed", url: `${A}/#part`, code: ErrorCode.LINK_LOST, message: "", historyKey: "a" },
      { label: A, origin: A, topLevelOrigin: A, topLevel: true },
      source,
    );
    log.length = 0;
    controller.reload();
    expect(log.slice(1)).toEqual(["ask 2 https://a.example/", "replace again https://a.example/#part"]);
  });

  it("loads the page shown again when a redirect leads to a part of it", () => {
    const { controller, log, show } = open();
    show(`${B}/end#part`, "b");
    controller.go(`${A}/redirect#own`);
    controller.onTunnelEvent({ type: "navigation-moved", url: `${B}/end` });
    expect(log.at(-1)).toBe(`src again ${B}/end#own`);
    show(`${B}/end#own`, "b2");
    expect(controller.state).toMatchObject({ phase: "loaded", url: `${B}/end#own` });
  });

  it("loads the page shown again when its address with the fragment is typed, but not for another part of it", () => {
    const { controller, log, report, show } = open();
    show(`${A}/#part`, "a");
    log.length = 0;
    controller.go(`${A}/#part`);
    expect(log).toContain("replace again https://a.example/#part");
    show(`${A}/#part`, "a");
    log.length = 0;
    controller.go(`${A}/#other`);
    // Nothing is asked for.
    expect(log).toEqual(["src https://a.example/#other"]);
    expect(controller.state.phase).toBe("loading");
    report(`${A}/#other`, "loaded", "a2");
    expect(controller.state).toMatchObject({ phase: "loaded", url: `${A}/#other` });
  });

  it("brings the page before back when the person stops after a boot page has taken its place", () => {
    const { controller, log, say, show } = open();
    show(`${A}/`, "a");
    controller.go(`${B}/`);
    say(B, "slot-ready");
    log.length = 0;
    controller.stop();
    expect(log).toEqual(["abandon 1", "tell stop", "replace again https://a.example/"]);
    show(`${A}/`, "b");
    expect(controller.state).toMatchObject({ phase: "loaded", url: `${A}/` });
    expect(log.filter((line) => line === "tell stop")).toHaveLength(1);
  });
});

describe("a form's request to another site that failed", () => {
  const failure = {
    type: "navigation-failed",
    id: 1,
    url: `${B}/pay`,
    code: ErrorCode.LINK_LOST,
    message: "",
  } as const;
  const submitted = () => {
    const all = open();
    all.show(`${A}/`, "a");
    const body = new ArrayBuffer(1);
    all.controller.onPageMessage(
      {
        tag: MESSAGE_TAG,
        type: "navigate",
        url: failure.url,
        method: "POST",
        headers: [],
        body,
        referrer: "",
        replace: false,
      },
      { label: A, origin: A, topLevelOrigin: A, topLevel: true },
      all.source,
    );
    return all;
  };

  it("is sent again where it was not sent", () => {
    const { controller, log } = submitted();
    controller.onTunnelEvent(failure);
    controller.reload();
    expect(log.filter((line) => line.startsWith("POST"))).toEqual([`POST 1 ${B}/pay`, `POST 2 ${B}/pay`]);
  });

  it.each([
    ["the link hides it", ErrorCode.LINK_LOST],
    ["the site took too long", ErrorCode.UPSTREAM_TIMEOUT],
    ["the site hung up", ErrorCode.CONNECTION_RESET],
    ["it redirected in circles", ErrorCode.TOO_MANY_REDIRECTS],
    ["it redirected to another kind of address", ErrorCode.UNSUPPORTED_SCHEME],
    ["it redirected to nowhere", ErrorCode.NAME_NOT_RESOLVED],
    ["it redirected to where nobody listens", ErrorCode.CONNECTION_REFUSED],
    ["it redirected to where no TLS is", ErrorCode.TLS_FAILED],
    ["it redirected to a private address", ErrorCode.DESTINATION_FORBIDDEN],
    ["it wanted the body at another address", ErrorCode.BODY_NOT_REPLAYABLE],
    ["the edge failed while it answered", ErrorCode.INTERNAL_ERROR],
    ["the edge restarted", ErrorCode.ALREADY_SENT],
  ])("is not sent again where the site may have acted on it: %s", (_why, code) => {
    const { controller, log } = submitted();
    if (code === failure.code) controller.onTunnelEvent({ type: "uncertain", url: failure.url });
    controller.onTunnelEvent({ ...failure, code });
    controller.reload();
    expect(log.filter((line) => line.startsWith("POST"))).toEqual([`POST 1 ${B}/pay`]);
    expect(log).toContain(`ask 2 ${B}/pay`);
  });
});

describe("a page that failed for the link", () => {
  const slot: Slot = { label: A, origin: A, topLevelOrigin: A, topLevel: true };
  const fails = (id: number, code: number) =>
    ({ type: "navigation-failed", id, url: `${B}/`, code, message: "" }) as const;
  /** All that a document of its own slot says in its place. */
  const notice = (method: string | undefined) =>
    ({
      tag: MESSAGE_TAG,
      type: "failed",
      url: `${A}/2`,
      ...(method === undefined ? {} : { method }),
      code: ErrorCode.LINK_LOST,
      message: "",
      historyKey: "a2",
    }) as const;
  const lose = ({ controller }: ReturnType<typeof open>) =>
    controller.onTunnelEvent({ type: "link", link: { kind: "waiting", since: 0, retryAt: 0 } });
  const comeBack = ({ controller }: ReturnType<typeof open>) =>
    controller.onTunnelEvent({ type: "link", link: { kind: "open" } });

  it.each([ErrorCode.LINK_LOST, ErrorCode.OFFLINE])("loads once the link is back: code %i", (code) => {
    const all = open();
    all.controller.go(`${B}/`);
    lose(all);
    all.controller.onTunnelEvent(fails(1, code));
    comeBack(all);
    expect(all.log).toContain(`ask 2 ${B}/`);
    expect(all.controller.state).toMatchObject({ phase: "loading", url: `${B}/`, error: null });
    comeBack(all);
    expect(all.log).not.toContain(`ask 3 ${B}/`);
  });

  it("stays where it failed for anything else", () => {
    const all = open();
    all.controller.go(`${B}/`);
    lose(all);
    all.controller.onTunnelEvent(fails(1, ErrorCode.CONNECTION_REFUSED));
    comeBack(all);
    expect(all.controller.state.error).toMatchObject({ code: ErrorCode.CONNECTION_REFUSED });
  });

  it("loads again where the page itself went there, but not where it sent a form or does not say", () => {
    for (const method of ["GET", "POST", undefined]) {
      const all = open();
      all.show(`${A}/`, "a");
      lose(all);
      all.controller.onPageMessage(notice(method), slot, all.source);
      comeBack(all);
      expect(all.log.filter((line) => line.startsWith("ask"))).toEqual(method === "GET" ? [`ask 1 ${A}/2`] : []);
    }
  });

  it("stays where a form of another site was sent, which may have arrived", () => {
    const all = open();
    all.show(`${A}/`, "a");
    const body = new ArrayBuffer(1);
    const asked = { url: `${B}/`, method: "POST", headers: [], body, referrer: "", replace: false };
    all.controller.onPageMessage({ tag: MESSAGE_TAG, type: "navigate", ...asked }, slot, all.source);
    lose(all);
    all.controller.onTunnelEvent(fails(1, ErrorCode.LINK_LOST));
    all.log.length = 0;
    comeBack(all);
    expect(all.log).toEqual([]);
    expect(all.controller.state.error).toMatchObject({ code: ErrorCode.LINK_LOST });
  });
});

describe("the time of a page", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const progress = { requests: 1, requestsDone: 0, linkBytesUp: 1, linkBytesDown: 0, originBytes: 0, expectedBytes: 0 };

  it("counts from when it was asked for until it is there", () => {
    const { controller, report } = open();
    controller.go(`${A}/`);
    vi.advanceTimersByTime(100);
    controller.onTunnelEvent({ type: "progress", progress });
    expect(controller.state.cost.time).toBe(100);
    vi.advanceTimersByTime(6_000);
    report(`${A}/`, "loading", "a");
    report(`${A}/`, "loaded", "a");
    expect(controller.state.cost.time).toBe(6_100);
    vi.advanceTimersByTime(1_000);
    controller.onTunnelEvent({ type: "progress", progress });
    report(`${A}/`, "loaded", "a", "(1) A");
    expect(controller.state.cost.time).toBe(6_100);
  });

  it("begins anew by Back, and goes on over a redirect to another site", () => {
    const { controller, report, say, show, source } = open();
    show(`${A}/`, "a");
    show(`${A}/2`, "a2");
    vi.advanceTimersByTime(60_000);
    report(`${A}/`, "loading", "a");
    vi.advanceTimersByTime(10);
    report(`${A}/`, "loaded", "a");
    expect(controller.state.cost.time).toBe(10);
    say(A, "leaving");
    vi.advanceTimersByTime(500);
    const slot: Slot = { label: A, origin: A, topLevelOrigin: A, topLevel: true };
    controller.onPageMessage({ tag: MESSAGE_TAG, type: "moved", url: `${B}/` }, slot, source);
    vi.advanceTimersByTime(500);
    show(`${B}/`, "b");
    expect(controller.state.cost.time).toBe(1_000);
  });
});

it("says when the frame has lost its document, until the next is there", () => {
  const { controller, say, show } = open();
  show(`${A}/`, "a");
  controller.go(`${B}/`);
  expect(controller.state.isFrameEmpty).toBe(false);
  say(B, "booting");
  expect(controller.state.isFrameEmpty).toBe(true);
  show(`${B}/`, "b");
  expect(controller.state.isFrameEmpty).toBe(false);
});

describe("a boot page that is lost", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("is asked for again, and not for ever", () => {
    const { controller, log } = open();
    controller.go(`${A}/`);
    for (let attempt = 0; attempt < 3; attempt++) {
      controller.onFrameLoad();
      vi.runAllTimers();
    }
    expect(log).toEqual([`ask 1 ${A}/`, `src ${A}/`, `replace again ${A}/`, `replace again ${A}/`]);
    expect(controller.state).toMatchObject({ phase: "failed", error: { code: ErrorCode.LINK_LOST, url: `${A}/` } });
    controller.reload();
    expect(log.slice(-3)).toEqual(["abandon 1", `ask 2 ${A}/`, `src ${A}/`]);
  });

  it("is not taken for lost while the page before goes on loading", () => {
    const { controller, log, report } = open();
    report(`${B}/`, "loading", "b");
    controller.go(`${A}/`);
    log.length = 0;
    report(`${B}/`, "loaded", "b");
    controller.onFrameLoad();
    vi.advanceTimersToNextTimer();
    expect(log).toEqual([]);
    vi.advanceTimersToNextTimer();
    expect(log).toEqual([`replace again ${A}/`]);
  });

  it.each(["it is there", "the person went elsewhere", "there is no link"])("is not asked for where %s", (why) => {
    const { controller, log, say } = open();
    controller.go(`${A}/`);
    controller.onFrameLoad();
    if (why === "it is there") say(A, "booting");
    else if (why === "there is no link") controller.update({ link: { kind: "offline", since: 0 } });
    else controller.home();
    log.length = 0;
    vi.runAllTimers();
    expect(log).toEqual([]);
  });
});

describe("a page that a form led to", () => {
  const slot: Slot = { label: A, origin: A, topLevelOrigin: A, topLevel: true };
  const reloaded = () => {
    const all = open();
    all.show(`${A}/order`, "a");
    all.controller.reload();
    all.controller.onPageMessage({ tag: MESSAGE_TAG, type: "reload-sends-form" }, slot, all.source);
    return all;
  };

  it("asks before a reload sends the form again", () => {
    const { controller, log } = reloaded();
    expect(controller.state).toMatchObject({ phase: "loaded", notice: { kind: "resend", url: `${A}/order` } });
    expect(log).toEqual(["tell reload"]);
    controller.sendAgain();
    expect(controller.state).toMatchObject({ phase: "loading", notice: null });
    expect(log).toEqual(["tell reload", "tell reload confirmed"]);
  });

  it("asks no longer once it is left", () => {
    const { controller, log, show } = reloaded();
    show(`${A}/next`, "b");
    expect(controller.state.notice).toBeNull();
    controller.sendAgain();
    expect(log).toEqual(["tell reload"]);
  });

  it("does not answer for a page that is on its way", () => {
    const { controller, source } = reloaded();
    controller.go(`${B}/`);
    controller.onPageMessage({ tag: MESSAGE_TAG, type: "reload-sends-form" }, slot, source);
    expect(controller.state).toMatchObject({ phase: "loading", url: `${B}/`, notice: null });
  });
});

describe("a link to a person", () => {
  const asks = (url: string): PageToShell => ({
    tag: MESSAGE_TAG,
    type: "navigate",
    url,
    method: "GET",
    headers: [],
    body: null,
    referrer: "",
    replace: false,
  });
  const slot: Slot = { label: A, origin: A, topLevelOrigin: A, topLevel: true };

  it.each(["mailto:a@b.example?subject=c", "tel:+47112", "sms:112"])("opens another app: %s", (url) => {
    const { controller, log, show, source } = open();
    show(`${A}/`, "a");
    controller.onPageMessage(asks(url), slot, source);
    expect(log.at(-1)).toBe(`open ${url}`);
    expect(controller.state).toMatchObject({ phase: "loaded", url: `${A}/`, error: null });
  });

  it("leaves the page where it is where nobody has asked for it, as other schemes do, and says so", () => {
    const { controller, log, show, source } = open(false);
    for (const url of ["tel:112", "intent:112", "spotify:track:1"]) {
      show(`${A}/`, "a");
      controller.onPageMessage(asks(url), slot, source);
      expect(controller.state).toMatchObject({ phase: "loaded", url: `${A}/`, error: null });
      expect(controller.state.notice).toEqual({ kind: "other-app", url });
    }
    expect(log.filter((line) => line.startsWith("open"))).toEqual(["open tel:112"]);
  });
});

describe("a document whose body breaks off", () => {
  const broken = { type: "broken-document", url: `${A}/page`, code: ErrorCode.CONNECTION_RESET, message: "" } as const;
  const failed = { phase: "failed", url: `${A}/page#part`, error: { code: broken.code, url: `${A}/page#part` } };

  it("is an error that can be tried again, before the document says that it is there and after", () => {
    for (const isEarly of [true, false]) {
      const { controller, report } = open();
      controller.go(`${A}/page#part`);
      if (!isEarly) report(`${A}/page#part`, "loading", "a");
      controller.onTunnelEvent(broken);
      expect(controller.state).toMatchObject(failed);
      if (isEarly) report(`${A}/page#part`, "loading", "a");
      expect(controller.state).toMatchObject(failed);
      controller.reload();
      report(`${A}/page#part`, "loading", "a");
      expect(controller.state.phase).toBe("loading");
      report(`${A}/page#part`, "loaded", "a");
      expect(controller.state).toMatchObject({ phase: "loaded", error: null });
    }
  });

  it("is none where it is no part of what loads", () => {
    const { controller, report, show } = open();
    show(`${A}/page`, "a");
    controller.onTunnelEvent(broken);
    expect(controller.state).toMatchObject({ phase: "loaded", error: null });
    controller.go(`${B}/`);
    controller.onTunnelEvent(broken);
    report(`${B}/`, "loading", "b");
    controller.onTunnelEvent(broken);
    controller.onTunnelEvent({ ...broken, url: `${B}/`, code: ErrorCode.CANCEL });
    expect(controller.state).toMatchObject({ phase: "loading", error: null });
  });
});
