/**
 * All pages without scripts share one origin and one service worker with the app, and a browser keeps much by address: a
 * hostile page names its files as another site's, or as the app's own, and has the browser keep them.
 */
import type { Frame } from "@playwright/test";
import { type AppPage, test as base, expect } from "../fixtures/browser.ts";
import { test } from "../fixtures/one-host.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

const KEPT = { "cache-control": "public, max-age=31536000, immutable" };
const FILES = {
  "/sheet.css": "text/css",
  "/imported.css": "text/css",
  "/preloaded.css": "text/css",
  "/prefetched.css": "text/css",
  "/picture.svg": "image/svg+xml",
  "/set.svg": "image/svg+xml",
  "/background.svg": "image/svg+xml",
  "/shape.svg": "image/svg+xml",
  "/filter.svg": "image/svg+xml",
  "/poster.svg": "image/svg+xml",
  "/font.woff2": "font/woff2",
} as const;

/** The same names on each site, and pictures whose width tells whose they are. */
function serveFiles(site: TestOrigin, width: number): void {
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="8"><filter id="f"/><rect id="s" width="${width}" height="8"/></svg>`;
  for (const [path, type] of Object.entries(FILES)) {
    const rule = `.${path.slice(1, -4)} { width: ${width}px } .${path.slice(1, -4)}-image { background: url(/background.svg) }`;
    const sheet = path === "/sheet.css" ? `@import "/imported.css"; ${rule}` : rule;
    site.route(path, ({ reply }) =>
      reply(200, { ...KEPT, "content-type": type }, type === "text/css" ? sheet : picture),
    );
  }
}

const MARKUP = `<link rel="stylesheet" href="/sheet.css">
  <link rel="preload" as="style" href="/preloaded.css"><link rel="stylesheet" href="/preloaded.css">
  <link rel="prefetch" as="style" href="/prefetched.css">
  <style>@font-face { font-family: F; src: url(/font.woff2) } p { font-family: F, sans-serif }</style>
  <p class="sheet">Text</p><p class="imported"></p><p class="preloaded"></p>
  <div class="sheet-image" style="filter: url(/filter.svg#f)">x</div>
  <img id="picture" src="/picture.svg"><img id="set" srcset="/set.svg 1x">
  <video poster="/poster.svg"></video><svg width="99" height="9"><use id="shape" href="/shape.svg#s"/></svg>`;

/** Whose each file is, by its width. */
async function widths(content: Frame): Promise<Readonly<Record<string, number>>> {
  const of = (selector: string) =>
    content
      .locator(selector)
      .evaluate((element) =>
        element instanceof HTMLImageElement
          ? element.naturalWidth
          : Math.round(
              (element instanceof SVGGraphicsElement ? element.getBBox() : element.getBoundingClientRect()).width,
            ),
      );
  const seen: Record<string, number> = {};
  for (const name of ["sheet", "imported", "preloaded"]) seen[name] = await of(`p.${name}`);
  for (const name of ["picture", "set", "shape"]) seen[name] = await of(`#${name}`);
  return seen;
}

async function expectOwnFiles(app: AppPage, hostile: TestOrigin, bank: TestOrigin): Promise<void> {
  serveFiles(hostile, 31);
  serveFiles(bank, 62);
  hostile.page("/", `<h1>Hostile</h1>${MARKUP}`);
  bank.page("/", `<h1>Bank</h1>${MARKUP}`);
  for (const [site, heading, width] of [
    [hostile, "Hostile", 31],
    [bank, "Bank", 62],
    [hostile, "Hostile", 31],
  ] as const) {
    await app.goto(`${site.origin}/`);
    await expect(app.frame().getByText(heading)).toBeVisible();
    const all = { sheet: width, imported: width, preloaded: width, picture: width, set: width, shape: width };
    await expect.poll(async () => widths(await app.content())).toEqual(all);
    // Before it is left: what nobody has asked for until then, nobody asks for any more.
    for (const path of Object.keys(FILES))
      await expect.poll(() => site.requestsTo(path).length, path).toBeGreaterThan(0);
  }
}

test("a hostile page's files do not become another site's of the same names", async ({ app, origin, otherOrigin }) => {
  await expectOwnFiles(app, origin, otherOrigin);
});

