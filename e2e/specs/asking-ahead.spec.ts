import { expect, test } from "../fixtures/browser.ts";
import { pageOf } from "../fixtures/test-origin/test-origin.ts";

const PICTURES = Array.from({ length: 10 }, (_, index) => `/picture-${index}.svg`);

test("what a page showed at its last visit is asked about before its document has come @long", async ({
  app,
  origin,
}) => {
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
  // It was asked for once more if the wait was in vain.
  expect(origin.requestsTo("/page")).toHaveLength(2);
  expect((await app.stats()).storeAsked).toBe(PICTURES.length);
});

test("what scripts asked for on two pages of a kind comes before they ask, on a new page of it, too @long", async ({
  app,
  origin,
}) => {
  const script = `fetch("/api" + location.pathname).then(async (answer) => {
    document.querySelector("p").textContent = await answer.text();
  });`;
  const asked = () => origin.requests.filter(({ path }) => path.startsWith("/api/")).map(({ path }) => path);
  let awaited = 0;
  origin.route("/app.js", async ({ reply }) => {
    // Nothing can ask but who knows without it.
    await expect.poll(() => asked().length).toBe(awaited);
    reply(200, { "content-type": "text/javascript", "cache-control": "no-store" }, script);
  });
  for (const name of ["1", "2", "3"]) {
    origin.route(`/article/${name}`, async ({ response, write }) => {
      response.writeHead(200, { "content-type": "text/html" });
      await write(`<!doctype html><title>${name}</title><p>Nothing</p>`);
      response.end('<script src="/app.js"></script>');
    });
    origin.route(`/api/article/${name}`, ({ reply }) =>
      reply(200, { "content-type": "text/plain", "cache-control": "no-store" }, `This is ${name}`),
    );
  }
  const text = app.frame().locator("p");
  await app.storeReady();
  for (const name of ["1", "2"]) {
    awaited = asked().length;
    await app.goto(`${origin.origin}/article/${name}`);
    await expect(text).toHaveText(`This is ${name}`);
  }
  for (const name of ["1", "3"]) {
    awaited = asked().length + 1;
    await app.goto(`${origin.origin}/article/${name}`);
    await expect(text).toHaveText(`This is ${name}`);
  }
  expect(asked()).toEqual(["1", "2", "1", "3"].map((name) => `/api/article/${name}`));
});
