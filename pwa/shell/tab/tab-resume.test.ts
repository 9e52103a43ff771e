import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../../shared/errors.ts";
import { MESSAGE_TAG } from "../../messages/page-messages.ts";
import { openBrowser } from "../testing/tab-rig.ts";
import type { KeptEntry } from "./session-history.ts";

const A = "https://a.example";
const B = "https://b.example";
const START: KeptEntry = { url: "", isRepeatable: true, scroll: { x: 0, y: 0 } };
const page = (url: string, y: number, isRepeatable = true): KeptEntry => ({ url, isRepeatable, scroll: { x: 0, y } });
const BEFORE = [START, page(`${A}/`, 10), page(`${B}/`, 20)];

describe("after the app was killed", () => {
  it("opens the page where the person was, and those before on the way back", () => {
    const { log, report, show, shown, kept, tab } = openBrowser(BEFORE);
    expect(log.splice(0)).toEqual([`ask 1 ${B}/`, `replace ${B}/`]);
    expect(shown()).toMatchObject({ phase: "loading", url: `${B}/`, canGoBack: true });
    show(`${B}/`, "b");
    expect(log.splice(0)).toEqual([`tell ${B} scroll 20`]);
    expect(kept.at(-1)).toEqual(BEFORE);
    report("/blank#1", "loaded", "at /blank#1");
    expect(log.splice(0)).toEqual([`ask 2 ${A}/`, `replace ${A}/`]);
    show(`${A}/`, "a");
    expect(log.splice(0)).toEqual([`tell ${A} scroll 10`]);
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/`, canGoBack: true, canGoForward: true });
    report("/blank#0", "loaded", "at /blank#0");
    expect(shown()).toMatchObject({ phase: "idle", url: "", canGoBack: false });
    expect(tab.state.canGoForward).toBe(true);
  });

  it("goes to where the person was, with the way forward", () => {
    const { log, report, show, shown } = openBrowser([
      START,
      page(`${A}/`, 10),
      { ...page(`${B}/`, 20), isAhead: true },
    ]);
    expect(log.splice(0)).toEqual(["go -1"]);
    expect(shown()).toMatchObject({ phase: "loading", url: `${A}/` });
    report("/blank#1", "loaded", "at /blank#1");
    expect(log.splice(0)).toEqual([`ask 1 ${A}/`, `replace ${A}/`]);
    show(`${A}/`, "a");
    expect(log.splice(0)).toEqual([`tell ${A} scroll 10`]);
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/`, canGoBack: true, canGoForward: true });
    report("/blank#2", "loaded", "at /blank#2");
    expect(log.splice(0)).toEqual([`ask 2 ${B}/`, `replace ${B}/`]);
  });

  it("goes where the person asks to go instead", () => {
    const { log, show, shown, tab } = openBrowser(BEFORE);
    tab.go(`${A}/other`);
    expect(log.slice(2)).toEqual(["abandon 1", `ask 2 ${A}/other`, `src ${A}/other`]);
    show(`${A}/other`, "other");
    expect(shown()).toMatchObject({ url: `${A}/other`, canGoBack: true, canGoForward: false });
  });

  it("sends no form again: its page is the start page", () => {
    const { log, shown } = openBrowser([page(`${A}/`, 0), page(`${A}/sent`, 0, false)]);
    expect(log).toEqual([]);
    expect(shown()).toMatchObject({ phase: "idle", url: "", canGoBack: true });
  });

  it("opens a page again that had failed, if nothing was sent to it", () => {
    const failed = (method: string) => {
      const { hearPage, kept, say } = openBrowser();
      say(A, "leaving");
      const notice = { url: `${A}/`, code: ErrorCode.CONNECTION_REFUSED, message: "", method, historyKey: "a" };
      hearPage({ tag: MESSAGE_TAG, type: "failed", ...notice }, A);
      return kept.at(-1)?.at(-1);
    };
    expect(failed("GET")).toEqual(page(`${A}/`, 0));
    expect(failed("POST")).toEqual(page(`${A}/`, 0, false));
  });
});

it("keeps how far down the page is", () => {
  const { hearPage, kept, show } = openBrowser();
  show(`${A}/`, "a");
  const scrolled = { tag: MESSAGE_TAG, type: "scrolled", historyKey: "a" } as const;
  hearPage({ ...scrolled, position: { x: 3, y: 400 } }, A);
  expect(kept.at(-1)?.at(-1)?.scroll).toEqual({ x: 3, y: 400 });
  hearPage({ ...scrolled, position: { x: 3, y: Number.NaN } }, A);
  expect(kept.at(-1)?.at(-1)?.scroll).toEqual({ x: 3, y: 400 });
});
