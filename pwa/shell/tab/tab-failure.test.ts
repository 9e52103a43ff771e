import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ErrorCode } from "../../../shared/errors.ts";
import { MESSAGE_TAG } from "../../messages/page-messages.ts";
import { openBrowser } from "../testing/tab-rig.ts";

const A = "https://a.example";
const B = "https://b.example";

describe("a form's request to another site that failed", () => {
  const failure = {
    type: "navigation",
    kind: "failed",
    id: 1,
    url: `${B}/pay`,
    code: ErrorCode.LINK_LOST,
    message: "",
  } as const;
  const submitted = () => {
    const all = openBrowser();
    all.show(`${A}/`, "a");
    const body = new ArrayBuffer(1);
    all.hearPage(
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
      A,
    );
    return all;
  };

  it("is sent again where it was not sent", () => {
    const { hear, log, tab } = submitted();
    hear(failure);
    tab.openFailed();
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
    const { hear, log, tab } = submitted();
    if (code === failure.code) hear({ type: "uncertain", url: failure.url });
    hear({ ...failure, code });
    tab.openFailed();
    expect(log.filter((line) => line.startsWith("POST"))).toEqual([`POST 1 ${B}/pay`]);
    expect(log).toContain(`ask 2 ${B}/pay`);
  });
});

describe("a page that is tried again while its frame is on the way to the notice", () => {
  const failure = { code: ErrorCode.TOO_MANY_REDIRECTS, url: `${A}/`, message: "in circles" };
  const notice = { ...failure, tag: MESSAGE_TAG, type: "failed", method: "GET", historyKey: "a" } as const;

  it("has not failed again for that notice, but for what becomes of the second try", () => {
    const { hear, hearPage, shown, tab } = openBrowser();
    tab.go(`${A}/`);
    hear({ ...failure, type: "navigation", kind: "failed", id: 1 });
    tab.reload();
    hearPage(notice, A);
    expect(shown()).toMatchObject({ phase: "loading", error: null });
    hear({ ...failure, type: "navigation", kind: "failed", id: 2 });
    expect(shown()).toMatchObject({ phase: "failed", error: { code: failure.code } });
    hearPage(notice, A);
    expect(shown().phase).toBe("failed");
  });

  it("has failed where the frame tells of another failure", () => {
    const { hear, hearPage, shown, tab } = openBrowser();
    tab.go(`${A}/`);
    hear({ ...failure, type: "navigation", kind: "failed", id: 1 });
    tab.reload();
    hearPage({ ...notice, code: ErrorCode.INTERNAL_ERROR }, A);
    expect(shown()).toMatchObject({ phase: "failed", error: { code: ErrorCode.INTERNAL_ERROR } });
  });
});

describe("the notice of a page that failed", () => {
  const failure = { code: ErrorCode.NAME_NOT_RESOLVED, url: `${A}/way`, message: "no such name" };
  const notice = { ...failure, tag: MESSAGE_TAG, type: "failed", method: "GET", historyKey: "a" } as const;
  const failed = () => {
    const all = openBrowser();
    all.tab.go(failure.url);
    all.hear({ ...failure, type: "navigation", kind: "failed", id: 1 });
    return all;
  };

  it("does not lead back there while the frame is on its way to another site", () => {
    const { hearPage, log, say, show, shown, tab } = failed();
    tab.go(`${B}/`);
    say(B, "booting");
    log.length = 0;
    // The notice is in another process than the next page: it may speak before it learns that it is gone.
    hearPage(notice, A);
    expect(log).toEqual([]);
    expect(shown()).toMatchObject({ phase: "loading", url: `${B}/`, error: null });
    show(`${B}/`, "b");
    expect(shown()).toMatchObject({ phase: "loaded", url: `${B}/`, error: null });
  });

  it("has the frame sent once more to another page of the site", () => {
    const { hearPage, log, say, tab } = failed();
    tab.go(`${A}/other`);
    say(A, "booting");
    log.length = 0;
    hearPage(notice, A);
    expect(log).toEqual([`replace again ${A}/other`]);
  });
});

