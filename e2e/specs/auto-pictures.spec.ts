/** "Smaller on slow links": by the round trip that the app measures. */
import { photo } from "../demo/pictures.ts";
import { type AppPage, expect, SLOW_LINK, test } from "../fixtures/browser.ts";
import { choosePictures } from "../fixtures/picture-settings.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

const PICTURE = photo("harbour", 600);

/** @returns bytes that a page of one picture takes, which nobody has stored. */
async function bytesOfPicture(app: AppPage, origin: TestOrigin): Promise<number> {
  const name = `/${Math.random()}`;
  origin.route(`${name}.png`, ({ reply }) =>
    reply(200, { "content-type": "image/png", "cache-control": "no-store" }, PICTURE),
  );
  origin.page(name, `<img src="${name}.png" alt="harbour">`);
  const before = (await app.stats()).linkBytesDown;
  await app.goto(origin.origin + name);
  return (await app.stats()).linkBytesDown - before;
}

test("pictures come as they are while the link is quick", async ({ app, origin }) => {
  test.setTimeout(180_000);
  await choosePictures(app, "auto");
  // On a busy machine round trips are long, and the link is as slow as they say until a short one has come.
  const patience = { timeout: 120_000 };
  await expect.poll(() => bytesOfPicture(app, origin), patience).toBeGreaterThan(PICTURE.length);
});

test.describe("on a link with 300 ms of round trip", () => {
  test.use({ linkSpeed: SLOW_LINK });

  test("pictures come smaller @long", async ({ app, origin }) => {
    await choosePictures(app, "auto");
    expect(await bytesOfPicture(app, origin)).toBeLessThan(PICTURE.length * 0.7);
  });
});
