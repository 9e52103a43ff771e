import { expect, test } from "../fixtures/browser.ts";

test("the newspaper over three hosts works: theme, search, newsletter, comments", async ({ app, demo, network }) => {
  await app.goto(`${demo.hosts.news}/`);
  const page = app.frame();
  await expect(page.getByRole("heading", { name: "The night ferry returns after eleven winters" })).toBeVisible();
  const icons = await (await app.content()).evaluate(async () => {
    await document.fonts.ready;
    return [...document.fonts].map(({ status }) => status);
  });
  expect(icons).toEqual(["loaded"]);

  await page.getByRole("button", { name: "Theme: auto" }).click();
  await page.getByRole("button", { name: "Theme: light" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await app.navigated(() => page.locator('a[href="/article/tide-clock"]').click());
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");

  await expect(page.getByText("Cut this out and put it on the fridge.")).toBeVisible();
  await page.getByRole("textbox", { name: "Your name" }).fill("Tess");
  await page.getByRole("textbox", { name: "Your comment" }).fill("Three minutes is fine by me.");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.getByText("Three minutes is fine by me.")).toBeVisible();

  await page.getByRole("searchbox", { name: "Search the paper" }).fill("gull goalkeeper");
  await app.navigated(() => page.getByRole("button", { name: "Search" }).click());
  await expect(page.getByRole("heading", { name: "1 story for “gull goalkeeper”" })).toBeVisible();

  await page.getByRole("textbox", { name: "E-mail address" }).fill("tess@example.net");
  await app.navigated(() => page.getByRole("button", { name: "Get the Friday letter" }).click());
  await expect(page.getByText("The Friday letter goes to tess@example.net.")).toBeVisible();
  await expect(app.address).toHaveValue(/newsletter\?to=tess/);
  expect(network.consoleErrors).toEqual([]);
  expect(network.leaks("localhost")).toEqual([]);
});
