import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MESSAGE_TAG } from "../../messages/page-messages.ts";
import { openBrowser } from "../testing/tab-rig.ts";

const A = "https://a.example";
const B = "https://b.example";

describe("the time of a page", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const moved = { requests: 1, requestsDone: 0, linkBytesUp: 1, linkBytesDown: 0, originBytes: 0, expectedBytes: 0 };
  const waiting = { pictures: 0, films: 0, bytes: 0 };
  const stored = { storeAnswers: 0, storeValidations: 0, storeReferences: 0, storeBytes: 0 };
  const progress = {
    ...moved,
    ...stored,
    pagesWarmed: 0,
    pagesWarmedUsed: 0,
    trackersBlocked: 0,
    roundTrip: 0,
    waiting,
  };

  it("counts from when it was asked for until it is there", () => {
    const { hear, report, shown, tab } = openBrowser();
    tab.go(`${A}/`);
    vi.advanceTimersByTime(100);
    hear({ type: "progress", tab: 1, progress });
    expect(shown().cost.time).toBe(100);
    vi.advanceTimersByTime(6_000);
    report(`${A}/`, "loading", "a");
    report(`${A}/`, "loaded", "a");
    expect(shown().cost.time).toBe(6_100);
    vi.advanceTimersByTime(1_000);
    hear({ type: "progress", tab: 1, progress });
    report(`${A}/`, "loaded", "a", "(1) A");
    expect(shown().cost.time).toBe(6_100);
  });

  it("begins anew by Back, and goes on over a redirect to another site", () => {
    const { hearPage, report, say, show, shown } = openBrowser();
    show(`${A}/`, "a");
    show(`${A}/2`, "a2");
    vi.advanceTimersByTime(60_000);
    report(`${A}/`, "loading", "a");
    vi.advanceTimersByTime(10);
    report(`${A}/`, "loaded", "a");
    expect(shown().cost.time).toBe(10);
    say(A, "leaving");
    vi.advanceTimersByTime(500);
    hearPage({ tag: MESSAGE_TAG, type: "moved", url: `${B}/` }, A);
    vi.advanceTimersByTime(500);
    show(`${B}/`, "b");
    expect(shown().cost.time).toBe(1_000);
  });
});
