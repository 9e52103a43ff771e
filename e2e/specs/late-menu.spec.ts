import type { Page } from "@playwright/test";
import { expect, test } from "../fixtures/browser.ts";

// A service worker would have the script at hand.
test.use({ serviceWorkers: "block" });

for (const [how, giveUp] of [
  ["Escape", (page: Page) => page.keyboard.press("Escape")],
  ["the address box", (page: Page) => page.getByRole("textbox", { name: "Address" }).first().focus()],
] as const) {
  test(`a menu whose script is on its way is given up by ${how}`, async ({ edge, page }) => {
    const script = Promise.withResolvers<void>();
    await page.route(/\/\.ropeway\/sheets-/, async (route) => {
      await script.promise;
      await route.continue();
    });
    // The app asks for it by itself a while after its start.
    const asked = page.waitForRequest(/\/\.ropeway\/sheets-/);
    await page.goto(edge.url);
    await page.getByRole("button", { name: "Menu" }).click();
    const request = await asked;
    await giveUp(page);
    script.resolve();
    await (await request.response())?.finished();
    // It has long been run then, and the menu drawn.
    await page.waitForTimeout(1_000);
    await expect(page.getByRole("dialog")).toHaveCount(0);
  });
}
