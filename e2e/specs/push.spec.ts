import { hundredFiftyPage, PICTURE_BYTES, tilePicture } from "../demo/hundred-fifty.ts";
import { expect, SLOW_LINK, test } from "../fixtures/browser.ts";
import { pageOf, type TestOrigin } from "../fixtures/test-origin/test-origin.ts";

const PICTURES = 150;
const PNG = { "content-type": "image/png" };

function servePictures(origin: TestOrigin): void {
  origin.route("/150/", ({ page }) => page(hundredFiftyPage()));
  for (let number = 1; number <= PICTURES; number++) {
    const picture = tilePicture(number);
    origin.route(`/150/tile-${number}.png`, ({ reply }) => reply(200, PNG, picture));
  }
}

// With several connections a document may arrive before the announcement of its pushes, and the page then asks by itself.
test.use({ experiment: { channels: 1 } });

/** How often each path below `prefix` was asked for. */
function asked(origin: TestOrigin, prefix: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { path } of origin.requests) {
    if (path.startsWith(prefix)) counts[path] = (counts[path] ?? 0) + 1;
  }
  return counts;
}

test.describe("on a slow link", () => {
  test.use({ linkSpeed: SLOW_LINK });

  test("the 150 pictures of a page are pushed, each asked for once at the origin, all of use", async ({
    app,
    origin,
  }) => {
    servePictures(origin);
    const before = await app.stats();
    await app.goto(`${origin.origin}/150/`);
    const pictures = app.frame().locator("img");
    await expect
      .poll(() =>
        pictures.evaluateAll((all) => all.filter((each) => (each as HTMLImageElement).naturalWidth === 36).length),
      )
      .toBe(PICTURES);
    const counts = asked(origin, "/150/tile-");
    expect(Object.keys(counts)).toHaveLength(PICTURES);
    expect(Object.values(counts).filter((count) => count !== 1)).toEqual([]);
    const after = await app.stats();
    expect(after.pushes - before.pushes).toBe(PICTURES);
    expect(after.pushesClaimed - before.pushesClaimed).toBe(PICTURES);
    expect(after.pushedBytes - before.pushedBytes).toBe(PICTURES * PICTURE_BYTES);
  });
});

test("a page that is left half-way stops what was pushed for it", async ({ app, origin }) => {
  const count = 20;
  const names = Array.from({ length: count }, (_, index) => `/held/${index}.bin`);
  for (const name of names) origin.route(name, () => {});
  // What no browser asks for, though it stands there: the edge knows nothing of types.
  const links = names
    .map((name) => `<link rel="preload" as="image" type="image/x-unheard-of" href="${name}">`)
    .join("");
  origin.route("/half", async ({ response, write }) => {
    response.writeHead(200, { "content-type": "text/html" });
    await write(`<!doctype html><title>Half</title><p>Begun</p>${links}`);
  });
  origin.page("/next", "<p>Next</p>");
  await app.ask(`${origin.origin}/half`);
  await expect.poll(() => Object.keys(asked(origin, "/held/")).length).toBe(count);
  await app.goto(`${origin.origin}/next`);
  await expect(app.frame().getByText("Next")).toBeVisible();
  await expect.poll(() => origin.requests.filter(({ abortedAt }) => abortedAt !== undefined).length).toBe(count + 1);
  expect(await app.stats()).toMatchObject({ pushes: count, pushesClaimed: 0 });
});

test("the background of a style attribute comes once, pushed before the style sheets let the browser ask", async ({
  app,
  origin,
}) => {
  origin.route("/hero.png", ({ reply }) => reply(200, PNG, tilePicture(1)));
  origin.route("/late.css", ({ reply }) => reply(200, { "content-type": "text/css" }, "section { height: 50px }"));
  const hero = `<section style="background: linear-gradient(#0008, #0008), url('/hero.png')">Hero</section>`;
  origin.page("/hero", `<link rel="stylesheet" href="/late.css">${hero}`);
  const before = await app.stats();
  await app.goto(`${origin.origin}/hero`);
  await expect(app.frame().getByText("Hero")).toBeVisible();
  await expect.poll(async () => (await app.stats()).pushesClaimed - before.pushesClaimed).toBe(2);
  const { "/hero": _, ...counts } = asked(origin, "/");
  expect(counts).toEqual({ "/hero.png": 1, "/late.css": 1 });
});

