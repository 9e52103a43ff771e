import { describe, expect, it } from "vitest";
import { MESSAGE_TAG, type PageToShell, type Trouble } from "../../messages/page-messages.ts";
import { openBrowser } from "../testing/tab-rig.ts";

const A = "https://a.example";
const B = "https://b.example";

function opened() {
  const all = openBrowser();
  const tell = (trouble: unknown, from = A, isOver = false) => {
    const message = { tag: MESSAGE_TAG, type: "trouble", trouble: trouble as Trouble, isOver };
    all.hearPage(message as PageToShell, from);
  };
  all.show(`${A}/page?x#part`, "a");
  return { ...all, tell };
}

describe("a trouble of the page", () => {
  it("is told with the address in the bar, once for each kind, until the page is left", () => {
    const { app, show, shown, tell } = opened();
    tell("socket");
    expect(shown().notice).toEqual({ kind: "trouble", trouble: "socket", url: `${A}/page?x#part` });
    tell("frame");
    expect(shown().notice).toMatchObject({ trouble: "frame" });
    app.dismissNotice();
    for (const trouble of ["socket", "frame", "socket"]) tell(trouble);
    expect(shown().notice).toBeNull();
    // A reload says nothing new, and neither does a step within the page.
    show(`${A}/page?x`, "a");
    tell("socket");
    expect(shown().notice).toBeNull();
    show(`${A}/other`, "b");
    tell("socket");
    expect(shown().notice).toMatchObject({ trouble: "socket", url: `${A}/other` });
    show(`${B}/`, "c");
    expect(shown().notice).toBeNull();
  });

  it("passes where the page is to be seen after all", () => {
    const { shown, tell } = opened();
    tell("hidden");
    tell("frame", A, true);
    expect(shown().notice).toMatchObject({ trouble: "hidden" });
    tell("hidden", A, true);
    expect(shown().notice).toBeNull();
  });

  it("is none where it is made up, or of another page's frame", () => {
    const { shown, tell } = opened();
    for (const made of ["constructor", "", null, undefined, 7, ["frame"], { frame: 1 }]) tell(made);
    tell("frame", B);
    expect(shown().notice).toBeNull();
  });

  it("takes the place of no other news", () => {
    const { app, shown, tell } = opened();
    app.notify({ kind: "uncertain", url: `${A}/order` });
    tell("socket");
    expect(shown().notice).toMatchObject({ kind: "uncertain" });
    app.dismissNotice();
    tell("socket");
    expect(shown().notice).toMatchObject({ trouble: "socket" });
  });

  it("gives way to newer news of another kind, and comes back when those are closed", () => {
    const { app, shown, tell } = opened();
    tell("socket");
    app.notify({ kind: "uncertain", url: `${A}/order` });
    app.notify({ kind: "closed-tab", title: "Shop", undo: () => {} });
    expect(shown().notice).toMatchObject({ kind: "closed-tab" });
    app.notify({ kind: "lite", why: "Scripts are off" });
    expect(shown().notice).toMatchObject({ kind: "lite" });
    app.dismissNotice();
    expect(shown().notice).toMatchObject({ kind: "uncertain" });
    app.dismissNotice();
    expect(shown().notice).toMatchObject({ trouble: "socket" });
    app.dismissNotice();
    expect(shown().notice).toBeNull();
  });

  it("goes with the page where the person goes home", () => {
    const { shown, tab, tell } = opened();
    tell("tap");
    tab.home();
    expect(shown()).toMatchObject({ url: "", notice: null });
  });
});
