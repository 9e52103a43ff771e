import { describe, expect, it } from "vitest";
import { MESSAGE_TAG, type PageToShell } from "../../messages/page-messages.ts";
import { openBrowser, sendsTo } from "../testing/tab-rig.ts";

const A = "https://a.example";
const B = "https://b.example";

describe("a page that sends itself to its own address", () => {
  const opened = () => {
    const all = openBrowser();
    const sendItself = () => {
      const message = {
        tag: MESSAGE_TAG,
        type: "navigate",
        url: `${A}/`,
        method: "GET",
        headers: [],
        body: null,
      } as const;
      all.hearPage({ ...message, referrer: "", replace: true }, A);
    };
    const asked = () => all.log.filter((line) => line.startsWith("ask")).length;
    return { ...all, sendItself, asked };
  };

  it("is stopped the third time, and stays, and the person is told", () => {
    const { asked, report, sendItself, show, shown } = opened();
    for (let time = 0; time < 3; time++) {
      report(`${A}/`, "loading", "a");
      sendItself();
      // Once for each document.
      if (time < 2) sendItself();
    }
    expect(asked()).toBe(2);
    report(`${A}/`, "loaded", "a");
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/`, notice: { kind: "loop", url: `${A}/` } });
    show(`${B}/`, "b");
    expect(shown().notice).toBeNull();
  });

  it("may do so once after each time that the person goes there", () => {
    const { asked, sendItself, show, shown, tab } = opened();
    for (let time = 0; time < 4; time++) {
      tab.go(`${A}/`);
      show(`${A}/`, "a");
      sendItself();
      show(`${A}/`, "a");
    }
    expect(asked()).toBe(8);
    expect(shown().notice).toBeNull();
  });
});

describe("a page that goes elsewhere while the person has set out for a typed address", () => {
  const leaving = (type: "navigate" | "leaving" | "moved", isActive: boolean) => {
    const all = openBrowser();
    all.show(`${A}/`, "a");
    all.tab.go(`${B}/`);
    all.log.length = 0;
    const going = { ...sendsTo(`${A}/other`), type } as PageToShell;
    all.hearPage(going, A, { isActive, hasBeenActive: true });
    return all;
  };

  it.each(["navigate", "moved"] as const)("goes nowhere by itself (%s)", (type) => {
    const { log, shown } = leaving(type, false);
    expect(log).toEqual([]);
    expect(shown()).toMatchObject({ url: `${B}/`, phase: "loading" });
  });

  it("loses its frame where the browser has taken that elsewhere, and the way back leads to it by the app", () => {
    const { log, show, shown, tab } = leaving("leaving", false);
    expect(log).toEqual(["frame goes", `src again ${B}/`, "anchor"]);
    show(`${B}/`, "b");
    expect(shown()).toMatchObject({ url: `${B}/`, phase: "loaded", canGoBack: true });
    log.length = 0;
    tab.back();
    expect(log).toContain(`ask 2 ${A}/`);
    expect(shown()).toMatchObject({ url: `${A}/`, phase: "loading" });
  });

  it("is told of where the way back would lead to what a form has led to", () => {
    const top = { x: 0, y: 0 };
    const { log, hearPage, show, shown, tab } = openBrowser([
      { url: `${A}/sent`, isRepeatable: false, scroll: top },
      { url: `${A}/`, isRepeatable: true, scroll: top },
    ]);
    show(`${A}/`, "a");
    tab.go(`${B}/`);
    hearPage({ ...sendsTo(`${A}/other`), type: "leaving" } as PageToShell, A, { isActive: false, hasBeenActive: true });
    show(`${B}/`, "b");
    tab.back();
    show(`${A}/`, "a2");
    expect(shown()).toMatchObject({ url: `${A}/`, phase: "loaded", canGoBack: true, notice: null });
    log.length = 0;
    tab.back();
    expect(log).toEqual([]);
    expect(shown()).toMatchObject({ url: `${A}/`, phase: "loaded", notice: { kind: "no-way-back" } });
  });

  it("goes where the person has tapped", () => {
    expect(leaving("navigate", true).shown()).toMatchObject({ destination: { kind: "started", url: `${A}/other` } });
    expect(leaving("leaving", true).log).not.toContain("frame goes");
  });
});

describe("a page that a form led to", () => {
  const reloaded = () => {
    const all = openBrowser();
    all.show(`${A}/order`, "a");
    all.tab.reload();
    all.hearPage({ tag: MESSAGE_TAG, type: "reload-sends-form" }, A);
    return all;
  };

  it("asks before a reload sends the form again", () => {
    const { log, shown, tab } = reloaded();
    expect(shown()).toMatchObject({ phase: "loaded", notice: { kind: "resend", url: `${A}/order` } });
    expect(log).toEqual(["tell reload"]);
    tab.sendAgain();
    expect(shown()).toMatchObject({ phase: "loading", notice: null });
    expect(log).toEqual(["tell reload", "tell reload confirmed"]);
  });

  it("asks no longer once it is left", () => {
    const { log, show, shown, tab } = reloaded();
    show(`${A}/next`, "b");
    expect(shown().notice).toBeNull();
    tab.sendAgain();
    expect(log).toEqual(["tell reload"]);
  });

  it("does not answer for a page that is on its way", () => {
    const { hearPage, shown, tab } = reloaded();
    tab.go(`${B}/`);
    hearPage({ tag: MESSAGE_TAG, type: "reload-sends-form" }, A);
    expect(shown()).toMatchObject({ phase: "loading", url: `${B}/`, notice: null });
  });
});

describe("a link that another app opens", () => {
  it.each(["mailto:a@b.example?subject=c", "tel:+47112", "spotify:track:1"])("leaves the page as it is: %s", (url) => {
    const { hearPage, log, show, shown } = openBrowser();
    show(`${A}/`, "a");
    hearPage(sendsTo(url), A);
    expect(log.at(-1)).toBe(`open ${url} for ${A}`);
    expect(shown()).toMatchObject({ phase: "loaded", url: `${A}/`, error: null });
  });
});
