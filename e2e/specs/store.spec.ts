import { randomBytes } from "node:crypto";
import type { Page } from "@playwright/test";
import { expect, test } from "../fixtures/browser.ts";
import { COUNTED, counts, FRESH, serve, servePicture, visit } from "../fixtures/stored-site.ts";
import { pageOf } from "../fixtures/test-origin/test-origin.ts";

test.use({ experiment: COUNTED });

/** As the setting does, which has no limit as small. */
async function limitStore(page: Page, bytes: number): Promise<void> {
  const tunnel = page.workers().find((worker) => /\/tunnel-\w+\.js$/.test(worker.url()));
  await tunnel?.evaluate((data) => self.dispatchEvent(new MessageEvent("message", { data })), {
    type: "settings",
    settings: { storeBytes: bytes },
  });
}

test("a page that was seen asks for what is stale, and for nothing that is fresh, in this window and the next", async ({
  app,
  origin,
}) => {
  serve(origin);
  servePicture(origin);
  await app.storeReady();
  await visit(app, origin);
  await app.page.getByRole("button", { name: "Home" }).click();
  await expect(app.page.getByRole("heading", { name: "Ropeway" })).toBeVisible();
  origin.forget();
  const before = await app.stats();
  await visit(app, origin);
  expect(counts(origin)).toEqual({ "/page": 1, "/stale.js": 1, "/never.js": 1 });
  expect(origin.requestsTo("/page")[0]?.headers["if-none-match"]).toBe('"p"');
  expect(origin.requestsTo("/stale.js")[0]?.headers["if-none-match"]).toBe('"1"');
  // Chromium has answered some by itself, out of the page before.
  await (await app.content()).evaluate(() => fetch("/kept.js").then((response) => response.text()));
  expect(origin.requestsTo("/kept.js")).toEqual([]);
  const after = await app.stats();
  expect(Number(after.storeAnswers) - Number(before.storeAnswers)).toBeGreaterThan(0);
  expect(Number(after.storeValidations) - Number(before.storeValidations)).toBe(2);
  expect(Number(after.storeBytes) - Number(before.storeBytes)).toBeGreaterThan(50_000);
  await app.page.getByRole("button", { name: "Site information" }).click();
  const panel = app.page.getByRole("dialog", { name: "Site information" });
  await expect(panel).toContainText("2 parts of the page came from this phone after the site had said: not changed.");
  await expect(panel).toContainText(/\d+ kB did not have to be sent again/);
  await app.page.keyboard.press("Escape");

  // It would open the page by itself.
  await app.page.getByRole("button", { name: "Home" }).click();
  await expect
    .poll(() => app.page.evaluate(() => localStorage.getItem("ropeway.history")))
    .toMatch(/"url":"","isRepeatable":true,"scroll":\{[^}]*\}\}\],"others"/);
  await app.page.reload();
  await expect(app.page.getByRole("heading", { name: "Ropeway" })).toBeVisible();
  await app.storeReady();
  origin.forget();
  await visit(app, origin);
  expect(counts(origin)).toEqual({ "/page": 1, "/stale.js": 1, "/never.js": 1 });
});

