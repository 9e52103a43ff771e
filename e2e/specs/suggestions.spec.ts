/** What the address box suggests, from history and bookmarks. */
import { expect, testInOneApp as test } from "../fixtures/browser.ts";

test("pages are suggested by host, title and path, and chosen by keys or a tap, and nobody is asked", async ({
  app,
  origin,
  network,
}) => {
  const { page, address } = app;
  const { keyboard } = page;
  for (const [path, title] of [
    ["/", "Harbour"],
    ["/tides", "Lighthouse"],
  ] as const) {
    origin.page(path, "<p>Here</p>", title);
    await app.goto(origin.origin + path);
  }
  const list = page.getByRole("listbox", { name: "Suggestions" });
  const rows = list.getByRole("option");
  const { host } = new URL(origin.origin);
  await address.focus();
  await keyboard.type("ligh");
  await expect(rows.locator(".row-title")).toHaveText(["ligh", "Lighthouse"]);
  await address.fill("tid");
  await expect(rows.locator(".row-title")).toHaveText(["tid", "Lighthouse"]);
  network.reset();
  await address.fill(host.slice(0, -1));
  await expect(rows).toHaveCount(3);

  // The box keeps the focus, and says which row the keys have come to.
  await expect(address).toHaveAttribute("aria-controls", (await list.getAttribute("id")) ?? "");
  for (const [key, at] of [
    ["ArrowDown", 0],
    ["ArrowDown", 1],
    ["ArrowUp", 0],
    ["ArrowUp", -1],
    ["ArrowUp", 2],
    ["ArrowDown", -1],
  ] as const) {
    await keyboard.press(key);
    await expect(list.locator('[aria-selected="true"]')).toHaveCount(at < 0 ? 0 : 1);
    if (at >= 0) {
      await expect(rows.nth(at)).toHaveAttribute("aria-selected", "true");
      await expect(address).toHaveAttribute("aria-activedescendant", (await rows.nth(at).getAttribute("id")) ?? "");
    }
    await expect(address).toBeFocused();
  }
  // The app may look for its settings meanwhile; what is typed goes nowhere.
  expect(network.requests.filter(({ url }) => url.includes(host.slice(0, -1)))).toEqual([]);

  await keyboard.press("Escape");
  await expect(address).toHaveValue(`${origin.origin}/tides`);
  await keyboard.press("Escape");
  await expect(list).toHaveCount(0);

  await address.fill("harb");
  await expect(rows).toHaveCount(2);
  await keyboard.press("ArrowUp");
  await app.navigated(() => keyboard.press("Enter"));
  await expect(address).toHaveValue(`${origin.origin}/`);
  await address.fill("ligh");
  await app.navigated(() => rows.last().click());
  await expect(address).toHaveValue(`${origin.origin}/tides`);
  await expect(address).not.toHaveAttribute("aria-activedescendant", /./);
});

test("a shortcut before the words searches with another engine, which the person has added", async ({
  app,
  origin,
}) => {
  const { page, address } = app;
  origin.page("/find", "<p>Found</p>");
  const { host } = new URL(origin.origin);
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByText("Other search engines").click();
  await expect(page.getByLabel("Shortcut for Wikipedia")).toHaveValue("w");
  const form = page.getByRole("form", { name: "Add a search engine" });
  const [url, shortcut] = [form.getByLabel("Search address"), form.getByLabel("Shortcut", { exact: true })];
  await url.fill(`${origin.origin}/find`);
  await shortcut.fill("my");
  await page.keyboard.press("Enter");
  await expect(form.getByRole("alert")).toHaveText("The address needs %s where the words go.");
  await url.fill(`${origin.origin}/find?q=%s`);
  await page.keyboard.press("Enter");
  await expect(page.getByLabel(`Shortcut for ${host}`)).toHaveValue("my");
  await page.keyboard.press("Escape");

  await address.fill("my rope way");
  const rows = page.getByRole("listbox", { name: "Suggestions" }).getByRole("option");
  await expect(rows.locator(".row-hint")).toHaveText([`Search ${host}`, "Search DuckDuckGo"]);
  await app.navigated(() => address.press("Enter", { noWaitAfter: true }));
  await expect(address).toHaveValue(`${origin.origin}/find?q=rope%20way`);

  // The engine of choice needs no shortcut.
  const openSettings = async () => {
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("button", { name: "Settings" }).click();
  };
  await openSettings();
  const chosen = page.getByLabel("Search with");
  const before = await chosen.inputValue();
  await chosen.selectOption({ label: host });
  await page.keyboard.press("Escape");
  await address.fill("harbour lights");
  await expect(rows.locator(".row-hint").first()).toHaveText(`Search ${host}`);
  await app.navigated(() => address.press("Enter", { noWaitAfter: true }));
  await expect(address).toHaveValue(`${origin.origin}/find?q=harbour%20lights`);
  await openSettings();
  await chosen.selectOption(before);
  await page.getByText("Other search engines").click();
  await page.getByRole("button", { name: `Remove ${host}` }).click();
  await expect(page.getByLabel(`Shortcut for ${host}`)).toHaveCount(0);
  await page.keyboard.press("Escape");
});
