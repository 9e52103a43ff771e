/** Pages that the person has visited, by day. */
import { type AppPage, expect, testInOneApp as test } from "../fixtures/browser.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

async function openHistory({ page }: AppPage) {
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name: "History" }).click();
  return page.getByRole("dialog", { name: "History" });
}

/** Visits pages with these titles. */
async function visit(app: AppPage, origin: TestOrigin, titles: readonly string[]): Promise<void> {
  for (const title of titles) {
    origin.page(`/${title}`, "<p>Here</p>", title);
    await app.goto(`${origin.origin}/${title}`);
  }
}

/** Runs in the app. @returns how many entries of its databases have this address. */
async function countStored(url: string): Promise<number> {
  const answered = <Result>(request: IDBRequest<Result>) =>
    new Promise<Result>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  let count = 0;
  for (const { name = "" } of await indexedDB.databases()) {
    if (!/^ropeway(\.library)?$/.test(name)) continue;
    const database = await answered(indexedDB.open(name));
    for (const store of database.objectStoreNames) {
      const entries: unknown[] = await answered(database.transaction(store).objectStore(store).getAll());
      count += entries.flat().filter((entry) => (entry as { readonly url?: string } | null)?.url === url).length;
    }
    database.close();
  }
  return count;
}

test("pages are listed by day, found by words, opened and forgotten one by one, which can be taken back", async ({
  app,
  origin,
}) => {
  const { page } = app;
  await visit(app, origin, ["Harbour", "Lighthouse"]);
  await app.goto(`${origin.origin}/status/404`);
  await (await app.content()).evaluate(() => {
    document.title = "(1) changes later";
  });
  const sheet = await openHistory(app);
  const rows = sheet.getByRole("listitem").locator(".row-title");
  await expect(sheet.getByRole("heading", { level: 3 }).first()).toHaveText("Today");
  await expect(rows.first()).toHaveText("Lighthouse");
  await expect(sheet.getByText("changes later")).toHaveCount(0);

  await page.getByRole("searchbox", { name: "Search in the history" }).fill("harb");
  await expect(rows).toHaveText(["Harbour"]);
  await expect(sheet.getByRole("status").first()).toHaveText("1 page");
  await sheet.getByRole("button", { name: "Forget Harbour" }).click();
  await expect(rows).toHaveCount(0);
  await expect(sheet.getByRole("button", { name: "Undo" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(rows).toHaveText(["Harbour"]);
  await app.navigated(() => rows.click());
  await expect(app.address).toHaveValue(`${origin.origin}/Harbour`);
});

test("a day, a site and everything can be forgotten, and all that taken back", async ({ app, origin, otherOrigin }) => {
  const { page } = app;
  await visit(app, origin, ["Alpha"]);
  await visit(app, otherOrigin, ["Beta"]);
  let sheet = await openHistory(app);
  const row = (title: string) => page.getByRole("dialog").getByText(title, { exact: true });
  await sheet.getByRole("button", { name: "Forget Today" }).click();
  await expect(row("Alpha")).toHaveCount(0);
  await sheet.getByRole("button", { name: "Undo" }).click();
  await expect(row("Alpha")).toBeVisible();
  await page.keyboard.press("Escape");

  // A site that goes from the start page goes from here.
  await page.getByRole("button", { name: "Home" }).click();
  await page.getByRole("button", { name: "Forget Alpha" }).click();
  sheet = await openHistory(app);
  await expect(row("Beta")).toBeVisible();
  await expect(row("Alpha")).toHaveCount(0);

  await sheet.getByRole("button", { name: "Forget all" }).click();
  await expect(page.getByRole("region", { name: "Recent" })).toHaveCount(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("region", { name: "Recent" })).toContainText("Beta");
  // A reload stops what is being written.
  await expect.poll(() => page.evaluate(countStored, `${otherOrigin.origin}/Beta`)).toBe(2);
  await page.reload();
  await app.connected();
  sheet = await openHistory(app);
  await expect(row("Beta")).toBeVisible();
  await sheet.getByRole("button", { name: "Forget all" }).click();
  sheet = await openHistory(app);
  await expect(sheet).toContainText("Pages that you visit will be listed here");
  await page.keyboard.press("Escape");
});