test("scripts, modules, styles, what they import, and pictures arrive once, as the page would have asked for them", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const cors = { "access-control-allow-origin": "*" };
  for (const host of [origin, otherOrigin]) {
    const style = (path: string, text: string) =>
      host.route(path, ({ reply }) => reply(200, { "content-type": "text/css", ...cors }, text));
    style("/style.css", '@import "imported.css"; p { color: teal }');
    style("/imported.css", "p { margin: 0 }");
    host.route("/imported.js", ({ reply }) =>
      reply(200, { "content-type": "text/javascript", ...cors }, "export const yes = 'yes'"),
    );
    host.route("/fitting.png", ({ reply }) => reply(200, { ...PNG, ...cors }, tilePicture(4)));
    host.route("/script.js", ({ reply }) =>
      reply(200, { "content-type": "text/javascript", ...cors }, "document.body.dataset.ran = 'yes'"),
    );
    host.route("/module.js", ({ reply }) =>
      reply(
        200,
        { "content-type": "text/javascript", ...cors },
        "import { yes } from './imported.js'; document.body.dataset.module = yes",
      ),
    );
    host.route("/picture.png", ({ reply }) => reply(200, { ...PNG, ...cors }, tilePicture(1)));
    host.route("/anonymous.png", ({ reply }) => reply(200, { ...PNG, ...cors }, tilePicture(2)));
    host.route("/poster.png", ({ reply }) => reply(200, { ...PNG, ...cors }, tilePicture(3)));
  }
  const parts = [origin.origin, otherOrigin.origin].map(
    (host) => `<link rel="stylesheet" href="${host}/style.css"><img src="${host}/picture.png">
<img crossorigin src="${host}/anonymous.png"><video poster="${host}/poster.png"></video>
<img srcset="${host}/fitting.png 200w, ${host}/large.png 900w" sizes="(max-width: 1px) 100vw, 10px">
<script src="${host}/script.js"></script><script type="module" src="${host}/module.js"></script>`,
  );
  origin.route("/all", ({ page }) =>
    page(pageOf("All", `<p>All</p>${parts.join("")}`), { "referrer-policy": "origin" }),
  );
  const before = await app.stats();
  await app.goto(`${origin.origin}/all`);
  await expect(app.frame().locator("body[data-ran=yes][data-module=yes]")).toBeVisible();
  await expect.poll(async () => (await app.stats()).pushesClaimed - before.pushesClaimed).toBe(18);
  expect((await app.stats()).pushes - before.pushes).toBe(18);
  for (const host of [origin, otherOrigin]) {
    const { "/all": _, ...counts } = asked(host, "/");
    expect(Object.values(counts)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1]);
    for (const { path, headers } of host.requests) {
      if (path !== "/all" && !path.startsWith("/imported"))
        expect([path, headers.referer]).toEqual([path, `${origin.origin}/`]);
    }
  }
});

test("nothing is pushed when the person does not want it @long", async ({ app, origin }) => {
  servePictures(origin);
  await app.page.getByRole("button", { name: "Menu" }).click();
  await app.page.getByRole("button", { name: "Settings" }).click();
  await app.page.getByRole("switch", { name: "Load parts of a page early" }).click();
  await app.page.keyboard.press("Escape");
  await app.goto(`${origin.origin}/150/`);
  await expect.poll(() => Object.keys(asked(origin, "/150/tile-")).length).toBe(PICTURES);
  expect((await app.stats()).pushes).toBe(0);
});