it("a page that leads out of reach each time that it comes back has failed", () => {
  const { hearPage, log, say, show, shown } = openBrowser();
  show(`${A}/`, "a");
  const moved = { tag: MESSAGE_TAG, type: "moved", url: "myapp:open" } as const;
  hearPage(moved, A);
  expect(log).toEqual([`replace again ${A}/`]);
  say(A, "slot-ready");
  hearPage(moved, A);
  expect(log).toHaveLength(1);
  expect(shown()).toMatchObject({ phase: "failed", error: { code: ErrorCode.UNSUPPORTED_SCHEME } });
});

describe("a page that failed for the link", () => {
  const fails = (id: number, code: number) =>
    ({ type: "navigation", kind: "failed", id, url: `${B}/`, code, message: "" }) as const;
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
  const lose = ({ hear }: ReturnType<typeof openBrowser>) =>
    hear({ type: "link", link: { kind: "waiting", since: 0, retryAt: 0 } });
  const comeBack = ({ hear }: ReturnType<typeof openBrowser>) => hear({ type: "link", link: { kind: "open" } });

  it.each([ErrorCode.LINK_LOST, ErrorCode.OFFLINE])("loads once the link is back: code %i", (code) => {
    const all = openBrowser();
    all.tab.go(`${B}/`);
    lose(all);
    all.hear(fails(1, code));
    comeBack(all);
    expect(all.log).toContain(`ask 2 ${B}/`);
    expect(all.shown()).toMatchObject({ phase: "loading", url: `${B}/`, error: null });
    comeBack(all);
    expect(all.log).not.toContain(`ask 3 ${B}/`);
  });

  it("stays where it failed for anything else", () => {
    const all = openBrowser();
    all.tab.go(`${B}/`);
    lose(all);
    all.hear(fails(1, ErrorCode.CONNECTION_REFUSED));
    comeBack(all);
    expect(all.shown().error).toMatchObject({ code: ErrorCode.CONNECTION_REFUSED });
  });

  it("loads again where the page itself went there, but not where it sent a form or does not say", () => {
    for (const method of ["GET", "POST", undefined]) {
      const all = openBrowser();
      all.show(`${A}/`, "a");
      lose(all);
      all.hearPage(notice(method), A);
      comeBack(all);
      expect(all.log.filter((line) => line.startsWith("ask"))).toEqual(method === "GET" ? [`ask 1 ${A}/2`] : []);
    }
  });

  it("stays where a form of another site was sent, which may have arrived", () => {
    const all = openBrowser();
    all.show(`${A}/`, "a");
    const body = new ArrayBuffer(1);
    const asked = { url: `${B}/`, method: "POST", headers: [], body, referrer: "", replace: false };
    all.hearPage({ tag: MESSAGE_TAG, type: "navigate", ...asked }, A);
    lose(all);
    all.hear(fails(1, ErrorCode.LINK_LOST));
    all.log.length = 0;
    comeBack(all);
    expect(all.log).toEqual([]);
    expect(all.shown().unopened).toMatchObject({ code: ErrorCode.LINK_LOST });
  });
});

