import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import { AppPage } from "../fixtures/app-page.ts";
import { expect, test } from "../fixtures/browser.ts";
import { CHROMIUM_ARGS, findChromium, PHONE } from "../fixtures/chromium.ts";

test("the app opens without any network", async ({ app, link, context }) => {
  await app.page.evaluate(() => navigator.serviceWorker.ready);
  await expect.poll(() => app.page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  link.offline();
  await context.setOffline(true);
  // Not the address that was typed first, which the edge sends on to the app's own host.
  await app.page.reload();
  await expect(app.address).toBeVisible();
  await app.address.fill("example");
  await expect(app.address).toHaveValue("example");
  await app.page.getByRole("button", { name: "Cancel" }).click();
  await app.page.getByRole("button", { name: "Menu" }).click();
  await expect(app.page.getByRole("button", { name: "Settings" })).toBeVisible();
});

test("the address that npm start prints opens the app once the edge is away", async ({ page, runtime }) => {
  const { startEdge } = await import("../../scripts/edge-process.ts");
  const edge = await startEdge({ runtime, port: 0 });
  const printed = edge.appUrl;
  await page.goto(`${printed}/#key=${edge.accessKey}`);
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  await edge.close();
  // As typed again, in a window of its own.
  await page.goto("about:blank");
  await page.goto(`${printed}/`);
  await expect(page.getByRole("textbox", { name: "Address" })).toBeVisible();
});

test("it keeps its pairing, so the next start needs no key", async ({ app, origin }) => {
  origin.page("/", "<p>Still paired</p>");
  await app.page.goto(`${app.base}/`);
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().getByText("Still paired")).toBeVisible();
});

test("the link on a printed address pairs and loads at once", async ({ page, link, edge, origin }) => {
  origin.page("/", "<p>First page</p>", "First");
  const app = new AppPage(page, `http://localhost:${link.port}`);
  await app.open(edge.accessKey, `${origin.origin}/`);
  // The app has it from the page. Of a frame that comes while the address leads to another host, the automation may know nothing.
  await expect(page).toHaveTitle(/First/);
});

test("its manifest, icons and screenshots are there", async ({ app }) => {
  const { manifest, statuses, sizes, types, pictures } = await app.page.evaluate(async () => {
    const href = document.querySelector<HTMLLinkElement>('link[rel="manifest"]')?.href ?? "";
    const found = (await (await fetch(href)).json()) as {
      icons: { src: string; type: string; purpose?: string }[];
      screenshots: { src: string; type: string; sizes: string; form_factor: string }[];
      shortcuts: unknown[];
      share_target: { action: string };
    };
    const pictures = [...found.icons, ...found.screenshots];
    const answers = await Promise.all(pictures.map(({ src }) => fetch(new URL(src, href))));
    const types = answers.map((answer) => answer.headers.get("content-type"));
    const sizes = await Promise.all(
      answers.slice(found.icons.length).map(async (answer) => {
        const { width, height } = await createImageBitmap(await answer.blob());
        return `${width}x${height}`;
      }),
    );
    return { manifest: found, statuses: answers.map(({ status }) => status), sizes, types, pictures };
  });
  expect(manifest).toMatchObject({ name: "Ropeway", display: "standalone" });
  expect(manifest.icons.some(({ purpose }) => purpose?.includes("maskable"))).toBe(true);
  expect(manifest.screenshots).toMatchObject([{ form_factor: "narrow" }, { form_factor: "narrow" }]);
  expect(types).toEqual(pictures.map(({ type }) => type));
  expect(sizes).toEqual(manifest.screenshots.map((each) => each.sizes));
  expect(manifest.shortcuts.length).toBeGreaterThan(0);
  expect(manifest.share_target.action).toBeTruthy();
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test("Chromium says that the app can be installed", async ({ edge }) => {
  // With a profile of its own: what is shown in private can be installed nowhere.
  const profile = await mkdtemp(join(tmpdir(), "ropeway-install-"));
  const executablePath = findChromium();
  const context = await chromium.launchPersistentContext(profile, {
    ...PHONE,
    args: CHROMIUM_ARGS,
    ...(executablePath === undefined ? {} : { executablePath }),
  });
  try {
    const app = new AppPage(await context.newPage(), edge.url);
    await app.open(edge.accessKey);
    const devTools = await context.newCDPSession(app.page);
    const { url, data = "", errors } = await devTools.send("Page.getAppManifest");
    expect([new URL(url).origin, errors]).toEqual([app.base, []]);
    // A link into the app goes to the window that is open.
    const launch_handler = { client_mode: ["focus-existing", "auto"] };
    expect(JSON.parse(data)).toMatchObject({ name: "Ropeway", launch_handler });
    const { installabilityErrors } = await devTools.send("Page.getInstallabilityErrors");
    expect(installabilityErrors).toEqual([]);

    // Of a page without a manifest it does not say so.
    await app.page.goto("about:blank");
    const { installabilityErrors: ofBlank } = await devTools.send("Page.getInstallabilityErrors");
    expect(ofBlank).not.toEqual([]);
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  }
});
