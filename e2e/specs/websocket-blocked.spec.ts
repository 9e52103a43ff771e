/** Networks that let no WebSocket through: the app loads pages all the same, and says nothing of it. */
import { AppPage } from "../fixtures/app-page.ts";
import { expect, test } from "../fixtures/browser.ts";
import { startUpgradeBlocker, type UpgradeBlocker, type UpgradeFate } from "../fixtures/upgrade-blocker.ts";

const IMAGES = 30;

const blocked = test.extend<{ fate: UpgradeFate; blocker: UpgradeBlocker; blockedApp: AppPage }>({
  fate: ["refused", { option: true }],
  blocker: async ({ edge, fate }, use) => {
    const blocker = await startUpgradeBlocker(Number(new URL(edge.url).port), fate);
    await use(blocker);
    await blocker.close();
  },
  blockedApp: async ({ page, edge, blocker }, use) => {
    // On a busy machine further sockets may seem to pay.
    const app = new AppPage(page, `http://localhost:${blocker.port}`, { channels: 1 });
    await app.open(edge.accessKey);
    await use(app);
  },
});

for (const fate of ["refused", "swallowed"] as const) {
  blocked.describe(`where handshakes are ${fate}`, () => {
    blocked.use({ fate });

    blocked("a page loads with all it needs, and its form is sent", async ({ blockedApp: app, blocker, origin }) => {
      const images = Array.from({ length: IMAGES }, (_, index) => `<img src="/image-${index}.svg" alt="">`);
      origin.page(
        "/",
        `<h1>Loaded</h1>${images.join("")}<form method="post" action="/sent"><button>Send</button></form>`,
      );
      origin.route("/sent", ({ request, page }) => page(`<p>${request.method} arrived</p>`));
      for (let index = 0; index < IMAGES; index++) {
        const image = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
        origin.route(`/image-${index}.svg`, ({ reply }) => reply(200, { "content-type": "image/svg+xml" }, image));
      }
      await app.goto(`${origin.origin}/`);
      await expect(app.frame().getByRole("heading", { name: "Loaded" })).toBeVisible();
      const content = await app.content();
      await expect
        .poll(() =>
          content.evaluate(() => [...document.images].filter(({ naturalWidth }) => naturalWidth === 9).length),
        )
        .toBe(IMAGES);
      await app.navigated(() => app.frame().getByRole("button", { name: "Send" }).click());
      await expect(app.frame().getByText("POST arrived")).toBeVisible();

      expect(await app.stats()).toMatchObject({ road: "fetch", sockets: 1, sessions: 1 });
      expect(blocker.handshakes).toBeGreaterThan(0);
      expect(blocker.requests).toContain("POST /.ropeway/tunnel/down");
      expect(blocker.requests.join("\n")).not.toMatch(/token|key=/);
    });

    blocked("nothing alarms the person", async ({ blockedApp: app }) => {
      await expect(app.page.getByText(/waiting for|offline|cannot reach/i)).toHaveCount(0);
      await expect(app.page.getByRole("alert")).toHaveCount(0);
    });
  });
}

blocked(
  "where they pass at last, the link moves over without a new session @long",
  async ({ blockedApp: app, blocker, origin }) => {
    origin.page("/", "<h1>Moved</h1>");
    blocker.upgrades = "passed";
    await app.page.evaluate(() => window.dispatchEvent(new Event("online")));
    await expect.poll(() => app.stats()).toMatchObject({ road: "websocket", sockets: 1, sessions: 1 });
    await app.goto(`${origin.origin}/`);
    await expect(app.frame().getByRole("heading", { name: "Moved" })).toBeVisible();
  },
);

test("where they pass, the road is WebSocket", async ({ app, link }) => {
  expect(await app.stats()).toMatchObject({ road: "websocket" });
  expect(link.webSockets).toBeGreaterThan(0);
});
