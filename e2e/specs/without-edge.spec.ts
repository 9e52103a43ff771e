import type { Frame, Page } from "@playwright/test";
import { AppPage } from "../fixtures/app-page.ts";
import { expect, test } from "../fixtures/browser.ts";
import { type OfflinePage, serveOfflinePages } from "../fixtures/offline-pages.ts";
import { startTestOrigin } from "../fixtures/test-origin/test-origin.ts";

/** Milliseconds that a page may take on a busy machine. */
const PATIENCE = 30_000;

async function expectWhole(app: AppPage, { words, frames }: OfflinePage): Promise<void> {
  const frame = app.frame();
  await expect(frame.locator("#words")).toHaveText(words, { timeout: PATIENCE });
  await expect(frame.locator("#words")).toHaveCSS("color", "rgb(0, 128, 0)");
  await expect.poll(async () => hollowPictures(await app.content())).toEqual([]);
  await expect.poll(async () => picturesInFrames(await app.content())).toBe(frames);
}

function hollowPictures(page: Frame): Promise<string[]> {
  return page.evaluate(() =>
    [...document.images].filter(({ naturalWidth }) => naturalWidth === 0).map(({ currentSrc }) => currentSrc),
  );
}

async function picturesInFrames(page: Frame): Promise<number> {
  const widths = page.childFrames().map((frame) => frame.evaluate(() => document.images[0]?.naturalWidth ?? 0));
  return (await Promise.all(widths)).filter((width) => width > 0).length;
}

/** As the browser does where storage is short: all that a slot's host has is gone, its service worker too. */
async function evictSlot(page: Page, slotOrigin: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Storage.clearDataForOrigin", { origin: slotOrigin, storageTypes: "all" });
  await session.detach();
}

test("twenty pages that were opened are opened again with the edge stopped, each whole @long", async ({ page }) => {
  test.setTimeout(600_000);
  const { startEdge } = await import("../../scripts/edge-process.ts");
  const edge = await startEdge({ runtime: "workerd", port: 0, allowPrivate: true });
  const sites = await Promise.all([21, 22, 23, 24].map((last) => startTestOrigin({ ip: `127.0.0.${last}` })));
  const other = await startTestOrigin({ ip: "127.0.0.25" });
  const pages = serveOfflinePages(sites, other);
  const app = new AppPage(page, edge.url);
  await app.open(edge.accessKey);
  await app.storeReady();
  let slot = "";
  for (const each of pages) {
    await app.goto(each.url);
    await expectWhole(app, each);
    if (each === pages[1]) slot = new URL((await app.content()).url()).origin;
  }
  const whole = async (each: OfflinePage): Promise<void> => {
    await app.goto(each.url);
    await test.step(each.url, () => expectWhole(app, each));
  };
  await app.sparesReady();
  await edge.close();
  for (const site of [...sites, other]) await site.close();
  await expect(page.locator(".link-pill")).toBeVisible();

  for (const each of pages) await whole(each);
  await expect(page.locator(".link-pill")).toHaveText(/^Stored /);

  await page.reload();
  await expect(app.address).toBeVisible();
  for (const each of pages.toReversed()) await whole(each);

  // A spare stands in for the slot that is gone.
  await evictSlot(page, slot);
  for (const each of pages.slice(0, 5)) await whole(each);
  expect(new URL((await app.content()).url()).origin).not.toBe(slot);
});
