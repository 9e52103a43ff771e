/** `npx wrangler dev` on `wrangler.toml` as it stands: one host, so pages show without scripts. */
import { expect } from "@playwright/test";
import { freePort } from "../../scripts/local-edge/free-port.ts";
import { type Outcome, runChecks } from "../../scripts/smoke/run-checks.ts";
import { AppPage } from "../fixtures/app-page.ts";
import { test } from "../fixtures/browser.ts";
import { startWranglerDev } from "../fixtures/wrangler-dev.ts";

const KEY = "kept-to-itself-in-32-characters.";

test("the plain wrangler.toml shows pages with nothing but an access key @long", async ({ page, origin }) => {
  test.setTimeout(300_000);
  const port = await freePort("127.0.0.1");
  // Pages of the test are on this machine.
  const vars = [`ROPEWAY_ACCESS_KEY:${KEY}`, "ROPEWAY_ALLOW_PRIVATE:1"];
  const wrangler = startWranglerDev(
    port,
    vars.flatMap((variable) => ["--var", variable]),
  );
  const edge = `http://localhost:${port}`;
  try {
    const status = () =>
      fetch(`${edge}/.ropeway/health`).then(
        ({ status }) => status,
        () => null,
      );
    await expect.poll(status, { timeout: 200_000 }).toBe(200);
    const picture = `<img src="/picture.svg" alt="A picture"><a href="/next">Next</a><script>document.title = "Ran"</script>`;
    origin.page("/", `<h1>First</h1>${picture}`, "First");
    origin.page("/next", "<h1>Second</h1>");
    origin.route("/picture.svg", ({ reply }) =>
      reply(
        200,
        { "content-type": "image/svg+xml" },
        `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"/>`,
      ),
    );
    const app = new AppPage(page, edge);
    await app.open(KEY, `${origin.origin}/`);
    await expect(app.frame().getByRole("heading", { name: "First" })).toBeVisible();
    const image = app.frame().getByAltText("A picture");
    await expect.poll(() => image.evaluate((element) => (element as HTMLImageElement).naturalWidth)).toBe(40);
    await expect(page).toHaveTitle(/First/);
    await app.navigated(() => app.frame().getByText("Next").click());
    await expect(app.frame().getByRole("heading", { name: "Second" })).toBeVisible();

    const outcomes: Outcome[] = [];
    const settings = {
      origin: edge,
      accessKey: KEY,
      page: `${origin.origin}/next`,
      restTime: 1_000,
      streamPatience: 5_000,
    };
    await runChecks(settings, (each) => outcomes.push(each));
    // Wrangler's own proxy, which stands in front of the edge here, compresses messages.
    expect(outcomes.filter(({ type }) => type === "failed")).toMatchObject([
      { what: expect.stringContaining("compresses") },
    ]);
  } finally {
    wrangler.kill();
  }
});
