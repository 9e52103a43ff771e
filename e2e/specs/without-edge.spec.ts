import type { Frame, Page } from "@playwright/test";
import { AppPage } from "../fixtures/app-page.ts";
import { expect, test } from "../fixtures/browser.ts";
import { type OfflinePage, serveOfflinePages } from "../fixtures/offline-pages.ts";
import { startTestOrigin } from "../fixtures/test-origin/test-origin.ts";

/** Milliseconds that a page may take on a busy machine. */
const PATIENCE = 30_000;

/** Ready for sites whose slot is gone, while no new one can be had. */
const SPARES = 2;

const PAGES_OF_SITE = 5;

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

async function slotShown(app: AppPage): Promise<string> {
  return new URL((await app.content()).url()).origin;
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
  const slots: string[] = [];
  for (const each of pages) {
    await app.goto(each.url);
    await expectWhole(app, each);
    const slot = await slotShown(app);
    if (!slots.includes(slot)) slots.push(slot);
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

  // Spares stand in for slots that are gone, as many as there are; the same do when the app is opened again.
  const evicted = slots.slice(0, SPARES);
  for (const slot of evicted) await evictSlot(page, slot);
  const ofEvicted = pages.slice(0, SPARES * PAGES_OF_SITE);
  for (const each of ofEvicted) {
    await whole(each);
    expect(evicted).not.toContain(await slotShown(app));
  }
  await page.reload();
  await expect(app.address).toBeVisible();
  for (const each of ofEvicted.toReversed()) await whole(each);
});
