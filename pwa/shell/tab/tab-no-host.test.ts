import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../../shared/errors.ts";
import { openBrowser } from "../testing/tab-rig.ts";

const A = "https://a.example";
const B = "https://b.example";
const slot = (origin: string) => ({ label: origin, origin, topLevelOrigin: origin, topLevel: true });

describe("where slots have a list of hosts", () => {
  it("a site for which none is free is not opened, and the page that is shown stays", () => {
    const { tab, show, shown, homeless, log } = openBrowser();
    tab.go(`${A}/`);
    show(`${A}/`, "a");
    homeless.add(B);
    const before = log.length;
    tab.go(`${B}/`);
    expect(shown()).toMatchObject({ url: `${A}/`, phase: "loaded" });
    expect(shown().unopened?.code).toBe(ErrorCode.NO_FREE_HOST);
    expect(log.slice(before).filter((line) => line.includes(B))).toEqual([]);
  });

  it("nor is one that was on its way to a host that is in use after all, or that it was redirected to", () => {
    for (const lose of ["refused", "redirected"]) {
      const { app, tab, shown, homeless, log } = openBrowser();
      tab.go(`${A}/`);
      homeless.add(B);
      tab.onNoHost(B);
      expect(shown().phase).toBe("loading");
      if (lose === "refused") tab.onNoHost(A);
      else app.onTunnelEvent({ type: "navigation", kind: "moved", id: 1, url: `${B}/` });
      expect(shown()).toMatchObject({ phase: "failed", error: { code: ErrorCode.NO_FREE_HOST } });
      expect(log).toContain("abandon 1");
    }
  });

  it("an entry of the history is opened again on its own host where another origin has the one that it was on", () => {
    const { tab, show, log } = openBrowser();
    for (const [origin, key] of [
      [A, "a"],
      [B, "b"],
    ] as const) {
      tab.go(`${origin}/page`);
      show(`${origin}/page`, key);
    }
    const before = log.length;
    expect(tab.mayShowEntry("https://slot.example/page", slot("https://c.example"))).toBe(false);
    expect(log.slice(before)).toEqual(["ask 3 https://a.example/page", "replace https://a.example/page"]);
    show(`${A}/page`, "other");
    expect([tab.state.canGoBack, tab.state.canGoForward]).toEqual([true, true]);
    expect(tab.mayShowEntry("https://slot.example/page", slot(B))).toBe(true);
    show(`${B}/page`, "another");
    expect([tab.state.canGoBack, tab.state.canGoForward]).toEqual([true, false]);
    expect(tab.mayShowEntry("https://slot.example/none", slot(A))).toBe(false);
    expect(log.at(-1)).toBe("replace /blank");
  });
});
