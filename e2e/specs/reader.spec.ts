/** The reader: the article of a page as text with its pictures, over the page. */
import type { Frame, Page } from "@playwright/test";
import { type AppPage, expect, test as slotted, testInOneApp as test } from "../fixtures/browser.ts";
import { test as oneHost } from "../fixtures/one-host.ts";
import { pageOf } from "../fixtures/test-origin/test-origin.ts";

const TEXT =
  "The harbour lay quiet, and the boats, which had come in before the storm, moved a little at their ropes. ".repeat(4);
const ARTICLE = `<nav><a href="/elsewhere">Everything else</a></nav>
  <main><article><h1>The harbour</h1>
    ${[1, 2, 3, 4, 5].map((at) => `<p id="p${at}" onclick="document.title = 'clicked'">${at}. ${TEXT}</p>`).join("")}
    <figure><img src="/boat.svg" alt="A boat"><figcaption>One of them</figcaption></figure>
    <p><a href="/next" onmouseover="1">The next day</a> ${TEXT}</p>
    <p><a href="javascript:document.title = 'script'">A script</a> ${TEXT}</p>
    <script>document.title = "ran again"</script>
  </article></main>
  <aside>Advertisement. Buy boats now.</aside>
  <script>window.ran = (window.ran ?? 0) + 1; document.title = "The harbour - News";</script>`;

const reader = (around: AppPage) => around.frame().getByRole("dialog", { name: /^Reader:/ });

async function openReader({ page }: AppPage): Promise<void> {
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name: "Reader" }).click();
}

/** Of the reader's: what a script that looks for it could run, or lead elsewhere by. */
const odd = (frame: Frame | Page) =>
  frame.evaluate(() => {
    const root = document.querySelector("ropeway-reader")?.shadowRoot;
    const all = [...(root?.querySelector("article")?.querySelectorAll("*") ?? [])];
    const names = all.flatMap((element) => element.getAttributeNames()).filter((name) => name.startsWith("on"));
    return [...names, ...all.map((element) => element.localName).filter((name) => /script|iframe|style/.test(name))];
  });

test("an article is shown as text with its pictures, in the looks of choice, and leaves the page as it was", async ({
  app,
  origin,
  network,
}) => {
  const { page } = app;
  const script = () =>
    network.requests.filter(({ url, byServiceWorker }) => /\/reader-\w+\.js/.test(url) && byServiceWorker === undefined)
      .length;
  const boat = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40"/></svg>';
  origin.route("/boat.svg", ({ reply }) => reply(200, { "content-type": "image/svg+xml" }, boat));
  origin.route("/", ({ reply }) =>
    reply(
      200,
      // A strict policy: the reader needs nothing that the page may not have.
      { "content-type": "text/html", "content-security-policy": "default-src 'self'; script-src 'unsafe-inline'" },
      `<!doctype html><html lang=en><title>The harbour</title>${ARTICLE}`,
    ),
  );
  origin.page("/next", "<p>The next day</p>");
  await app.goto(`${origin.origin}/`);
  const frame = await app.content();
  await app.frame().locator("#p3").scrollIntoViewIfNeeded();
  const scrolled = await frame.evaluate(() => scrollY);

  expect(script()).toBe(0);
  await openReader(app);
  expect(script()).toBeGreaterThan(0);
  await expect(reader(app).getByRole("heading", { name: "The harbour" })).toBeVisible();
  await expect(reader(app)).toBeFocused();
  await reader(app).getByRole("img", { name: "A boat" }).scrollIntoViewIfNeeded();
  await expect(reader(app).getByRole("img", { name: "A boat" })).toHaveJSProperty("naturalWidth", 40);
  await expect(reader(app)).not.toContainText("Advertisement");
  await expect(reader(app).getByText("A script")).not.toHaveAttribute("href");
  expect(await odd(frame)).toEqual([]);
  expect(await frame.evaluate("ran")).toBe(1);

  await reader(app).getByRole("button", { name: "Larger text" }).click();
  await reader(app).getByRole("button", { name: "Sepia" }).click();
  await expect(reader(app)).toHaveCSS("font-size", "20px");
  await expect(reader(app)).toHaveCSS("background-color", "rgb(246, 236, 217)");

  // The search in the page finds the reader's text alone.
  await page.keyboard.press("Control+f");
  await page.getByRole("textbox", { name: "Find in page" }).fill("quiet");
  await expect(page.getByRole("search").locator("output")).toHaveText(/of 28$/);
  await page.keyboard.press("Escape");

  await reader(app).getByRole("button", { name: "Leave the reader" }).click();
  await expect(reader(app)).toHaveCount(0);
  expect(await frame.evaluate(() => scrollY)).toBe(scrolled);
  expect(await frame.title()).toBe("The harbour - News");

  // By the keyboard alone, as it was left; its links lead the page.
  await openReader(app);
  await expect(reader(app)).toHaveCSS("font-size", "20px");
  await expect(reader(app).getByRole("button", { name: "Sepia" })).toHaveAttribute("aria-pressed", "true");
  await page.keyboard.press("Escape");
  await expect(reader(app)).toHaveCount(0);
  await openReader(app);
  await app.drawn();
  await app.navigated(() => reader(app).getByRole("link", { name: "The next day" }).click());
  await expect(app.address).toHaveValue(`${origin.origin}/next`);
  await page.getByRole("button", { name: "Menu" }).click();
  await expect(page.getByRole("button", { name: "Find in page" })).toBeEnabled();
  await expect(page.getByRole("button", { name: "Reader" })).toBeDisabled();
  await page.keyboard.press("Escape");
});

