import { describe, expect, it } from "vitest";
import { NavigationJudge } from "./navigation-judge.ts";

const EVIL = "https://evil.example/";
const PAY = "https://bank.example/pay";

function open() {
  const clock = { now: 0 };
  const judge = new NavigationJudge(() => clock.now);
  const link = { url: PAY, method: "GET", mayBeApps: true, from: EVIL, isRestored: false };
  return {
    clock,
    judge,
    link,
    ask: (asked = {}, shown: string | null = EVIL) => judge.judge({ ...link, ...asked }, shown),
  };
}

describe("NavigationJudge", () => {
  it("has the tab send a page's frame to another site", () => {
    const { ask } = open();
    expect(ask()).toBe("hand-over");
    expect(ask({ method: "POST" })).toBe("hand-over");
    expect(ask({ url: `${EVIL}next` })).toBe("leaves");
    expect(ask({ url: "mailto:a@b.example" })).toBe("hand-over");
  });

  it("lets the frame go once where the tab has sent it", () => {
    const { judge, ask } = open();
    judge.permit(`${PAY}#part`);
    expect(ask()).toBe("go");
    expect(ask()).toBe("hand-over");
  });

  it("says once of what the tab has sent that the browser does not tell who asks", () => {
    const { judge, ask } = open();
    const untold = { mayBeApps: false, from: null };
    expect(ask(untold, null)).toBe("not-mine");
    judge.permit(PAY);
    expect(ask({ ...untold, method: "POST" }, null)).toBe("not-mine");
    expect(ask({ ...untold, url: EVIL }, null)).toBe("not-mine");
    expect(ask(untold, null)).toBe("untold");
    expect(ask(untold, null)).toBe("not-mine");
  });

  it("takes no form of a page, nor its link, for the tab's own going there", () => {
    const { judge, ask } = open();
    judge.permit(PAY);
    expect(ask({ method: "POST", mayBeApps: false })).toBe("hand-over");
    judge.permit(PAY);
    expect(ask({ method: "POST" })).toBe("hand-over");
    judge.permit(PAY);
    expect(ask({ mayBeApps: false })).toBe("hand-over");
    // What was permitted before is over.
    expect(ask()).toBe("hand-over");
  });

  it("lets no permit stand open", () => {
    const { judge, ask, clock } = open();
    judge.permit(PAY);
    judge.withdraw();
    expect(ask()).toBe("hand-over");
    judge.permit(PAY);
    clock.now = 5_000;
    expect(ask()).toBe("hand-over");
  });

  it("leaves entries of the history to the browser, but for forms that nobody wants sent again", () => {
    const { judge, ask } = open();
    const restored = { isRestored: true };
    expect(ask(restored)).toBe("go");
    expect(ask({ ...restored, method: "POST" })).toBe("stay");
    judge.permitResending();
    expect(ask({ ...restored, method: "POST" })).toBe("go");
    expect(ask({ ...restored, method: "POST" })).toBe("stay");
  });

  it("knows its own frame by what the browser announces there, whatever the worker is told", () => {
    const { judge, ask, clock } = open();
    const untold = { from: null, mayBeApps: false };
    judge.announce(`${PAY}#part`, false);
    expect(ask(untold)).toBe("hand-over");
    expect(ask(untold)).toBe("not-mine");
    judge.announce(`${EVIL}next`, false);
    expect(ask({ ...untold, url: `${EVIL}next` })).toBe("leaves");
    judge.announce(PAY, true);
    expect(ask({ ...untold, from: "https://before.example/" })).toBe("go");
    judge.announce(PAY, true);
    expect(ask({ ...untold, method: "POST" })).toBe("stay");
    judge.announce(PAY, true);
    clock.now = 5_000;
    expect(ask(untold)).toBe("not-mine");
  });

  it("takes the tab's own going there for no announcement of the page's", () => {
    const { judge, ask } = open();
    judge.permit(PAY);
    judge.announce(PAY, false);
    expect(ask()).toBe("go");
    expect(ask({ from: null })).toBe("not-mine");
    judge.announce(PAY, false);
    judge.withdraw();
    expect(ask({ from: null })).toBe("not-mine");
  });

  it("knows nothing of other windows' frames", () => {
    const { ask } = open();
    expect(ask({}, "https://other.example/")).toBe("not-mine");
    expect(ask({ from: null })).toBe("not-mine");
    expect(ask({ isRestored: true }, null)).toBe("not-mine");
  });
});