describe("a boot page that is lost", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("is asked for again, and not for ever", () => {
    const { load, log, shown, tab } = openBrowser();
    tab.go(`${A}/`);
    for (let attempt = 0; attempt < 3; attempt++) {
      load();
      vi.runAllTimers();
    }
    expect(log).toEqual([`ask 1 ${A}/`, `src ${A}/`, `replace again ${A}/`, `replace again ${A}/`]);
    expect(shown()).toMatchObject({ phase: "failed", error: { code: ErrorCode.LINK_LOST, url: `${A}/` } });
    tab.reload();
    expect(log.slice(-3)).toEqual(["abandon 1", `ask 2 ${A}/`, `src ${A}/`]);
  });

  it.each(["before", "after"])("is asked for again though a spare's has set the slot up %s it was lost", (when) => {
    const { booted, load, log, tab } = openBrowser();
    tab.go(`${A}/`);
    if (when === "before") booted.add(A);
    load();
    booted.add(A);
    vi.runAllTimers();
    expect(log).toEqual([`ask 1 ${A}/`, `src ${A}/`, `replace again ${A}/`]);
  });

  it("is not taken for lost while the page before goes on loading", () => {
    const { load, log, report, tab } = openBrowser();
    report(`${B}/`, "loading", "b");
    tab.go(`${A}/`);
    log.length = 0;
    report(`${B}/`, "loaded", "b");
    load();
    vi.advanceTimersToNextTimer();
    expect(log).toEqual([]);
    vi.advanceTimersToNextTimer();
    expect(log).toEqual([`replace again ${A}/`]);
  });

  it.each(["it is there", "the person went elsewhere", "there is no link"])("is not asked for where %s", (why) => {
    const { hear, load, log, say, tab } = openBrowser();
    tab.go(`${A}/`);
    load();
    if (why === "it is there") say(A, "booting");
    else if (why === "there is no link") hear({ type: "link", link: { kind: "offline", since: 0 } });
    else tab.home();
    log.length = 0;
    vi.runAllTimers();
    expect(log).toEqual([]);
  });
});

describe("a slot that does not come for its page while the link is away", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const goesAway = ({ hear, tab }: ReturnType<typeof openBrowser>) => {
    hear({ type: "link", link: { kind: "offline", since: 0 } });
    tab.go(`${A}/`);
  };

  it("gives way to a spare, once there is something to show", () => {
    const all = openBrowser();
    goesAway(all);
    all.load();
    vi.advanceTimersByTime(5_000);
    expect(all.log).not.toContain(`stand in ${A}`);
    all.hear({ type: "navigation", kind: "answered", id: 1 });
    vi.advanceTimersByTime(5_000);
    expect(all.log.slice(-2)).toEqual([`stand in ${A}`, `replace again ${A}/`]);
  });

  it("gives way to a spare, too, where a redirect led there out of another slot by its boot page", () => {
    const all = openBrowser();
    all.show(`${B}/`, "b");
    goesAway(all);
    all.hear({ type: "navigation", kind: "answered", id: 1 });
    all.say(A, "booting");
    all.load();
    vi.advanceTimersByTime(5_000);
    expect(all.log).not.toContain(`stand in ${A}`);
    all.hear({ type: "navigation", kind: "moved", id: 1, url: `${B}/to` });
    all.load();
    vi.advanceTimersByTime(5_000);
    expect(all.log.slice(-2)).toEqual([`stand in ${B}`, `replace again ${B}/to`]);
  });

  it.each([
    "its page is there",
    "the page before has only now loaded",
    "the start document is",
    "nothing has come into the frame",
  ])("stays where %s", (why) => {
    const all = openBrowser();
    if (why === "the page before has only now loaded") all.report(`${B}/`, "loading", "b");
    goesAway(all);
    all.hear({ type: "navigation", kind: "answered", id: 1 });
    if (why === "its page is there") all.show(`${A}/`, "a");
    if (why === "the page before has only now loaded") all.report(`${B}/`, "loaded", "b");
    if (why !== "nothing has come into the frame") all.load(why === "the start document is");
    vi.advanceTimersByTime(5_000);
    expect(all.log).not.toContain(`stand in ${A}`);
  });
});

describe("a page that lies", () => {
  it("cannot give itself an address without a host, which would be seen to its end", () => {
    const { report, shown, show } = openBrowser();
    show(`${A}/`, "a");
    const lie = `blob:${A}/${"\u00a0".repeat(60)}bank.example`;
    report(lie, "loaded", "b", A);
    expect(shown().url).toBe(`${A}/`);
  });

  it("cannot have the app ask for its key", () => {
    for (const [code, shown] of [
      [ErrorCode.KEY_NOT_ACCEPTED, ErrorCode.LINK_LOST],
      [null, ErrorCode.INTERNAL_ERROR],
      [ErrorCode.NAME_NOT_RESOLVED, ErrorCode.NAME_NOT_RESOLVED],
    ]) {
      const all = openBrowser();
      all.tab.go(`${A}/`);
      const failed = { tag: MESSAGE_TAG, type: "failed", url: `${A}/`, method: "GET", message: "", historyKey: "a" };
      all.hearPage({ ...failed, code } as never, A);
      expect(all.shown().error).toMatchObject({ code: shown });
    }
  });
});

