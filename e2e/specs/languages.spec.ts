import { expect, test } from "../fixtures/browser.ts";

test("the app speaks the language that is chosen, also without a link, and turns around for Arabic", async ({
  app,
  origin,
  link,
  context,
}) => {
  origin.page("/", "<p>Hello</p>", "صفحة 1");
  const { page } = app;
  const html = page.locator("html");
  await app.goto(`${origin.origin}/`);
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByLabel("Language", { exact: true }).selectOption({ label: "Deutsch" });
  await expect(page.getByRole("heading", { name: "Einstellungen", exact: true })).toBeVisible();
  await expect(html).toHaveAttribute("lang", "de");

  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  link.offline();
  await context.setOffline(true);
  await page.reload();
  await expect(page.getByRole("button", { name: "Menü" })).toBeVisible();
  await expect(page.getByLabel("Adresse", { exact: true })).toBeVisible();
  link.online();
  await context.setOffline(false);

  await page.getByRole("button", { name: "Menü" }).click();
  await page.getByRole("button", { name: "Einstellungen" }).click();
  await page.getByLabel("Sprache", { exact: true }).selectOption({ label: "العربية" });
  await expect(html).toHaveAttribute("dir", "rtl");
  await page.getByRole("button", { name: "إغلاق", exact: true }).click();
  const host = page.locator(".address-host bdi");
  await expect(host).toHaveText(new URL(origin.origin).host);
  await expect(host).toHaveCSS("direction", "ltr");
  // The page's own languages are the browser's.
  expect(await (await app.content()).evaluate(() => navigator.language)).toBe("en-US");
  // Back comes first, and so is on the right.
  const [back, menu] = await Promise.all(
    ["السابق", "القائمة"].map((name) => page.getByRole("button", { name, exact: true }).boundingBox()),
  );
  expect(back?.x ?? 0).toBeGreaterThan(menu?.x ?? 0);
});

test.describe("on a phone in Spanish", () => {
  test.use({ locale: "es-MX" });

  test("the app speaks Spanish by itself", async ({ app }) => {
    await expect(app.page.locator("html")).toHaveAttribute("lang", "es");
    await expect(app.page.getByRole("button", { name: "Menú" })).toBeVisible();
  });
});
