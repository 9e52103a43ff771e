/** Paired devices, as the settings show them. */
import { AppPage } from "../fixtures/app-page.ts";
import { expect, test } from "../fixtures/browser.ts";

test("a device is added by a code, renamed, and unpaired with the keyboard alone", async ({
  app,
  browser,
  edge,
  origin,
}) => {
  origin.page("/", "<p>Hello</p>");
  const { page } = app;
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Paired devices" }).press("Enter");
  const sheet = page.getByRole("dialog", { name: "Devices" });
  await expect(sheet.getByRole("listitem").filter({ hasText: "this device" })).toContainText("Connected");
  await sheet.getByRole("button", { name: "Show a code" }).press("Enter");
  await expect(sheet.getByRole("img", { name: "QR code" })).toBeVisible();
  const rows = sheet.locator(".devices > li");
  const others = await rows.count();
  const code = (await sheet.getByText(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/).textContent()) ?? "";

  const context = await browser.newContext();
  const other = new AppPage(await context.newPage(), edge.url);
  await other.open(code.toLowerCase());
  await other.goto(`${origin.origin}/`);
  await expect(other.frame().getByText("Hello")).toBeVisible();

  await expect(rows).toHaveCount(others + 1);
  await rows.last().locator("summary").press("Enter");
  await rows.last().getByRole("textbox", { name: "Name" }).fill("Kitchen");
  await page.keyboard.press("Enter");
  const added = rows.filter({ hasText: "Kitchen" });
  await expect(added).toHaveCount(1);
  await added.getByRole("button", { name: "Unpair…" }).press("Enter");
  await added.getByRole("checkbox", { name: /cookies/ }).press("Space");
  await added.getByRole("button", { name: "Unpair Kitchen" }).press("Enter");
  await expect(added).toHaveCount(0);
  await expect.poll(async () => (await other.stats()).sockets).toBe(0);
  await other.page.reload();
  await expect(other.page.getByRole("heading", { name: "This phone is not paired any more" })).toBeVisible();
  await sheet.getByText("What happened").press("Enter");
  await expect(sheet.getByText(/^Kitchen was unpaired from /)).toBeVisible();
  // Nothing is wider than the sheet.
  expect(await sheet.evaluate((dialog) => dialog.scrollWidth - dialog.clientWidth)).toBe(0);
  await context.close();
});
