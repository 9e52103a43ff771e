/** Bookmarks, in folders; those of the start page are its pins. */
import { readFile } from "node:fs/promises";
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

/** As Chrome writes it, with what nobody should write into it. */
const FILE = `<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<script>window.top.attacked = true</script><img src="/attacked" onerror="window.top.attacked = true">
<DL><p>
    <DT><H3 ADD_DATE="1700000000" PERSONAL_TOOLBAR_FOLDER="true">Bookmarks bar</H3>
    <DL><p>
        <DT><A HREF="https://one.example/?a=1&amp;b=2" ADD_DATE="1700000000" ICON="data:,x">Caf&eacute; &lt;One&gt;</A>
        <DT><H3>Inner</H3>
        <DL><p>
            <DT><A HREF="https://two.example/">Two</A>
            <DT><A HREF="javascript:top.attacked = true">Script</A>
            <DT><A HREF="data:text/html,x">Data</A>
        </DL><p>
    </DL><p>
    <DT><A HREF="http://name:word@three.example/">Three</A>
</DL><p>${"<DL>".repeat(2_000)}<DT><A HREF="https://deep.example/">Deep</A>`;

test("bookmarks are imported once, from a file of a browser, without what is no page; all of them are exported", async ({
  app,
  network,
}) => {
  const { page } = app;
  const sheet = await openSheet(app, "Bookmarks");
  const titles = sheet.locator(".row-title");
  const give = (text: string) =>
    sheet
      .locator("input[type=file]")
      .setInputFiles({ name: "b.html", mimeType: "text/html", buffer: Buffer.from(text) });
  await give(FILE);
  await expect(sheet.getByText("4 bookmarks imported")).toBeVisible();
  await give(FILE);
  await expect(sheet.getByRole("alert")).toHaveText("No bookmark in the file is new.");
  await give(`<DL>${"<A HREF=/>".repeat(50_001)}`);
  await expect(sheet.getByRole("alert")).toHaveText(/more than 50,000 entries/);
  for (const title of ["Three", "Deep"]) await expect(titles.getByText(title)).toBeVisible();
  await sheet.getByRole("button", { name: /^Bookmarks bar/ }).click();
  await expect(titles).toHaveText(["Inner", "Café <One>"]);
  await sheet.getByRole("button", { name: /^Inner/ }).click();
  await expect(titles).toHaveText(["Two"]);
  expect(await page.evaluate(() => "attacked" in window)).toBe(false);
  expect(network.requests.filter(({ url }) => url.includes("attacked"))).toEqual([]);

  const [download] = await Promise.all([
    page.waitForEvent("download"),
    sheet.getByRole("button", { name: "Export" }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^ropeway-bookmarks-\d{4}-\d\d-\d\d\.html$/);
  const written = await readFile(await download.path(), "utf8");
  expect(written).toContain('<DT><H3 PERSONAL_TOOLBAR_FOLDER="true">Start page</H3>');
  expect(written).toContain(
    '<DT><A HREF="https://one.example/?a=1&amp;b=2" ADD_DATE="1700000000">Café &lt;One&gt;</A>',
  );
  expect(written).toContain('<A HREF="http://three.example/"');
  await give(written);
  await expect(sheet.getByRole("alert")).toHaveText("No bookmark in the file is new.");
  await page.keyboard.press("Escape");
});

test("the history is exported, and imported after it was forgotten", async ({ app, origin }) => {
  const { page } = app;
  origin.page("/", "<p>Here</p>", "Lighthouse & boats");
  await app.goto(`${origin.origin}/`);
  let sheet = await openSheet(app, "History");
  await expect(sheet.getByText("Lighthouse & boats")).toBeVisible();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    sheet.getByRole("button", { name: "Export" }).click(),
  ]);
  await sheet.getByRole("button", { name: "Forget all" }).click();
  sheet = await openSheet(app, "History");
  await expect(sheet.locator(".row-title")).toHaveCount(0);
  await sheet.locator("input[type=file]").setInputFiles(await download.path());
  await expect(sheet.locator(".row-title").getByText("Lighthouse & boats")).toBeVisible();
  await sheet.getByRole("button", { name: "Undo" }).click();
  await expect(sheet.locator(".row-title")).toHaveCount(0);
  await page.keyboard.press("Escape");
});
