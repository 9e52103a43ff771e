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

  test("a site that comes where another was finds nothing of it", async ({ listed: app, sites }) => {
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
  });
});