slotted(
  "pages that the phone has stored or kept have it, too, without a link",
  async ({ app, origin, link, context }) => {
    const { page } = app;
    await app.storeReady();
    for (const path of ["/kept", "/stored"]) {
      origin.route(path, ({ page }) => page(pageOf("The harbour", ARTICLE), { "cache-control": "max-age=0" }));
      await app.goto(origin.origin + path);
      if (path === "/stored") continue;
      await page.getByRole("button", { name: "Site information" }).click();
      await page.getByRole("switch", { name: "Keep this page" }).click();
      await expect(page.getByText(/^Kept just now/)).toBeVisible();
      await page.keyboard.press("Escape");
    }
    link.offline();
    await context.setOffline(true);
    const kept = page.getByRole("region", { name: "Kept" }).getByRole("button", { name: /^The harbour/ });
    await page.getByRole("button", { name: "Home" }).click();
    for (const open of [() => kept.click(), () => app.ask(`${origin.origin}/stored`)]) {
      await app.navigated(open);
      await openReader(app);
      await expect(reader(app).getByRole("heading", { name: "The harbour" })).toBeVisible();
      await page.keyboard.press("Escape");
      await expect(reader(app)).toHaveCount(0);
    }
    expect(origin.requests.filter(({ path }) => /kept|stored/.test(path))).toHaveLength(2);
  },
);

oneHost("pages without scripts have it, too, without a link", async ({ app, origin, context }) => {
  origin.page("/", ARTICLE);
  await app.goto(`${origin.origin}/`);
  await context.setOffline(true);
  await openReader(app);
  await expect(reader(app).getByRole("heading", { name: "The harbour" })).toBeVisible();
  await reader(app).getByRole("button", { name: "Dark" }).click();
  await expect(reader(app)).toHaveCSS("background-color", "rgb(26, 35, 33)");
  await reader(app).getByRole("button", { name: "Leave the reader" }).click();
  await expect(reader(app)).toHaveCount(0);
});

test("what is nested deeper than anybody writes is not in the reader", async ({ app, origin }) => {
  const below = (depth: number) => `${"<div>".repeat(depth)}<p>Below ${depth}. ${TEXT}</p>${"</div>".repeat(depth)}`;
  origin.page("/deep", ARTICLE.replace("</article>", `${below(80)}${below(100)}</article>`));
  await app.goto(`${origin.origin}/deep`);
  await openReader(app);
  await expect(reader(app).getByRole("heading", { name: "The harbour" })).toBeVisible();
  await expect(reader(app)).toContainText("Below 80.");
  await expect(reader(app)).not.toContainText("Below 100.");
});