describe("a document whose body breaks off", () => {
  const broken = {
    type: "document",
    kind: "broken",
    url: `${A}/page`,
    id: null,
    code: ErrorCode.CONNECTION_RESET,
    message: "",
  } as const;
  const failed = { phase: "failed", url: `${A}/page#part`, error: { code: broken.code, url: `${A}/page#part` } };

  it("is an error that can be tried again, before the document says that it is there and after", () => {
    for (const isEarly of [true, false]) {
      const { hear, report, shown, tab } = openBrowser();
      tab.go(`${A}/page#part`);
      if (!isEarly) report(`${A}/page#part`, "loading", "a");
      hear(broken);
      expect(shown()).toMatchObject(failed);
      if (isEarly) report(`${A}/page#part`, "loading", "a");
      expect(shown()).toMatchObject(failed);
      tab.reload();
      report(`${A}/page#part`, "loading", "a");
      expect(shown().phase).toBe("loading");
      report(`${A}/page#part`, "loaded", "a");
      expect(shown()).toMatchObject({ phase: "loaded", error: null });
    }
  });

  it("is none where it is no part of what loads", () => {
    const { hear, report, show, shown, tab } = openBrowser();
    show(`${A}/page`, "a");
    hear(broken);
    expect(shown()).toMatchObject({ phase: "loaded", error: null });
    tab.go(`${B}/`);
    hear(broken);
    report(`${B}/`, "loading", "b");
    hear(broken);
    hear({ ...broken, url: `${B}/`, code: ErrorCode.CANCEL });
    expect(shown()).toMatchObject({ phase: "loading", error: null });
  });

  it("is none where it is of the page that is left for another of its site, or of a navigation before", () => {
    const { hear, report, shown, tab } = openBrowser();
    tab.go(`${A}/page`);
    report(`${A}/page`, "loading", "a");
    tab.go(`${A}/next`);
    hear(broken);
    hear({ ...broken, id: 1 });
    hear({ ...broken, url: `${A}/elsewhere`, id: 1 });
    expect(shown()).toMatchObject({ phase: "loading", error: null, url: `${A}/next` });
    // A redirect has led back to the page.
    hear({ ...broken, id: 2 });
    expect(shown()).toMatchObject({ phase: "failed" });
  });

  it("is one where a form of the page has led back to it", () => {
    const { hear, say, show, shown } = openBrowser();
    show(`${A}/page`, "a");
    say(A, "leaving");
    hear(broken);
    expect(shown()).toMatchObject({ phase: "failed" });
  });
});

