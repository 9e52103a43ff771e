/** The site panel loads all that waits of a page, also what no tap in the page reaches. */
import { photo } from "../demo/pictures.ts";
import { type AppPage, expect, test } from "../fixtures/browser.ts";
import { choosePictures } from "../fixtures/picture-settings.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

function servePictures(origin: TestOrigin): number {
  const bodies = ["harbour", "ferry", "pier"].map((name) => ({ name, body: photo(name, 600) }));
  for (const { name, body } of bodies) {
    origin.route(`/${name}.png`, ({ reply }) => reply(200, { "content-type": "image/png" }, body));
  }
  origin.page("/start", "<p>Text</p>");
  // Not what the phone has stored by then.
  origin.page("/next", '<img src="/pier.png" alt="pier">');
  origin.page(
    "/",
    '<img src="/harbour.png" alt="harbour"><div style="height: 9em; background: url(/ferry.png)"></div>',
  );
  return bodies.slice(0, 2).reduce((sum, { body }) => sum + body.length, 0);
}

/** By the keyboard alone. */
async function loadWhatWaits({ page }: AppPage, bytes: number): Promise<void> {
  await page.getByRole("button", { name: "Site information" }).press("Enter");
  const button = page.getByRole("button", { name: "Load what waits" });
  await expect(button).toHaveAccessibleDescription(new RegExp(`^2 pictures wait, ${Math.round(bytes / 1000)} kB`));
  await button.press("Enter");
}

for (const [kind, prepare] of [
  ["with scripts", async () => {}],
  [
    "without scripts",
    async ({ page }: AppPage) => {
      await page.getByRole("button", { name: "Site information" }).click();
      await page.getByRole("switch", { name: "Scripts on this site" }).click();
      await page.keyboard.press("Escape");
    },
  ],
] as const) {
  const tag = kind === "with scripts" ? [] : "@long";
  test(`one press loads all pictures that wait on a page ${kind}, backgrounds too, and the next page's wait`, {
    tag,
  }, async ({ app, origin }) => {
    const bytes = servePictures(origin);
    await app.goto(`${origin.origin}/start`);
    await prepare(app);
    await choosePictures(app, "none");
    await app.goto(`${origin.origin}/`);
    const before = (await app.stats()).linkBytesDown;
    await app.navigated(() => loadWhatWaits(app, bytes));
    await expect.poll(async () => (await app.stats()).linkBytesDown - before).toBeGreaterThan(bytes);
    await app.page.getByRole("button", { name: "Site information" }).click();
    await expect(app.page.getByRole("switch", { name: "Keep this page" })).toBeVisible();
    await expect(app.page.getByRole("button", { name: "Load what waits" })).toBeHidden();
    await app.page.keyboard.press("Escape");

    await app.goto(`${origin.origin}/next`);
    await app.page.getByRole("button", { name: "Site information" }).click();
    await expect(app.page.getByRole("button", { name: "Load what waits" })).toBeVisible();
  });
}

test("an icon is no placeholder, also where pictures wait", async ({ app, origin }) => {
  const icon = photo("icon", 96);
  origin.route("/icon.png", ({ reply }) => reply(200, { "content-type": "image/png" }, icon));
  origin.route("/", ({ page }) => page('<!doctype html><title>Icon</title><link rel="icon" href="/icon.png"><p>Text'));
  await choosePictures(app, "none");
  await app.goto(`${origin.origin}/`);
  await app.page.getByRole("button", { name: "Site information" }).click();
  const shown = app.page.getByRole("dialog").locator(".site-icon img");
  await expect(shown).toHaveAttribute("src", `data:image/png;base64,${icon.toString("base64")}`);
});
