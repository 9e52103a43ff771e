import { expect, test } from "../fixtures/browser.ts";
import { pageOf } from "../fixtures/test-origin/test-origin.ts";

const PICTURES = Array.from({ length: 10 }, (_, index) => `/picture-${index}.svg`);

test("what a page showed at its last visit is asked about before its document has come", async ({ app, origin }) => {
  const document = pageOf("Pictures", PICTURES.map((path) => `<img src="${path}" alt="">`).join(""));
  origin.page("/other", "<p>Elsewhere</p>");
  origin.route("/page", ({ page }) => page(document));
  for (const path of PICTURES) {
    origin.route(path, ({ request, reply }) => {
      if (request.headers["if-none-match"] === '"1"') return reply(304, { etag: '"1"' });
      const headers = { "content-type": "image/svg+xml", "cache-control": "max-age=0", etag: '"1"' };
      return reply(200, headers, '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
    });
  }
  await app.storeReady();
  await app.goto(`${origin.origin}/page`);
  await app.goto(`${origin.origin}/other`);
  const asked = () =>
    origin.requests.filter(({ headers, path }) => PICTURES.includes(path) && headers["if-none-match"] === '"1"').length;

  // The document is held back until all questions are there.
  origin.route("/page", async ({ page }) => {
    await expect.poll(asked).toBe(PICTURES.length);
    page(document);
  });
  await app.goto(`${origin.origin}/page`);
  await expect(app.frame().locator("img").last()).toHaveJSProperty("naturalWidth", 9);
  expect(asked()).toBe(PICTURES.length);
  expect((await app.stats()).storeAsked).toBe(PICTURES.length);
});