it("brings the page back once more where the boot page of what failed comes into its way", () => {
  const { hear, log, say, show, shown, tab } = openBrowser();
  show(`${A}/`, "a");
  tab.go(`${B}/`);
  say(B, "booting");
  const code = ErrorCode.TOO_MANY_REDIRECTS;
  hear({ type: "navigation", kind: "failed", id: 1, url: `${B}/`, code, message: "" });
  expect(log.at(-1)).toBe(`replace again ${A}/`);
  log.length = 0;
  // It goes on to its page by itself.
  say(B, "slot-ready");
  expect(log).toEqual([`replace again ${A}/`]);
  say(A, "booting");
  say(A, "slot-ready");
  expect(log).toHaveLength(1);
  show(`${A}/`, "a");
  expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/`, unopened: { url: `${B}/` } });
});

it("is tried again by the boot page that is on its way there, and once more where that brings the failure of before", () => {
  const { hear, hearPage, log, say, report, shown, tab } = openBrowser();
  const code = ErrorCode.TOO_MANY_REDIRECTS;
  const fail = (id: number) => hear({ type: "navigation", kind: "failed", id, url: `${A}/`, code, message: "" });
  const notice = { tag: MESSAGE_TAG, type: "failed", url: `${A}/`, code, message: "", historyKey: "n" } as const;
  tab.go(`${A}/`);
  say(A, "booting");
  say(A, "slot-ready");
  fail(1);
  log.length = 0;
  tab.reload();
  expect(log).toEqual(["abandon 1", `ask 2 ${A}/`]);
  hearPage(notice, A);
  expect(log.slice(2)).toEqual([`replace again ${A}/`]);
  fail(2);
  hearPage(notice, A);
  say(A, "booting");
  log.length = 0;
  tab.home();
  tab.go(`${A}/`);
  expect(log.at(-1)).toBe(`src ${A}/`);
  say(A, "booting");
  report(`${A}/`, "loading", "a");
  report(`${A}/`, "loaded", "a");
  expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/` });
});

it.each([
  [
    "a document that says nothing itself",
    { type: "silent-document", url: `${A}/`, title: "", phase: "loading", id: 1 },
  ],
  ["no document", { type: "document", kind: "none", origin: A }],
] as const)("is sent to the page again where its boot page has led to %s", (_, news) => {
  const { hear, log, say, tab } = openBrowser();
  tab.go(`${A}/`);
  say(A, "booting");
  say(A, "slot-ready");
  hear(news);
  log.length = 0;
  tab.go(`${A}/`);
  expect(log.at(-1)).toMatch(/^(?:src|replace) (?:again )?/);
});

it("fails again beside the page that came back only when the person had tried again", () => {
  const { hear, report, say, show, shown, tab } = openBrowser();
  show(`${A}/`, "a");
  tab.go(`${B}/`);
  const failed = {
    type: "navigation",
    kind: "failed",
    url: `${B}/`,
    code: ErrorCode.TOO_MANY_REDIRECTS,
    message: "",
  } as const;
  say(B, "booting");
  hear({ ...failed, id: 1 });
  tab.openFailed();
  // The frame was on its way to it, and is to leave it for the other one.
  report(`${A}/`, "loading", "a");
  report(`${A}/`, "loaded", "a");
  expect(shown()).toMatchObject({ phase: "loading", destination: { url: `${B}/` } });
  say(B, "booting");
  hear({ ...failed, id: 2 });
  show(`${A}/`, "a");
  expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/`, unopened: { url: `${B}/` } });
});

it("is told in the place of a notice that was there, which comes back, and below one that comes later", () => {
  const { app, hear, hearPage, say, show, shown, tab } = openBrowser();
  show(`${A}/`, "a");
  const old = { kind: "lite", why: "Scripts are off" } as const;
  app.notify(old);
  tab.go(`${B}/`);
  expect(shown().notice).toEqual(old);
  say(B, "booting");
  const code = ErrorCode.TOO_MANY_REDIRECTS;
  hear({ type: "navigation", kind: "failed", id: 1, url: `${B}/`, code, message: "" });
  show(`${A}/`, "a");
  expect(shown()).toMatchObject({ notice: null, unopened: { url: `${B}/` } });
  hearPage({ tag: MESSAGE_TAG, type: "trouble", trouble: "socket" }, A);
  expect(shown()).toMatchObject({ notice: null, unopened: { url: `${B}/` } });
  tab.forgetFailed();
  expect(shown()).toMatchObject({ notice: old, unopened: null });

  tab.go(`${B}/`);
  say(B, "booting");
  hear({ type: "navigation", kind: "failed", id: 2, url: `${B}/`, code, message: "" });
  show(`${A}/`, "a");
  app.notify({ kind: "forgotten", undo() {} });
  expect(shown()).toMatchObject({ notice: { kind: "forgotten" }, unopened: { url: `${B}/` } });
});
