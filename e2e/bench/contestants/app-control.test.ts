import { expect, it } from "vitest";
import type { AppPage } from "../../fixtures/app-page.ts";
import { ContestantError, HarnessError } from "../failure.ts";
import { shownPage } from "./app-control.ts";

/** An app whose page the automation does not find. */
function app(phase: string): AppPage {
  const locator = { textContent: async () => "No answer  from\nthe edge" };
  const content = () => Promise.reject(new Error("Cannot reach the page: its frame is gone"));
  return { phase: async () => phase, content, page: { locator: () => locator } } as unknown as AppPage;
}

it("a page that the automation has lost is the bench's fault, one that the app could not load is the app's", async () => {
  await expect(shownPage(app("loaded"))).rejects.toBeInstanceOf(HarnessError);
  const failed = shownPage(app("failed"));
  await expect(failed).rejects.toThrow("Cannot load the page: the app says: No answer from the edge");
  await expect(failed).rejects.toBeInstanceOf(ContestantError);
});
