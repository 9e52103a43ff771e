import type { BrowserContext, Page, Route } from "@playwright/test";
import { expect, test } from "../fixtures/browser.ts";

/** Opens the app anew, without spare slots, and loses boot pages until it is told to stop; `least` of them. */
async function loseBootPages(context: BrowserContext, page: Page, least: number): Promise<() => Promise<void>> {
  let lost = 0;
  await context.route(/\.ropeway\/boot(?:\?|$)/, (route) => {
    lost += 1;
    return route.abort("connectionreset");
  });
  await page.evaluate(() => localStorage.removeItem("ropeway.spare-slots"));
  await page.reload();
  return async () => {
    await expect.poll(() => lost).toBeGreaterThanOrEqual(least);
    await context.unrouteAll();
  };
}

test("a site whose boot page is lost is shown all the same", async ({ app, context, origin, page }) => {
  origin.page("/", "<p>Here</p>");
  const stop = await loseBootPages(context, page, 1);
  await app.ask(`${origin.origin}/`);
  await stop();
  await expect(app.frame().getByText("Here")).toBeVisible({ timeout: 30_000 });
  expect(origin.requestsTo("/")).toHaveLength(1);
});

test("a site whose boot page is lost is shown though that of its slot's spare comes @long", async ({
  app,
  context,
  origin,
  page,
}) => {
  origin.page("/", "<p>Here</p>");
  await expect(app.address).toBeVisible();
  const spares: Route[] = [];
  let lost = 0;
  await context.route(/\.ropeway\/boot(?:\?|$)/, (route) => {
    const isPage = route.request().frame() === page.frames()[1];
    if (!isPage) return void spares.push(route);
    lost += 1;
    return lost === 1 ? route.abort("connectionreset") : route.continue();
  });
  await page.evaluate(() => localStorage.removeItem("ropeway.spare-slots"));
  await page.reload();
  // The site takes the slot of the spare that is on its way.
  await expect.poll(() => spares.length).toBe(1);
  await app.ask(`${origin.origin}/`);
  await expect.poll(() => lost).toBe(1);
  await spares[0]?.continue();
  await expect(app.frame().getByText("Here")).toBeVisible({ timeout: 30_000 });
});

test("a spare slot whose boot page is lost is set up all the same @long", async ({ app, context, page }) => {
  await expect(app.address).toBeVisible();
  // All spares that there are to be.
  await (await loseBootPages(context, page, 2))();
  await expect
    .poll(() => page.evaluate(() => localStorage.getItem("ropeway.spare-slots") ?? "[]"), { timeout: 30_000 })
    .not.toBe("[]");
});