test("a hostile page's files do not become the app's own of the same names", async ({ app, origin }) => {
  const { page } = app;
  const files = await page.evaluate(() => {
    const named = document.querySelectorAll<HTMLElement>("link[href],script[src]");
    return [...named].map(
      (element) => new URL(element.getAttribute("href") ?? element.getAttribute("src") ?? "", location.href).pathname,
    );
  });
  // What changes with a release has a name that changes with it.
  const named = files.filter((path) => /\.(?:css|js)$/.test(path));
  const unhashed = named.map((path) => path.replace(/-[0-9a-f]{20}\./, "-hash."));
  expect(unhashed).toEqual(["/early-hash.js", "/shell-hash.css", "/shell-hash.js"]);
  for (const path of files) {
    const type = path.endsWith(".css") ? "text/css" : path.endsWith(".js") ? "text/javascript" : "image/svg+xml";
    origin.route(path, ({ reply }) => reply(200, { ...KEPT, "content-type": type }, ":root { --hostile: yes }"));
  }
  const links = (at: string) =>
    files
      .map((path) => {
        if (path.endsWith(".css")) return `<link rel="stylesheet" href="${at}${path}">`;
        return path.endsWith(".js") ? `<link rel="modulepreload" href="${at}${path}">` : `<img src="${at}${path}">`;
      })
      .join("");
  origin.page("/", `<h1>Hostile</h1>${links("")}${links(app.base)}`);
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().getByText("Hostile")).toBeVisible();
  await page.goto(`${app.base}/?again`);
  await expect(app.address).toBeVisible();
  const isHostile = () => getComputedStyle(document.documentElement).getPropertyValue("--hostile");
  expect(await page.evaluate(isHostile)).toBe("");
});

base(
  "where scripts are off for two sites of a wildcard, each has its own files",
  async ({ app, origin, otherOrigin }) => {
    for (const site of [origin, otherOrigin]) {
      site.page("/", "<p>Before</p>");
      await app.goto(`${site.origin}/`);
      await app.page.getByRole("button", { name: "Site information" }).click();
      await app.page.getByRole("switch", { name: "Scripts on this site" }).click();
      await expect.poll(async () => (await app.content()).url()).toContain("/~");
      await app.page.keyboard.press("Escape");
    }
    await expectOwnFiles(app, origin, otherOrigin);
  },
);

test("an address that no rule has seen leads to nothing of another site or the app, also where the worker was stopped", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const { page } = app;
  for (const site of [origin, otherOrigin]) serveFiles(site, 31);
  origin.page("/", `<meta name="referrer" content="no-referrer"><h1>Hostile</h1>`);
  await app.goto(`${origin.origin}/`);
  const icon = await page.evaluate(() => document.querySelector<HTMLLinkElement>("link[rel=icon]")?.href ?? "");
  const place = (site: TestOrigin) => `${app.base}/~${site.origin.replace("//", "")}/picture.svg`;
  const addresses = [icon, "/picture.svg", place(otherOrigin), place(origin)];
  const shown = async () =>
    (await app.content()).evaluate(
      (all) =>
        Promise.all(
          all.map(async (src) => {
            const picture = new Image();
            picture.src = src;
            await picture.decode().catch(() => {});
            return picture.naturalWidth;
          }),
        ),
      addresses,
    );
  const kept = page.waitForResponse(place(origin));
  expect(await shown()).toEqual([0, 0, 0, 31]);
  // Whatever the site says: the browser has it for this page alone.
  expect((await kept).headers()["cache-control"]).toBe("no-store");
  const browser = await page.context().newCDPSession(page);
  await browser.send("ServiceWorker.enable");
  await browser.send("ServiceWorker.stopAllWorkers");
  expect(await shown()).toEqual([0, 0, 0, 31]);
  expect(otherOrigin.requestsTo("/picture.svg")).toEqual([]);
  // The app's own windows still get what is theirs.
  await browser.send("ServiceWorker.stopAllWorkers");
  expect(await page.evaluate(async (address) => (await fetch(address)).status, icon)).toBe(200);
});

test("what a person typed on one site comes back there, and nowhere else", async ({ app, origin, otherOrigin }) => {
  const form = `<form action="/sent"><input name="q" id="q"><textarea name="t"></textarea></form>`;
  origin.page("/", `<h1>Hostile</h1>${form}`);
  otherOrigin.page("/", `<h1>Bank</h1>${form}`);
  const fields = app.frame().locator("input, textarea");
  const typed = () => fields.evaluateAll((all) => all.map((each) => (each as HTMLInputElement).value));
  await app.goto(`${otherOrigin.origin}/`);
  for (const field of await fields.all()) await field.fill("secret");
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().getByText("Hostile")).toBeVisible();
  expect(await typed()).toEqual(["", ""]);
  await app.navigated(() => app.page.getByRole("button", { name: "Back" }).click());
  await expect(app.frame().getByText("Bank")).toBeVisible();
  await expect.poll(typed).toEqual(["secret", "secret"]);
});

test("a page's place in a window of its own, and its source, show the app and nothing of the page", async ({
  app,
  origin,
}) => {
  const { page } = app;
  origin.page("/", "<h1>Hostile</h1>");
  await app.goto(`${origin.origin}/`);
  const place = (await app.content()).url();
  expect(new URL(place).pathname).toContain("/~");
  const other = await page.context().newPage();
  for (const address of [place, `view-source:${place}`]) {
    await other.goto(address);
    await expect(other.getByText("Hostile")).toHaveCount(0);
    expect(new URL(other.url().replace("view-source:", "")).pathname).toBe("/");
  }
});
