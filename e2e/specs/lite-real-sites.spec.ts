/** Pages of real sites, where there is one host and scripts are off. */
import type { Page } from "@playwright/test";
import { expect } from "../fixtures/browser.ts";
import { expectSameContent, settledContent } from "../fixtures/compare.ts";
import { test } from "../fixtures/one-host.ts";
import { REAL_SITES } from "../fixtures/real-sites/origins.ts";

/** What the app adds: pictures that a script was to show. */
function showLazyPictures(page: Page): Promise<void> {
  return page.evaluate(() => {
    for (const picture of document.querySelectorAll<HTMLImageElement>("img[data-src]:not([src])"))
      picture.src = picture.dataset.src ?? "";
  });
}

test("five real sites show as directly with scripts off, with the pictures that wait for one @long", async ({
  app,
  browser,
  network,
}) => {
  test.setTimeout(120_000);
  const context = await browser.newContext({ javaScriptEnabled: false });
  const direct = await context.newPage();
  for (const [name, start] of Object.entries(REAL_SITES)) {
    await test.step(name, async () => {
      const site = await start();
      await direct.goto(site.entry);
      await showLazyPictures(direct);
      const wanted = await settledContent(direct);
      await app.goto(site.entry);
      await expectSameContent(app, wanted);
      const step = site.steps.find(({ navigates }) => navigates);
      if (step !== undefined) {
        const loaded = direct.waitForEvent("load");
        await step.act(direct);
        await loaded;
        await showLazyPictures(direct);
        const next = await settledContent(direct, wanted);
        await app.navigated(() => step.act(app.frame()));
        await expectSameContent(app, next);
      }
      await site.close();
    });
  }
  await context.close();
  expect(network.leaks("localhost")).toEqual([]);
});

test("a form of a real site is sent as directly with scripts off @long", async ({ app, browser }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const direct = await context.newPage();
  const site = await REAL_SITES["documentation set (Spectre.css)"]?.();
  if (site === undefined) throw new Error("Cannot send a form: the site is gone");
  const [origin] = site.origins;
  const page = `${origin?.origin}/elements/forms.html`;
  const send = (view: typeof direct | ReturnType<typeof app.frame>) =>
    view
      .locator("form:has([name=gender])")
      .first()
      .evaluate((form: HTMLFormElement) => form.requestSubmit());
  await direct.goto(page);
  await Promise.all([direct.waitForURL(/\?/), send(direct)]);
  await app.goto(page);
  await app.navigated(() => send(app.frame()));
  await expect(app.address).toHaveValue(direct.url());
  await expectSameContent(app, await settledContent(direct));
  const sent = origin?.requests.filter(({ path, query }) => path.endsWith("/forms.html") && query.size > 0);
  expect(sent?.map(({ method, url }) => [method, url])).toEqual([
    ["GET", "/elements/forms.html?gender=on"],
    ["GET", "/elements/forms.html?gender=on"],
  ]);
  await site.close();
  await context.close();
});
