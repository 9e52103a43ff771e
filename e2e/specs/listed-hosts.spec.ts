/** Slots on a list of hosts: sites take over from one another, and find nothing there. */
import { startEdge } from "../../scripts/edge-process.ts";
import { AppPage } from "../fixtures/app-page.ts";
import { test as base, expect, type RunningEdge } from "../fixtures/browser.ts";
import { startTestOrigin, type TestOrigin } from "../fixtures/test-origin/test-origin.ts";

/** Slots are no hosts below the app's. */
const HOST = "app.ropeway.localhost";

interface Listed {
  /** How many hosts the list has. */
  count: number;
  edge: RunningEdge;
  /** One server for any number of sites: `siteUrl`. */
  sites: TestOrigin;
  listed: AppPage;
}

const test = base.extend<Pick<Listed, "count" | "sites" | "listed"> & { listedEdge: RunningEdge }>({
  count: [8, { option: true }],
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures used from this pattern.
  sites: async ({}, use) => {
    const sites = await startTestOrigin();
    await use(sites);
    await sites.close();
  },
  listedEdge: async ({ count }, use) => {
    const slotHosts = `s[1-${count}].ropeway.localhost`;
    const edge = await startEdge({ runtime: "workerd", port: 0, host: HOST, slotHosts, allowPrivate: true });
    await use(edge);
    await edge.close();
  },
  listed: async ({ page, listedEdge }, use) => {
    const app = new AppPage(page, listedEdge.url);
    await app.open(listedEdge.accessKey);
    await use(app);
  },
});

const siteUrl = ({ port }: TestOrigin, index: number, path = "/") => `http://n${index}.localhost:${port}${path}`;

test.describe("with few hosts", () => {
  test.use({ count: 2 });

  test("a site that comes where another was finds nothing of it, and Back leads to what was there", async ({
    listed: app,
    sites,
  }) => {
    sites.page(
      "/",
      `<p></p><script>
        localStorage.visits = Number(localStorage.visits ?? 0) + 1;
        sessionStorage.visits = Number(sessionStorage.visits ?? 0) + 1;
        document.querySelector("p").textContent = new URL(document.URL).host.split(".")[0] + ": " + localStorage.visits + sessionStorage.visits;
      </script>`,
    );
    for (const site of [1, 2, 3]) {
      await app.goto(siteUrl(sites, site));
      await expect(app.frame().locator("p")).toHaveText(`n${site}: 11`);
    }
    await app.goto(siteUrl(sites, 3, "/?again"));
    await expect(app.frame().locator("p")).toHaveText(/22$/);
    await app.navigated(() => app.page.getByRole("button", { name: "Back" }).click());
    await app.navigated(() => app.page.getByRole("button", { name: "Back" }).click());
    await expect(app.address).toHaveValue(siteUrl(sites, 2));
    await expect(app.frame().locator("p")).toHaveText("n2: 11");
    expect(sites.requests.filter(({ headers }) => /^n2\./.test(headers.host ?? ""))).toHaveLength(2);
  });
});

test("where no host is free, frames wait for a tap and say so, and a page says it @long", async ({
  listed: app,
  sites,
}) => {
  test.setTimeout(120_000);
  const frames = Array.from({ length: 8 }, (_, index) => index + 10);
  for (const frame of frames) sites.page(`/frame-${frame}`, `<p>Frame ${frame}</p>`);
  const elements = frames.map(
    (frame) => `<iframe title="Frame ${frame}" src="${siteUrl(sites, frame, `/frame-${frame}`)}"></iframe>`,
  );
  sites.page("/", `<p>Page</p>${elements.join("")}`);
  await app.goto(siteUrl(sites, 1));
  const inFrames = (text: string | RegExp) =>
    Promise.all(
      frames.map((frame) => app.frame().frameLocator(`[title="Frame ${frame}"]`).getByText(text).count()),
    ).then((counts) => counts.filter((count) => count > 0).length);
  // Half of the hosts, without a tap.
  await expect.poll(() => inFrames(/^Frame \d+$/), { timeout: 60_000 }).toBe(4);
  await expect.poll(() => inFrames(/^Load n/)).toBe(4);
  const buttons = frames.map((frame) => app.frame().frameLocator(`[title="Frame ${frame}"]`).getByRole("button"));
  for (const button of buttons) if ((await button.count()) > 0) await button.click();
  // The page has one of the eight.
  await expect.poll(() => inFrames(/^Frame \d+$/), { timeout: 60_000 }).toBe(7);
  await expect.poll(() => inFrames(/no room for n\d+/)).toBe(1);

  const other = await app.openAnother();
  await other.connected();
  sites.page("/other", "<p>Other</p>");
  await other.goto(siteUrl(sites, 2, "/other"));
  await expect(other.page.getByRole("heading", { name: "No room for another site now" })).toBeVisible({
    timeout: 60_000,
  });
  expect(await inFrames(/^Frame \d+$/)).toBe(7);
  await app.page.close();
  await expect(async () => {
    await other.goto(siteUrl(sites, 2, "/other"));
    await expect(other.frame().getByText("Other")).toBeVisible({ timeout: 3_000 });
  }).toPass({ timeout: 60_000 });
});
