/** What is stored, where the app has just started. */
import { type AppPage, expect, test } from "../fixtures/browser.ts";
import { COUNTED, counts, holdStore, neverEndRests, serve, servePicture, visit } from "../fixtures/stored-site.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

test.use({ experiment: COUNTED });

/** The page is stored, and the origin has forgotten who asked. */
async function storePage(app: AppPage, origin: TestOrigin): Promise<void> {
  serve(origin);
  servePicture(origin);
  await app.storeReady();
  await expect.poll(() => app.page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  await visit(app, origin);
  await expect.poll(async () => (await app.stats()).storedBytes).toBeGreaterThan(50_000);
  origin.forget();
}

test("a fresh document comes with no request where the app has just started, too", async ({ app, origin }) => {
  serve(origin);
  await app.storeReady();
  await app.goto(`${origin.origin}/document`);
  await expect(app.frame().locator("#at")).toHaveText("seen=1");
  await expect.poll(async () => (await app.stats()).storedBytes).toBeGreaterThan(0);
  // Beside the other one, so that it shows the start page.
  const again = await app.openAnother();
  // Asked by the app itself: which cookies the page's scripts may read.
  await expect.poll(() => again.stats()).toMatchObject({ requests: 1, requestsDone: 1 });
  await again.goto(`${origin.origin}/document`);
  await expect(again.frame().locator("#at")).toHaveText("seen=1");
  expect(origin.requestsTo("/document")).toHaveLength(1);
});

test("nothing that is stored of a page comes again where the app is opened with its address @long", async ({
  app,
  origin,
}) => {
  await storePage(app, origin);
  const again = await app.openAnother(`#url=${encodeURIComponent(`${origin.origin}/page`)}`);
  await expect(again.frame().locator("#shown")).toHaveText("kept stale never");
  expect(counts(origin)).toEqual({ "/page": 1, "/stale.js": 1, "/never.js": 1 });
});

test("nothing that is stored of a page comes again where its address is typed before the store is open @long", async ({
  app,
  origin,
}) => {
  await storePage(app, origin);
  // Beside the other one, so that it shows the start page.
  const release = await holdStore(app);
  const again = await app.openAnother();
  await neverEndRests(again);
  await again.ask(`${origin.origin}/page`);
  await expect.poll(() => again.phase()).toBe("loading");
  await release();
  await expect(again.frame().locator("#shown")).toHaveText("kept stale never");
  expect(counts(origin)).toEqual({ "/page": 1, "/stale.js": 1, "/never.js": 1 });
});
