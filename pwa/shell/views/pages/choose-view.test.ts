import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../../../shared/errors.ts";
import { testState } from "../../testing/test-state.ts";
import { chooseView } from "./views.tsx";

const url = "https://example.com/";
const asked = testState({ phase: "loading", url, destination: { kind: "typed", url } });

describe("chooseView", () => {
  it("begins with the start page", () => expect(chooseView(testState(), null)).toBe("start"));

  it("waits in its own view for the first bytes, then shows the page", () => {
    expect(chooseView(asked, "start")).toBe("opening");
    // Others may have come: of what the app asks for itself, or of a page before.
    const cost = { ...asked.cost, linkBytesDown: 100, originBytes: 100, requestsDone: 1 };
    expect(chooseView({ ...asked, cost }, "opening")).toBe("opening");
    expect(chooseView(testState({ phase: "loading", url }), "opening")).toBe("page");
    expect(chooseView(testState({ phase: "loaded", url }), "opening")).toBe("page");
  });

  it("keeps the old page until the next one comes, or a boot page has taken its place", () => {
    expect(chooseView(asked, "page")).toBe("page");
    expect(chooseView({ ...asked, isFrameEmpty: true }, "page")).toBe("opening");
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
