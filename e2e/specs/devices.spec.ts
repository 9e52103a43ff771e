/** Paired devices, as the settings show them. */
import type { Locator, Page } from "@playwright/test";
import { renderSVG } from "uqr";
import { AppPage } from "../fixtures/app-page.ts";
import { expect, test } from "../fixtures/browser.ts";

/** Opens the sheet with the keyboard. */
async function openDevices(page: Page): Promise<Locator> {
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Paired devices" }).press("Enter");
  return page.getByRole("dialog", { name: "Devices" });
}

/** The code that the sheet shows, in letters. */
async function codeIn(sheet: Locator): Promise<string> {
  return (await sheet.getByText(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/).textContent()) ?? "";
}

const modulesOf = (svg: string) => [...svg.matchAll(/ d="([^"]+)"/g)].map(([, path]) => path);

test("a device is added by a code, renamed, and unpaired with the keyboard alone", async ({
  app,
  browser,
  edge,
  origin,
}) => {
  origin.page("/", "<p>Hello</p>");
  const { page } = app;
  const sheet = await openDevices(page);
  await expect(sheet.getByRole("listitem").filter({ hasText: "this device" })).toContainText("Connected");
  await sheet.getByRole("button", { name: "Show a code" }).press("Enter");
  // The name that this edge has here would lead another device to itself.
  await expect(sheet.getByText(/^On any other device .* means that device itself/)).toBeVisible();
  await expect(sheet.getByRole("img", { name: "QR code" })).toBeHidden();
  await expect(sheet.getByText("npm start -- --tunnel")).toBeHidden();
  await sheet.getByText("Any other device", { exact: true }).press("Enter");
  await expect(sheet.getByText("npm start -- --tunnel")).toBeVisible();
  await sheet.getByText("An Android phone on a cable").press("Enter");
  const { port } = new URL(app.base);
  await expect(sheet.getByText(`adb reverse tcp:${port} tcp:${port}`)).toBeVisible();
  await expect(sheet.getByRole("img", { name: "QR code" })).toBeVisible();
  const rows = sheet.locator(".devices > li");
  const others = await rows.count();
  const code = await codeIn(sheet);
  // A question that is lost takes nothing away.
  const devices = (url: URL) => url.pathname === "/.ropeway/devices";
  await page.route(devices, (route) => route.abort());
  await expect(sheet.getByRole("alert")).toHaveText("Your edge cannot be reached now.");
  await page.unroute(devices);
  await expect(sheet.getByRole("alert")).toHaveCount(0);
  expect(await codeIn(sheet)).toBe(code);
  const picture = await sheet.getByRole("img", { name: "QR code" }).innerHTML();
  expect(modulesOf(picture)).toEqual(modulesOf(renderSVG(`${app.base}/#key=${code}`, { border: 3 })));

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
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog", { name: "Settings" })).toBeVisible();
  await context.close();
});

test("a guest is added for a time, another for an amount of data, and neither manages devices @deno @long", async ({
  app,
  browser,
  edge,
}) => {
  const sheet = await openDevices(app.page);
  const rows = sheet.locator(".devices > li");
  for (const [kind, hint] of [
    ["Guest for an hour", /^Guest · Connected · .* used · until /],
    ["Guest with 50 MB", /^Guest · Connected · .* of 50.* MB used · paired /],
  ] as const) {
    await sheet.getByRole("combobox", { name: "Add it as" }).selectOption(kind);
    await sheet.getByRole("button", { name: "Show a code" }).click();
    const context = await browser.newContext();
    const guest = new AppPage(await context.newPage(), edge.url);
    await guest.open(await codeIn(sheet));
    const row = rows.last().locator(".row-hint");
    await expect(row).toHaveText(hint);
    const own = await openDevices(guest.page);
    await expect(own.getByRole("alert")).toHaveText("This device is a guest, and guests manage no devices.");
    await context.close();
    await expect(row).toContainText("Last seen");
  }
});

test("the access key is changed, and others stay paired unless they are to go @deno @long", async ({
  page,
  browser,
  runtime,
}) => {
  const { startEdge } = await import("../../scripts/edge-process.ts");
  const edge = await startEdge({ runtime, port: 0, allowPrivate: true });
  const opened = async (key: string): Promise<AppPage> => {
    const context = await browser.newContext();
    const app = new AppPage(await context.newPage(), edge.url);
    await app.open(key);
    return app;
  };
  const app = new AppPage(page, edge.url);
  await app.open(edge.accessKey);
  const other = await opened(edge.accessKey);
  const sheet = await openDevices(page);
  const rows = sheet.locator(".devices > li");
  await expect(rows).toHaveCount(2);
  await sheet.getByText("Change the access key").click();
  await sheet.getByRole("button", { name: "Change the key" }).click();
  const shown = sheet.locator(".key-text");
  await expect(shown).toHaveText(/^\S{22,}$/);
  const key = (await shown.textContent()) ?? "";

  const refused = await opened(edge.accessKey);
  await expect(refused.page.getByText(/not accept/i).first()).toBeVisible();
  await other.page.reload();
  await other.connected();
  const third = await opened(key);
  await third.connected();
  await expect(rows).toHaveCount(3);

  await sheet.getByRole("switch", { name: "Unpair all other devices" }).click();
  await sheet.getByRole("button", { name: "Change the key and unpair all others" }).click();
  await expect(rows).toHaveCount(1);
  await expect(shown).not.toHaveText(key);
  for (const gone of [other, third]) {
    await expect.poll(async () => (await gone.stats()).sockets).toBe(0);
    await gone.page.reload();
    await expect(gone.page.getByRole("heading", { name: "This phone is not paired any more" })).toBeVisible();
  }
  await page.reload();
  await app.connected();
  for (const each of [other, third, refused]) await each.page.context().close();
  await edge.close();
});
