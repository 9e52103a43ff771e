import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../../shared/errors.ts";
import { chooseView } from "./choose-view.ts";
import { testState } from "./test-state.ts";

const url = "https://example.com/";
const idleCost = testState().cost;

describe("chooseView", () => {
  it("begins with the start page", () => expect(chooseView(testState(), null)).toBe("start"));

  it("waits in its own view for the first bytes, then shows the page", () => {
    const loading = testState({ phase: "loading", url });
    expect(chooseView(loading, "start")).toBe("opening");
    expect(chooseView({ ...loading, cost: { ...idleCost, linkBytesDown: 1 } }, "opening")).toBe("page");
    expect(chooseView({ ...loading, cost: { ...idleCost, requestsDone: 1 } }, "opening")).toBe("page");
    expect(chooseView(testState({ phase: "loaded", url }), "opening")).toBe("page");
  });

  it("keeps the old page until the next one comes", () => {
    expect(chooseView(testState({ phase: "loading", url }), "page")).toBe("page");
  });

  it("keeps the page when loading is stopped", () => {
    expect(chooseView(testState({ phase: "idle", url }), "page")).toBe("page");
  });

  it("shows an error over the page", () => {
    const error = { code: ErrorCode.LINK_LOST, url, method: "GET", detail: "" };
    expect(chooseView(testState({ phase: "failed", url, error }), "page")).toBe("error");
  });

  it.each(["unpaired", "refused"] as const)("asks for a key when %s, but not over a page that is there", (kind) => {
    const error = { code: ErrorCode.KEY_NOT_ACCEPTED, url, method: "GET", detail: "" };
    expect(chooseView(testState({ link: { kind } }), null)).toBe("pairing");
    expect(chooseView(testState({ link: { kind }, phase: "failed", url, error }), "page")).toBe("pairing");
    expect(chooseView(testState({ link: { kind }, phase: "loaded", url }), "page")).toBe("page");
  });
});