test("what comes again unchanged, without validators, costs its head @long", async ({ app, origin, otherOrigin }) => {
  const noise = (size: number) =>
    Array.from({ length: size }, (_, at) => ((at * at * 7919) % 36).toString(36)).join("");
  const bodies: Record<string, readonly [type: string, text: string]> = {
    "/again.js": ["text/javascript", `shown.textContent = "run";//${noise(50_000)}`],
    "/again.svg": [
      "image/svg+xml",
      `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><!--${noise(50_000)}--></svg>`,
    ],
  };
  for (const each of [origin, otherOrigin]) {
    for (const [path, [type, text]] of Object.entries(bodies)) {
      each.route(path, ({ reply }) => reply(200, { "content-type": type, "cache-control": "max-age=0" }, text));
    }
  }
  const body = `<p id="shown"></p><script src="/again.js"></script>
    <img src="${otherOrigin.origin}/again.svg" alt="" id="picture"><!--${noise(20_000)}-->`;
  origin.route("/page", ({ page }) => page(pageOf("Again", body), { "cache-control": "max-age=0" }));
  const visitPage = async () => {
    await app.goto(`${origin.origin}/page`);
    await expect(app.frame().locator("#shown")).toHaveText("run");
    await expect(app.frame().locator("#picture")).toHaveJSProperty("naturalWidth", 9);
    return app.stats();
  };
  await app.storeReady();
  await visitPage();
  // Written when there is time.
  await expect.poll(async () => (await app.stats()).storedBytes).toBeGreaterThan(120_000);
  await app.page.getByRole("button", { name: "Home" }).click();
  await expect(app.page.getByRole("heading", { name: "Ropeway" })).toBeVisible();
  const before = await app.stats();
  const after = await visitPage();
  expect(Number(after.storeReferences) - Number(before.storeReferences)).toBe(3);
  expect(Number(after.storeReferencedBytes) - Number(before.storeReferencedBytes)).toBeGreaterThan(120_000);
  expect(after.responseHeadBytes - before.responseHeadBytes).toBeLessThan(300);
  // Most of it is what opens the windows of connections that have rested.
  expect(after.linkBytesDown - before.linkBytesDown).toBeLessThan(10_000);
  expect(counts(otherOrigin)).toEqual({ "/again.svg": 2 });
});

test("text comes in brotli once its decoder is there @long", async ({ app, origin }) => {
  // Deflate does not see so far back, and takes twice as much.
  const letters = Array.from({ length: 40_000 }, (_, at) => Math.floor(Math.abs(Math.sin(at) * 1e6)) % 36);
  const noise = `<p>${letters.map((letter) => letter.toString(36)).join("")}</p>`;
  origin.route("/twice", ({ page }) => page(pageOf("Twice", noise + noise), { "cache-control": "no-store" }));
  await app.storeReady();
  await expect
    .poll(async () => {
      const before = await app.stats();
      await app.goto(`${origin.origin}/twice`);
      await expect(app.frame().locator("p")).toHaveCount(2);
      expect(await app.frame().locator("p").last().textContent()).toBe(noise.slice(3, -4));
      return (await app.stats()).linkBytesDown - before.linkBytesDown;
    })
    .toBeLessThan(42_000);
});

test("a file that was edited costs what was edited", async ({ app, origin }) => {
  const noise = Array.from({ length: 60_000 }, (_, at) => ((at * at * 7919) % 36).toString(36)).join("");
  let version = 1;
  const headers = { "cache-control": "max-age=0", "content-type": "text/javascript" };
  origin.route("/edited.js", ({ reply }) =>
    reply(200, { ...headers, etag: `"${version}"` }, `shown.textContent = "version ${version}";//${noise}`),
  );
  origin.route("/page", ({ page }) =>
    page(pageOf("Edited", `<p id="shown"></p><script src="/edited.js"></script><!--${version} ${noise}-->`), {
      "cache-control": "max-age=0",
    }),
  );
  await app.storeReady();
  await app.goto(`${origin.origin}/page`);
  await expect(app.frame().locator("#shown")).toHaveText("version 1");
  // The edge keeps what it has sent when it has time.
  await expect(async () => {
    version += 1;
    await app.page.getByRole("button", { name: "Home" }).click();
    await expect(app.page.getByRole("heading", { name: "Ropeway" })).toBeVisible();
    const before = await app.stats();
    await app.goto(`${origin.origin}/page`);
    await expect(app.frame().locator("#shown")).toHaveText(`version ${version}`);
    const after = await app.stats();
    expect(Number(after.storeDictionaries) - Number(before.storeDictionaries)).toBe(2);
    expect(after.linkBytesDown - before.linkBytesDown).toBeLessThan(10_000);
  }).toPass({ intervals: [2000], timeout: 80_000 });
});

