import type { BrowserContext, Page, Route } from "@playwright/test";
import { expect, test } from "../fixtures/browser.ts";
import { startTestOrigin } from "../fixtures/test-origin/test-origin.ts";

/** One that is being set up may be written down until the app is gone. */
async function reloadWithoutSpares(page: Page): Promise<void> {
  await page.addInitScript(() => {
    if (window === window.top) localStorage.removeItem("ropeway.spare-slots");
  });
  await page.reload();
}

/** Opens the app anew, without spare slots, and loses boot pages until it is told to stop; `least` of them. */
async function loseBootPages(context: BrowserContext, page: Page, least: number): Promise<() => Promise<void>> {
  let lost = 0;
  await context.route(/\.ropeway\/boot(?:\?|$)/, (route) => {
    lost += 1;
    return route.abort("connectionreset");
  });
  await reloadWithoutSpares(page);
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

test("a site is shown whose boot page led to nothing, and Back leads to the page before", async ({
  app,
  context,
  origin,
  page,
}) => {
  origin.page("/", "<p>Before</p>");
  const other = await startTestOrigin({ ip: "127.0.0.13" });
  other.page("/next", "<p>Here</p>");
  await expect(app.address).toBeVisible();
  let ended = 0;
  let ends = false;
  await context.route(/\.ropeway\/boot(?:\?|$)/, (route) => {
    if (route.request().frame() !== page.frames()[1]) return route.abort();
    if (!ends) return route.continue();
    ended += 1;
    // As where a navigation of the page's own, to a download, has ended the frame's.
    return route.fulfill({ status: 204 });
  });
  await reloadWithoutSpares(page);
  await app.goto(`${origin.origin}/`);
  ends = true;
  await app.ask(`${other.origin}/next`);
  await expect.poll(() => ended).toBe(1);
  await context.unrouteAll();
  await expect(app.frame().getByText("Here")).toBeVisible({ timeout: 30_000 });
  expect(other.requestsTo("/next")).toHaveLength(1);
  await app.navigated(() => page.evaluate(() => history.back()));
  await expect(app.frame().getByText("Before")).toBeVisible();
  await other.close();
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
  await reloadWithoutSpares(page);
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
