/** A page that is shown, while another cannot be opened. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ErrorCode } from "../../../shared/errors.ts";
import { MESSAGE_TAG } from "../../messages/page-messages.ts";
import { openBrowser } from "../testing/tab-rig.ts";

const A = "https://a.example";
const B = "https://b.example";

const fails = (id: number, code: number = ErrorCode.CONNECTION_REFUSED) =>
  ({ type: "navigation", kind: "failed", id, url: `${B}/`, code, message: "" }) as const;
const AWAY = { type: "link", link: { kind: "waiting", since: 0, retryAt: 0 } } as const;
const BACK = { type: "link", link: { kind: "open" } } as const;
const STAYS = { phase: "loaded", url: `${A}/`, error: null, destination: null };

function shownPage() {
  const browser = openBrowser();
  browser.show(`${A}/`, "a");
  browser.log.length = 0;
  return browser;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("stays, with its address,", () => {
  it("where what was typed fails", () => {
    const { hear, shown, tab } = shownPage();
    tab.go(`${B}/`);
    hear(fails(1, ErrorCode.NAME_NOT_RESOLVED));
    expect(shown()).toMatchObject({ ...STAYS, unopened: { url: `${B}/` }, tryingAgain: "not" });
  });

  it("where its own next document fails, and not for one of a frame", () => {
    const { hear, say, shown } = shownPage();
    const failed = { type: "document", kind: "failed", method: "GET", code: ErrorCode.LINK_LOST, message: "" } as const;
    say(A, "leaving");
    hear({ ...failed, url: `${A}/frame` });
    expect(shown().phase).toBe("loading");
    hear({ ...failed, url: `${A}/` });
    expect(shown()).toMatchObject({ ...STAYS, unopened: { url: `${A}/` }, tryingAgain: "with the link" });
  });

  it("where an address is of no kind that can be opened", () => {
    const { shown, tab } = shownPage();
    tab.go("ftp://b.example/file");
    expect(shown()).toMatchObject({ ...STAYS, unopened: { code: ErrorCode.UNSUPPORTED_SCHEME } });
  });

  it("and comes back where a boot page has taken its place, before the failure or after", () => {
    for (const isEarly of [true, false]) {
      const { hear, log, say, show, shown, tab } = shownPage();
      tab.go(`${B}/`);
      if (isEarly) say(B, "booting");
      hear(fails(1));
      if (!isEarly) say(B, "booting");
      expect(log.at(-1)).toBe(`replace again ${A}/`);
      show(`${A}/`, "a");
      expect(shown()).toMatchObject({ ...STAYS, unopened: { url: `${B}/` }, isFrameEmpty: false });
    }
  });

  it("and comes back once more where the boot page has kept the frame meanwhile", () => {
    const { hear, log, say, show, shown, tab } = shownPage();
    tab.go(`${B}/`);
    say(B, "booting");
    hear(fails(1));
    hear({ type: "document", kind: "none", origin: B });
    log.length = 0;
    vi.advanceTimersByTime(1000);
    expect(log).toContain(`replace again ${A}/`);
    show(`${A}/`, "a");
    expect(shown()).toMatchObject(STAYS);
    log.length = 0;
    vi.advanceTimersByTime(10_000);
    expect(log.filter((each) => each.includes(A))).toEqual([]);
  });

  it("and says on that it is a stored one", () => {
    const { hear, show, shown, tab } = openBrowser();
    hear({ type: "document", kind: "stored", url: `${A}/`, storedAt: 5 });
    show(`${A}/`, "a");
    tab.go(`${B}/`);
    hear(fails(1));
    expect(shown().storedAt).toBe(5);
  });
});

it("is not there where all that there is is the notice of a failure", () => {
  const { hear, hearPage, shown, tab } = openBrowser();
  tab.go(`${A}/`);
  const notice = { url: `${A}/`, code: ErrorCode.TLS_FAILED, method: "GET", message: "", historyKey: "a" } as const;
  hearPage({ ...notice, tag: MESSAGE_TAG, type: "failed" }, A);
  tab.go(`${B}/`);
  tab.go(`${B}/2`);
  hear(fails(3));
  expect(shown()).toMatchObject({ phase: "failed", error: { url: `${B}/2` }, unopened: null });
});

it("gives way to the form for a key where the edge does not know the phone", () => {
  const { hear, shown, tab } = shownPage();
  tab.go(`${B}/`);
  hear(fails(1, ErrorCode.KEY_NOT_ACCEPTED));
  expect(shown()).toMatchObject({ phase: "failed", unopened: null });
});

describe("what failed beside it", () => {
  it("is opened when the link is back, and the bar shows the page until it is there", () => {
    const { hear, log, shown, tab } = shownPage();
    tab.go(`${B}/`);
    hear(AWAY);
    hear(fails(1, ErrorCode.LINK_LOST));
    log.length = 0;
    hear(BACK);
    expect(log).toContain(`ask 2 ${B}/`);
    expect(shown()).toMatchObject({ phase: "loading", url: `${A}/`, unopened: null });
  });

  it("is tried again, later each time, and the error page of what nothing is shown of too", () => {
    for (const isShown of [true, false]) {
      const { hear, log, tab } = isShown ? shownPage() : openBrowser();
      tab.go(`${B}/`);
      const asked = () => log.filter((line) => line.startsWith("ask"));
      for (const [attempt, seconds] of [5, 10, 20].entries()) {
        hear(fails(attempt + 1));
        vi.advanceTimersByTime(seconds * 1000 - 1);
        expect(asked()).toHaveLength(attempt + 1);
        vi.advanceTimersByTime(1);
        expect(asked()).toHaveLength(attempt + 2);
      }
    }
  });

  it.each(["the person closes the bar", "the page goes elsewhere", "the person does", "the person goes home"])(
    "is not tried again once %s",
    (why) => {
      const { hear, log, say, shown, tab } = shownPage();
      tab.go(`${B}/`);
      hear(fails(1));
      if (why === "the person closes the bar") tab.forgetFailed();
      else if (why === "the page goes elsewhere") say(A, "leaving");
      else if (why === "the person does") tab.go("https://c.example/");
      else tab.home();
      expect(shown().unopened).toBeNull();
      log.length = 0;
      vi.runAllTimers();
      expect(log.filter((line) => line.includes(B))).toEqual([]);
    },
  );

  it("is what whoever edits the address mends, where they typed it, until they want it no more", () => {
    const { hear, shown, tab } = shownPage();
    tab.go(`${B}/tpyo`);
    hear(fails(1));
    expect(shown()).toMatchObject({ ...STAYS, mistyped: `${B}/tpyo` });
    tab.forgetFailed();
    expect(shown().mistyped).toBeNull();
  });

  it("is tried again when the person says so", () => {
    const { hear, log, shown, tab } = shownPage();
    tab.go(`${B}/`);
    hear(fails(1));
    tab.openFailed();
    expect(log).toContain(`ask 2 ${B}/`);
    expect(shown()).toMatchObject({ phase: "loading", url: `${B}/` });
  });
});

describe("while the link is away", () => {
  it("it does not give way to a boot page before there is something to show", () => {
    const { hear, log, tab } = shownPage();
    hear(AWAY);
    log.length = 0;
    tab.go(`${B}/`);
    expect(log).toEqual([`ask 1 ${B}/`]);
    hear({ type: "navigation", kind: "answered", id: 1 });
    hear({ type: "navigation", kind: "answered", id: 1 });
    expect(log.slice(1)).toEqual([`src ${B}/`]);
  });

  it("its frame sets out for what was asked for, whatever the page says of itself meanwhile", () => {
    const { hear, log, report, shown, tab } = shownPage();
    hear(AWAY);
    tab.go(`${B}/`);
    report(`${A}/`, "loaded", "a", "(1) A");
    expect(shown()).toMatchObject({ phase: "loading", url: `${B}/` });
    log.length = 0;
    hear({ type: "navigation", kind: "answered", id: 1 });
    expect(log).toEqual([`src ${B}/`]);
  });

  it("it gives way to a page that the history leads to", () => {
    const { hear, log, show, shown, tab } = openBrowser();
    show("https://c.example/", "c");
    show(`${A}/`, "a");
    hear(AWAY);
    tab.go(`${B}/`);
    show("https://c.example/", "c");
    expect(log).toContain("abandon 1");
    expect(shown()).toMatchObject({ phase: "loaded", url: "https://c.example/", destination: null });
  });

  it("its frame sets out when the link is back", () => {
    const { hear, log, tab } = shownPage();
    hear(AWAY);
    log.length = 0;
    tab.go(`${B}/`);
    hear(BACK);
    expect(log.slice(1)).toEqual([`src ${B}/`]);
  });

  it("the frame of the start page sets out at once", () => {
    const { hear, log, tab } = openBrowser();
    hear(AWAY);
    tab.go(`${B}/`);
    expect(log).toContain(`src ${B}/`);
  });
});