test("another site sees nothing of what is stored, and what is forgotten is gone", async ({
  app,
  origin,
  otherOrigin,
}) => {
  await app.storeReady();
  for (const each of [origin, otherOrigin]) serve(each, origin.origin);
  servePicture(origin);
  await visit(app, origin);
  origin.forget();
  await visit(app, otherOrigin);
  expect(counts(origin)).toEqual({ "/kept.svg": 1 });

  await app.page.getByRole("button", { name: "Menu" }).click();
  await app.page.getByRole("button", { name: "Settings" }).click();
  await expect(app.page.getByText(/^Stored pages: \d+ k?B of 200 MB$/)).toBeVisible();
  await app.page.getByRole("button", { name: /site data/i }).click();
  await app.page.getByRole("button", { name: /^(forget|clear|delete)$/i }).click();
  await expect(app.page.getByText("Stored pages: 0 B of 200 MB")).toBeVisible();
  await app.page.keyboard.press("Escape");
  origin.forget();
  await visit(app, origin);
  expect(counts(origin)).toMatchObject({ "/page": 1, "/kept.css": 1, "/kept.js": 1, "/stale.js": 1 });
});

test("a fresh document comes with no request, and with the cookies of now", async ({ app, origin }) => {
  serve(origin);
  await app.storeReady();
  await app.goto(`${origin.origin}/document`);
  await expect(app.frame().locator("#at")).toHaveText("seen=1");
  await (await app.content()).evaluate(() => {
    // biome-ignore lint/suspicious/noDocumentCookie: as sites do
    document.cookie = "own=2";
  });
  origin.page("/elsewhere", "<p>");
  await app.goto(`${origin.origin}/elsewhere`);
  await app.goto(`${origin.origin}/document`);
  await expect(app.frame().locator("#at")).toHaveText("seen=1; own=2");
  expect(origin.requestsTo("/document")).toHaveLength(1);
  await app.page.getByRole("button", { name: "Reload" }).click();
  await expect.poll(() => origin.requestsTo("/document").length).toBe(2);
});

test("back and forward ask for no page again, however stale", async ({ app, origin }) => {
  for (const path of ["/first", "/second"]) {
    origin.route(path, ({ page }) => page(pageOf(path, `<p>${path}`), { "cache-control": "max-age=0" }));
  }
  await app.storeReady();
  await app.goto(`${origin.origin}/first`);
  await app.goto(`${origin.origin}/second`);
  await app.page.getByRole("button", { name: "Back" }).click();
  await expect(app.frame().getByText("/first")).toBeVisible();
  await (await app.content()).evaluate(() => history.forward());
  await expect(app.frame().getByText("/second")).toBeVisible();
  expect(counts(origin)).toEqual({ "/first": 1, "/second": 1 });
});

test("while the link is away, a page that was seen is shown as it was, until the person takes what is newer", async ({
  app,
  origin,
  otherOrigin,
  link,
  context,
}) => {
  otherOrigin.route("/", ({ page }) => page(pageOf("Secret", "<p>"), { "cache-control": "no-store" }));
  serve(origin);
  const body = '<link rel="stylesheet" href="/kept.css"><p id="shown"></p><script src="/stale.js"></script>';
  origin.route("/whole", ({ page }) => page(pageOf("Whole", body), { "cache-control": "max-age=0" }));
  origin.page("/elsewhere", "<p>");
  await app.storeReady();
  await app.goto(`${otherOrigin.origin}/`);
  await app.goto(`${origin.origin}/whole`);
  await app.goto(`${origin.origin}/elsewhere`);
  origin.forget();
  link.offline();
  await context.setOffline(true);
  await app.goto(`${origin.origin}/whole`);
  await expect(app.frame().locator("#shown")).toHaveText("stale");
  await expect(app.frame().locator("#shown")).toHaveCSS("color", "rgb(0, 128, 0)");
  expect(origin.requests).toEqual([]);
  const mark = app.page.getByText(/^Stored (just now|\d+ minutes? ago)\. /);
  await expect(mark).toBeVisible();
  await app.page.getByRole("button", { name: "Home" }).click();
  await expect(app.page.getByRole("button", { name: /^Whole .+ Stored$/ })).toBeVisible();
  await expect(app.page.getByRole("button", { name: /^Secret .+ Not stored$/ })).toBeEnabled();
  await app.goto(`${origin.origin}/whole`);
  await expect(mark).toBeVisible();
  // The edge is asked once it is there again.
  const changed = `${body}<p>Changed</p>`;
  origin.route("/whole", ({ page }) => page(pageOf("Whole", changed), { "cache-control": "max-age=0" }));
  link.online();
  await context.setOffline(false);
  const newer = app.page.getByRole("navigation").filter({ hasText: "This page has a newer version" });
  await expect(newer).toBeVisible();
  await expect(mark).toBeHidden();
  await expect(app.frame().getByText("Changed")).toHaveCount(0);
  await newer.getByRole("button", { name: "Show" }).click();
  await expect(app.frame().getByText("Changed")).toBeVisible();
  await expect(newer).toBeHidden();
});

