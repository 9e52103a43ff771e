import { expect, test } from "../fixtures/browser.ts";

test("the app opens without any network", async ({ app, link, context }) => {
  await app.page.evaluate(() => navigator.serviceWorker.ready);
  await expect.poll(() => app.page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  link.offline();
  await context.setOffline(true);
  await app.page.goto(`${app.base}/`);
  await expect(app.address).toBeVisible();
  await app.address.fill("example");
  await expect(app.address).toHaveValue("example");
});

test("it keeps its pairing, so the next start needs no key", async ({ app, origin }) => {
  origin.page("/", "<p>Still paired</p>");
  await app.page.goto(`${app.base}/`);
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().getByText("Still paired")).toBeVisible();
});

test("the link on a printed address pairs and loads at once", async ({ page, link, edge, origin }) => {
  const { AppPage } = await import("../fixtures/app-page.ts");
  origin.page("/", "<p>First page</p>");
  const app = new AppPage(page, `http://localhost:${link.port}`);
  await app.open(edge.accessKey, `${origin.origin}/`);
  await expect(app.frame().getByText("First page")).toBeVisible();
});

test("it can be installed", async ({ app }) => {
  const href = await app.page.locator('link[rel="manifest"]').getAttribute("href");
  const manifest = (await (await app.page.request.get(new URL(href ?? "", app.base).href)).json()) as {
    name: string;
    display: string;
    start_url: string;
    icons: { src: string; purpose?: string; sizes: string }[];
    shortcuts: unknown[];
    share_target: { action: string };
  };
  expect(manifest).toMatchObject({ name: "Ropeway", display: "standalone" });
  expect(manifest.icons.some(({ purpose }) => purpose?.includes("maskable"))).toBe(true);
  expect(manifest.shortcuts.length).toBeGreaterThan(0);
  expect(manifest.share_target.action).toBeTruthy();
  for (const { src } of manifest.icons) {
    expect((await app.page.request.get(new URL(src, app.base).href)).status()).toBe(200);
  }
});
