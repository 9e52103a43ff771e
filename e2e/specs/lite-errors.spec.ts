/** Addresses that cannot be had, where scripts are off. */
import { expect } from "../fixtures/browser.ts";
import { test } from "../fixtures/one-host.ts";

test("without scripts, an address that fails is named and can be tried again, and the page that was there stays", async ({
  app,
  origin,
}) => {
  const { page } = app;
  await app.goto("http://nowhere.invalid/");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(/no site with this name/i);

  origin.page("/", `<a href="/reset">Broken</a>`, "Stays");
  await app.goto(`${origin.origin}/`);
  const link = app.frame().getByRole("link", { name: "Broken" });
  await link.click();
  // In the place of the notice that scripts are off, which nobody has dismissed.
  const bar = page.locator(".notice-bar");
  await expect(bar).toHaveText(/did not open\. The site/);
  await expect(link).toBeVisible();
  await expect(app.address).toHaveValue(`${origin.origin}/`);

  origin.page("/reset", "<p>There after all</p>");
  await bar.getByRole("button", { name: "Try again" }).click();
  await expect(app.frame().getByText("There after all")).toBeVisible();
  await expect(bar).toHaveText(/^Scripts are off/);
  await page.getByRole("button", { name: "Back", exact: true }).click();
  await expect(link).toBeVisible();
});
