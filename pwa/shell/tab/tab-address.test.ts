import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../../shared/errors.ts";
import { MESSAGE_TAG, type PageToShell } from "../../messages/page-messages.ts";
import { openBrowser, sendsTo } from "../testing/tab-rig.ts";

const A = "https://a.example";
const B = "https://b.example";

describe("the bar, while a page is visible", () => {
  const failure = {
    type: "navigation",
    kind: "failed",
    id: 1,
    url: `${B}/`,
    code: ErrorCode.CONNECTION_REFUSED,
  } as const;

  it("does not show where that page sends the frame before it is there", () => {
    const { hear, hearPage, report, show, shown } = openBrowser();
    show(`${A}/`, "a");
    hearPage(sendsTo(`${B}/`), A);
    const underway = { phase: "loading", url: `${A}/`, destination: { kind: "started", url: `${B}/` } };
    expect(shown()).toMatchObject(underway);
    hear({ type: "navigation", kind: "moved", id: 1, url: "https://c.example/" });
    report(`${A}/`, "interactive", "a", "Bank");
    expect(shown()).toMatchObject({ ...underway, title: "Bank" });
    show("https://c.example/", "c");
    expect(shown()).toMatchObject({ phase: "loaded", url: "https://c.example/", destination: null });
  });

  it("nor by a redirect that the page makes up", () => {
    const { hearPage, show, shown } = openBrowser();
    show(`${A}/`, "a");
    hearPage({ tag: MESSAGE_TAG, type: "moved", url: `${B}/` }, A);
    expect(shown()).toMatchObject({ phase: "loading", url: `${A}/` });
  });

  it("shows an address that was typed until that page goes elsewhere", () => {
    for (const message of [sendsTo("https://c.example/"), { tag: MESSAGE_TAG, type: "leaving", url: `${A}/2` }]) {
      const { hearPage, show, shown, tab } = openBrowser();
      show(`${A}/`, "a");
      tab.go(`${B}/`);
      expect(shown()).toMatchObject({ url: `${B}/`, destination: { kind: "typed", url: `${B}/` } });
      hearPage(message as PageToShell, A);
      expect(shown()).toMatchObject({ phase: "loading", url: `${A}/` });
    }
  });

  it("shows an address that failed only where no page is shown", () => {
    const { hear, hearPage, show, shown, tab } = openBrowser();
    tab.go(`${B}/`);
    hear({ ...failure, message: "" });
    expect(shown()).toMatchObject({ phase: "failed", url: `${B}/` });
    show(`${A}/`, "a");
    for (const id of [2, 3]) {
      if (id === 2) hearPage(sendsTo(`${B}/`), A);
      else tab.go(`${B}/`);
      hear({ ...failure, id, message: "" });
      expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/`, error: null, unopened: { url: `${B}/` } });
    }
  });

  it("reloads that page, and does not go where it sends the frame", () => {
    const { hearPage, log, say, show, tab } = openBrowser();
    show(`${A}/`, "a");
    hearPage(sendsTo(`${B}/`), A);
    log.length = 0;
    tab.reload();
    expect(log).toEqual(["abandon 1", "tell reload"]);
    hearPage(sendsTo(`${B}/`), A);
    say(B, "slot-ready");
    log.length = 0;
    tab.reload();
    expect(log).toEqual(["abandon 2", `replace again ${A}/`]);
  });
});

it("says when the frame has lost its document, until the next is there", () => {
  const { say, show, shown, tab } = openBrowser();
  show(`${A}/`, "a");
  tab.go(`${B}/`);
  expect(shown().isFrameEmpty).toBe(false);
  say(B, "booting");
  expect(shown().isFrameEmpty).toBe(true);
  show(`${B}/`, "b");
  expect(shown().isFrameEmpty).toBe(false);
});