test("a page that is kept is there without the edge, whole, though the store is full of others @long", async ({
  app,
  origin,
  otherOrigin,
  link,
  context,
}) => {
  const { page } = app;
  await app.storeReady();
  await limitStore(page, 3_200_000);
  await expect.poll(async () => (await app.stats()).storedBytesMax).toBe(3_200_000);
  const keep = page.getByRole("switch", { name: "Keep this page" });
  const openPanel = () => page.getByRole("button", { name: "Site information" }).click();

  otherOrigin.route("/", ({ page }) => page(pageOf("Secret", "<p>"), { "cache-control": "no-store" }));
  await app.goto(`${otherOrigin.origin}/`);
  await openPanel();
  await keep.click();
  await expect(page.getByText("Cannot keep it: its site does not allow this page to be stored.")).toBeVisible();
  await expect(keep).not.toBeChecked();
  await page.keyboard.press("Escape");

  serve(origin);
  servePicture(origin);
  await visit(app, origin);
  await openPanel();
  await keep.click();
  await expect(page.getByText(/^Kept just now, \d+ kB\. Without a link it lacks 1 part /)).toBeVisible();
  await expect(keep).toBeChecked();
  await page.keyboard.press("Escape");

  const pictures = Array.from({ length: 16 }, (_, number) => `/${number}.svg`);
  for (const path of pictures) {
    const picture = `<svg xmlns="http://www.w3.org/2000/svg"><!--${randomBytes(150_000).toString("hex")}--></svg>`;
    origin.route(path, ({ reply }) => reply(200, { ...FRESH, "content-type": "image/svg+xml" }, picture));
  }
  origin.page("/fill", pictures.map((path) => `<img src="${path}" alt="">`).join(""));
  await app.goto(`${origin.origin}/fill`);
  await expect.poll(async () => Number((await app.stats()).storedBytes)).toBeGreaterThan(2_500_000);

  link.offline();
  await context.setOffline(true);
  await page.reload();
  await page.getByRole("button", { name: "Home" }).click();
  await app.navigated(() =>
    page
      .getByRole("region", { name: "Kept" })
      .getByRole("button", { name: /^Stored/ })
      .click(),
  );
  await expect(app.frame().locator("#shown")).toHaveText("kept stale");
  await expect(app.frame().locator("#shown")).toHaveCSS("color", "rgb(0, 128, 0)");
  await expect(app.frame().locator("#picture")).toHaveJSProperty("naturalWidth", 9);

  await openPanel();
  await expect(keep).toBeChecked();
  await keep.click();
  await expect(keep).not.toBeChecked();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Home" }).click();
  await expect(page.getByRole("region", { name: "Kept" })).toBeHidden();
});

test("a page that is shown with nobody asked offers its newer version, and does not swap it", async ({
  app,
  origin,
}) => {
  let edition = "First";
  origin.route("/guide", ({ page }) =>
    page(pageOf("Guide", `<p>${edition} edition</p>`), {
      "cache-control": "public",
      etag: `"${edition}"`,
      "last-modified": "Mon, 05 Jan 2015 12:00:00 GMT",
    }),
  );
  origin.page("/elsewhere", "<p>");
  await app.storeReady();
  await app.goto(`${origin.origin}/guide`);
  await expect(app.frame().getByText("First edition")).toBeVisible();
  await app.goto(`${origin.origin}/elsewhere`);
  edition = "Second";
  await app.goto(`${origin.origin}/guide`);
  await expect(app.page.getByRole("navigation").getByText("This page has a newer version")).toBeVisible();
  await expect(app.frame().getByText("First edition")).toBeVisible();
  await app.page.getByRole("button", { name: "Show", exact: true }).click();
  await expect(app.frame().getByText("Second edition")).toBeVisible();
  await expect(app.page.getByRole("button", { name: "Show", exact: true })).toBeHidden();
});
