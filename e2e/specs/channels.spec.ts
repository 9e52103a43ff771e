/** How many connections the app has to its edge: as many as pay, or as an experiment says. */
import { tilePicture } from "../demo/hundred-fifty.ts";
import { type AppPage, expect, SLOW_LINK, test } from "../fixtures/browser.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

const PICTURES = 40;

async function loadPictures(app: AppPage, origin: TestOrigin): Promise<void> {
  const numbers = Array.from({ length: PICTURES }, (_, index) => index + 1);
  for (const number of numbers) {
    const picture = tilePicture(number);
    origin.route(`/tile-${number}.png`, ({ reply }) => reply(200, { "content-type": "image/png" }, picture));
  }
  origin.page("/pictures", numbers.map((number) => `<img src="/tile-${number}.png">`).join(""));
  await app.goto(`${origin.origin}/pictures`);
  const pictures = app.frame().locator("img");
  await expect(pictures).toHaveCount(PICTURES);
  await expect
    .poll(() =>
      pictures.evaluateAll((all) => all.filter((each) => (each as HTMLImageElement).naturalWidth === 36).length),
    )
    .toBe(PICTURES);
  expect(origin.requests.filter(({ path }) => path.endsWith(".png"))).toHaveLength(PICTURES);
}

test.describe("one, as an experiment says", () => {
  test.use({ experiment: { channels: 1 } });

  test("over which a page comes whole", async ({ app, origin }) => {
    await loadPictures(app, origin);
    expect(await app.stats()).toMatchObject({ sockets: 1, socketsOpened: 1, channels: 1, sessions: 1 });
  });
});

test.describe("on a slow link", () => {
  test.use({ linkSpeed: SLOW_LINK });

  test("several, over which a page comes whole @long", async ({ app, origin, link }) => {
    await loadPictures(app, origin);
    expect((await app.stats()).sessions).toBe(1);
    expect(link.webSockets).toBeGreaterThan(1);
  });
});

test.describe("three, as an experiment says", () => {
  test.use({ experiment: { channels: 3 } });

  test("over which a page comes whole, also after all of them were cut", async ({ app, origin, link }) => {
    await loadPictures(app, origin);
    await expect.poll(() => app.stats()).toMatchObject({ sockets: 3, channels: 3, sessions: 1 });
    expect(link.webSockets).toBe(3);
    link.cut();
    origin.page("/after", "<p>Whole again</p>");
    await app.goto(`${origin.origin}/after`);
    await expect(app.frame().getByText("Whole again")).toBeVisible();
    await expect.poll(() => app.stats()).toMatchObject({ sockets: 3, channels: 3, sessions: 1 });
  });
});

test("another number, from when the experiment is changed @long", async ({ app, origin }) => {
  for (const channels of [4, 1]) {
    await app.page.evaluate((count) => {
      localStorage.setItem("ropeway.experiment", JSON.stringify({ channels: count }));
    }, channels);
    await app.page.reload();
    await expect.poll(() => app.stats()).toMatchObject({ sockets: channels, channels, sessions: 1 });
  }
  await loadPictures(app, origin);
});
