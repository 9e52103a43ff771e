import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { startEdge } from "../../scripts/edge-process.ts";
import { freePort } from "../../scripts/local-edge/free-port.ts";
import { AppPage } from "../fixtures/app-page.ts";
import { expect, type RunningEdge, test } from "../fixtures/browser.ts";
import { buildFormerRelease, FORMER_MARK } from "../fixtures/former-release.ts";
import { startReleaseProxy } from "../fixtures/release-proxy.ts";
import { pageOf } from "../fixtures/test-origin/test-origin.ts";

const FORMER_VERSION = "0.0.1";
const FIELD = "cross-origin-opener-policy";

/** The app, installed and paired, through a proxy that has another release of it ready. */
async function openReleased(page: Page, edge: RunningEdge) {
  const proxy = await startReleaseProxy(Number(new URL(edge.url).port), FIELD);
  const app = new AppPage(page, `http://ropeway.localhost:${proxy.port}`);
  await app.open(edge.accessKey);
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  await page.reload();
  return { app, proxy };
}

test("an app that is installed gets header fields that a release adds to the same files", async ({ page, edge }) => {
  const proxy = await startReleaseProxy(Number(new URL(edge.url).port), FIELD);
  const policies = () =>
    page.evaluate(async (field) => {
      const answers = await Promise.all(["/", "/blank"].map((path) => fetch(path)));
      return answers.map(({ headers }) => headers.get(field));
    }, FIELD);
  await page.goto(`http://ropeway.localhost:${proxy.port}/`);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  expect(await policies()).toEqual([null, null]);

  proxy.deploy();
  expect(await policies()).toEqual([null, null]);
  // A browser that is looking already takes a second look for the first, which may have begun before the release.
  const updated = async () => {
    await page.evaluate(async () => (await navigator.serviceWorker.ready).update());
    return policies();
  };
  await expect.poll(updated).toEqual(["same-origin", "same-origin"]);
  await proxy.close();
});

test("an update that waits is told at the menu, which opens it", async ({ page, edge }) => {
  const { proxy } = await openReleased(page, edge);
  const menu = page.getByRole("button", { name: "Menu" });
  const told = page.getByRole("button", { name: "Menu, with a newer version of the app" });
  await expect(menu).toBeVisible();
  await expect(told).toHaveCount(0);
  proxy.deploy();
  // The browser looks by itself now and then. As above, a look may have begun before the release.
  await expect(async () => {
    await page.evaluate(async () => void (await navigator.serviceWorker.ready).update());
    await expect(told).toBeVisible({ timeout: 3_000 });
  }).toPass();
  await told.click();
  await page.getByRole("dialog").getByRole("button", { name: "Open the newer version of the app" }).click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(menu).toBeVisible();
  await expect(told).toHaveCount(0);
  await proxy.close();
});

test("the settings look for a newer version, and open it", async ({ page, edge }) => {
  const { app, proxy } = await openReleased(page, edge);
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name: "Settings" }).click();
  const look = page.getByRole("button", { name: "Look for updates" });
  const answer = page.getByRole("dialog").getByRole("status").filter({ hasText: "version" });
  await look.click();
  await expect(answer).toHaveText("This is the newest version.");
  proxy.deploy();
  await expect(async () => {
    if (await look.isVisible()) await look.click({ timeout: 1_000 });
    await expect(answer).toHaveText(/^A newer version is here\./, { timeout: 3_000 });
  }).toPass();
  await page.getByRole("button", { name: "Open it now" }).click();
  await expect(app.address).toBeVisible();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await proxy.close();
});

test("an app of the release before updates by itself and keeps pairing, cookies, slots and pins @long", async ({
  page,
  origin,
}) => {
  test.setTimeout(180_000);
  const directory = await mkdtemp(join(tmpdir(), "ropeway-release-"));
  const build = await buildFormerRelease(directory, FORMER_VERSION);
  const same = {
    runtime: "workerd",
    port: await freePort("127.0.0.1"),
    accessKey: randomBytes(16).toString("hex"),
    allowPrivate: true,
    stateDirectory: join(directory, "state"),
  } as const;
  const former = await startEdge({ ...same, build });
  origin.route("/visit", ({ request, page }) =>
    page(pageOf("Visits", '<p id="slot"></p><script>slot.textContent = localStorage.slot ??= "first"</script>'), {
      "set-cookie": `visit=${request.headers.cookie === undefined ? "first" : "again"}; max-age=9999`,
    }),
  );
  const app = new AppPage(page, former.url);
  await app.open(former.accessKey);
  await app.goto(`${origin.origin}/visit`);
  const slot = new URL((await app.content()).url()).origin;
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name: "Pin", exact: true }).click();
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  const isFormer = async () => (await page.locator(FORMER_MARK).count()) === 1;
  const edgeVersion = async () =>
    ((await (await fetch(`${former.url}/.ropeway/health`)).json()) as { version: string }).version;
  expect([await isFormer(), await edgeVersion()]).toEqual([true, FORMER_VERSION]);
  await former.close();

  const edge = await startEdge(same);
  await page.reload();
  expect([await isFormer(), (await edgeVersion()) === FORMER_VERSION]).toEqual([true, false]);
  await app.goto(`${origin.origin}/visit?between`);
  await expect(app.frame().locator("#slot")).toHaveText("first");
  // As if the hour had passed for which the browser's cache has the app's worker.
  const session = await page.context().newCDPSession(page);
  await session.send("Network.clearBrowserCache");
  const opensFormer = async () => {
    await page.reload();
    await expect(app.address).toBeVisible();
    return isFormer();
  };
  await expect.poll(opensFormer, { intervals: [3_000], timeout: 60_000 }).toBe(false);

  await page.getByRole("button", { name: "Home" }).click();
  origin.forget();
  await app.navigated(() =>
    page.getByRole("region", { name: "Pinned" }).getByRole("button", { name: "Visits" }).click(),
  );
  await expect(app.frame().locator("#slot")).toHaveText("first");
  expect(new URL((await app.content()).url()).origin).toBe(slot);
  expect(origin.requests[0]?.headers.cookie).toBe("visit=again");
  expect((await app.stats()).sockets).toBeGreaterThan(0);
  await edge.close();

  // Whoever deployed takes it back: the app of now has the edge of before.
  expect(await isFormer()).toBe(false);
  const formerAgain = await startEdge({ ...same, build });
  origin.forget();
  await app.goto(`${origin.origin}/visit?back`);
  await expect(app.frame().locator("#slot")).toHaveText("first");
  expect(origin.requests[0]?.headers.cookie).toBe("visit=again");
  await formerAgain.close();
  await rm(directory, { recursive: true, force: true });
});
