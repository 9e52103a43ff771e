/** What moves for ever keeps a phone's processor and screen awake, and its battery goes. */
import type { Page } from "@playwright/test";
import { expect, test } from "../fixtures/browser.ts";

/** Names of all animations that run now, and how many of them end by themselves. */
function animations(page: Page): Promise<{ names: string[]; ending: number }> {
  return page.evaluate(() => {
    const running = document.getAnimations();
    return {
      names: running.map((animation) => (animation instanceof CSSAnimation ? animation.animationName : "transition")),
      ending: running.filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime)).length,
    };
  });
}

test("the start page comes to rest", async ({ app }) => {
  await app.page.reload();
  await expect.poll(async () => (await animations(app.page)).names).toContain("sway");
  const { names, ending } = await animations(app.page);
  expect(ending).toBe(names.length);
  await expect.poll(async () => (await animations(app.page)).names).toEqual([]);
});

test("an app without a link comes to rest, also while a page waits", async ({ app, origin, link, context }) => {
  link.offline();
  await context.setOffline(true);
  await app.ask(`${origin.origin}/`);
  await expect(app.told("Offline")).toBeAttached();
  await expect.poll(async () => (await animations(app.page)).names).toContain("breathe");
  const { names, ending } = await animations(app.page);
  expect(ending).toBe(names.length);
  link.online();
  await context.setOffline(false);
});
