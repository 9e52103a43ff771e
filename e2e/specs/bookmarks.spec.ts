/** Bookmarks, in folders; those of the start page are its pins. */
import { type AppPage, expect, testInOneApp as test } from "../fixtures/browser.ts";

async function openSheet({ page }: AppPage, name: "Bookmarks" | "History") {
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name }).click();
  return page.getByRole("dialog", { name });
}

async function addBookmark({ page }: AppPage) {
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name: "Add bookmark" }).click();
  await expect(page.getByRole("button", { name: "Remove bookmark" })).toBeVisible();
  await page.keyboard.press("Escape");
}

test("a page is marked, renamed, moved to a folder and to the start page, deleted and put back, and opened", async ({
  app,
  origin,
}) => {
  const { page } = app;
  const { keyboard } = page;
  origin.page("/", "<p>Here</p>", "Harbour");
  await app.goto(`${origin.origin}/`);
  await addBookmark(app);
  const sheet = await openSheet(app, "Bookmarks");
  const titles = sheet.locator(".row-title");
  await expect(titles).toHaveText(["Start page", "Harbour"]);

  // The keyboard does all of it.
  await sheet.getByRole("button", { name: "New folder" }).focus();
  await keyboard.press("Enter");
  await expect(sheet.getByRole("textbox", { name: "Name of the folder" })).toBeFocused();
  await keyboard.type("Ships");
  await keyboard.press("Enter");
  await expect(titles).toHaveText(["Start page", "Ships", "Harbour"]);

  const change = async (from: string, name: string, folder: string) => {
    await sheet.getByRole("button", { name: `Change ${from}` }).click();
    await sheet.getByRole("textbox", { name: "Name" }).fill(name);
    await sheet.getByRole("combobox", { name: "Folder" }).selectOption({ label: folder });
    await sheet.getByRole("button", { name: "Save" }).click();
    await expect(sheet.getByRole("button", { name: "Undo" })).toBeFocused();
  };
  await change("Harbour", "The harbour", "\u2003Ships");
  await expect(titles).toHaveText(["Start page", "Ships"]);
  await page.reload();
  await app.connected();
  await openSheet(app, "Bookmarks");
  await sheet.getByRole("button", { name: "Ships" }).first().click();
  await expect(titles).toHaveText(["The harbour"]);
  await change("The harbour", "Pinned harbour", "Start page");
  await expect(titles).toHaveCount(0);
  await sheet.getByRole("button", { name: "Back to the folder above" }).click();
  await sheet.getByRole("button", { name: "Change Ships" }).click();
  await sheet.getByRole("button", { name: "Delete" }).click();
  await expect(titles).toHaveText(["Start page"]);
  await sheet.getByRole("button", { name: "Undo" }).click();
  await expect(titles).toHaveText(["Start page", "Ships"]);

  await keyboard.press("Escape");
  await page.getByRole("button", { name: "Home" }).click();
  await expect(page.getByRole("region", { name: "Pinned" })).toContainText("Pinned harbour");
  await openSheet(app, "Bookmarks");
  await sheet.getByRole("button", { name: "Start page" }).click();
  await app.navigated(() => sheet.getByRole("button", { name: /^Pinned harbour/ }).click());
  await expect(app.address).toHaveValue(`${origin.origin}/`);
});
