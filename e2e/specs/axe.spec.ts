import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "../fixtures/browser.ts";

// Nothing but colours differs in the dark.
for (const colorScheme of ["light", "dark"] as const)
  test(`a screen reader's rules find nothing in the app's views, ${colorScheme}`, {
    tag: colorScheme === "dark" ? "@long" : [],
  }, async ({ app, origin }) => {
    origin.page("/", "<p>Hello</p>", "A page");
    const { page } = app;
    const menu = (name: string) => async () => {
      await page.getByRole("button", { name: "Menu" }).click();
      await page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
    };
    const check = async (view: string) => {
      // A sheet comes from below; colours are judged once it is there.
      await page.evaluate(() => {
        // Signs that something goes on have no end.
        const ending = document
          .getAnimations()
          .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
        return Promise.allSettled(ending.map((each) => each.finished));
      });
      // Pages are no part of the app.
      const axe = new AxeBuilder({ page }).exclude(".frame-host");
      const { violations } = await (colorScheme === "dark" ? axe.withRules("color-contrast") : axe).analyze();
      const found = violations.map(({ id, nodes }) => `${view}: ${id}: ${nodes.map(({ html }) => html).join(" ")}`);
      expect.soft(found).toEqual([]);
    };
    const close = () => page.keyboard.press("Escape");

    await page.emulateMedia({ colorScheme });
    await check("start page");
    await app.goto(`${origin.origin}/`);
    await check("page");
    await page.getByRole("button", { name: "Menu" }).click();
    await check("menu");
    await close();
    for (const name of ["Settings", "History", "Bookmarks", "Downloads", "Site information"]) {
      await menu(name)();
      await check(name);
      await close();
    }
    await menu("Settings")();
    await page.getByRole("button", { name: "Paired devices" }).click();
    await expect(page.getByRole("heading", { name: "Add a device" })).toBeVisible();
    await check("devices");
    await close();
    await close();
    await menu("New tab")();
    await page.getByRole("button", { name: /^Tabs: / }).click();
    await check("tabs");
    await close();
    await app.address.fill("http://nowhere.invalid/");
    await app.address.press("Enter");
    await expect(page.getByRole("heading", { name: "No site with this name" })).toBeVisible();
    await check("error page");
    await page.getByRole("button", { name: "Start page" }).click();
  });
