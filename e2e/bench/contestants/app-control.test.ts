import { describe, expect, it } from "vitest";
import type { AppPage } from "../../fixtures/app-page.ts";
import { ContestantError, HarnessError } from "../failure.ts";
import { EDGE_HOST } from "../servers/ropeway-edge.ts";
import { shownPage } from "./app-control.ts";

const GONE = new Error("Cannot reach the page: its frame is gone");

/** An app whose page the automation does not find. */
function app(phase: string, targetUrls: readonly string[]): AppPage {
  const targetInfos = targetUrls.map((url) => ({ type: "iframe", url }));
  const session = { send: async () => ({ targetInfos }), detach: async () => {} };
  const locator = { textContent: async () => "No answer  from\nthe edge" };
  const page = { context: () => ({ newCDPSession: async () => session }), locator: () => locator };
  return { phase: async () => phase, content: () => Promise.reject(GONE), page } as unknown as AppPage;
}

describe("shownPage", () => {
  const spare = `https://sa.${EDGE_HOST}/.ropeway/boot`;

  it("blames the bench where the browser has the page in a frame that the automation lost", async () => {
    const lost = shownPage(app("loaded", [spare, `https://sb.${EDGE_HOST}/#/step-2`]));
    await expect(lost).rejects.toThrow("the app shows it, but the automation has lost its frame");
    await expect(lost).rejects.toBeInstanceOf(HarnessError);
  });

  it("blames the app where there is no such frame", async () => {
    await expect(shownPage(app("loaded", [spare, "about:blank", "", "https://ads.test/"]))).rejects.toBe(GONE);
  });

  it("says what the app says of a page that failed", async () => {
    const failed = shownPage(app("failed", []));
    await expect(failed).rejects.toThrow("Cannot load the page: the app says: No answer from the edge");
    await expect(failed).rejects.toBeInstanceOf(ContestantError);
  });
});
