/** A page has a budget: pictures that would pass it wait, with their size; a tap loads the one that is tapped. */
import { photo } from "../demo/pictures.ts";
import { type AppPage, expect, test } from "../fixtures/browser.ts";
import { choosePictures } from "../fixtures/picture-settings.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

/** Some 81 kB each: three of them are within 300 kB. */
const PICTURES = ["harbour", "ferry", "pier", "lighthouse", "cliff"].map((name) => ({ name, body: photo(name, 600) }));
const IMAGES = PICTURES.map(({ name }) => `<img src="/${name}.png" alt="${name}" style="width: 100%">`).join("");

function servePictures(origin: TestOrigin): void {
  for (const { name, body } of PICTURES) {
    origin.route(`/${name}.png`, ({ reply }) => reply(200, { "content-type": "image/png" }, body));
  }
}

async function picturesOf(app: AppPage) {
  const frame = await app.content();
  return {
    waiting: frame.getByRole("button", { name: /^\w+: load, \d+ kB$/ }),
    shown: frame.getByRole("img", { name: /^\w+$/ }),
  };
}

test("pictures that would pass the page's budget wait, and a tap loads that one", async ({ app, origin }) => {
  servePictures(origin);
  origin.page("/", IMAGES);
  await choosePictures(app, "off", "300 kB");
  const before = (await app.stats()).linkBytesDown;
  await app.goto(`${origin.origin}/`);
  const { waiting, shown } = await picturesOf(app);
  await expect(waiting).toHaveCount(2);
  await expect(shown).toHaveCount(3);
  expect((await app.stats()).linkBytesDown - before).toBeLessThan(300_000);

  const name = (await waiting.first().getAttribute("alt")) ?? "";
  const { length } = PICTURES.find((each) => each.name === name)?.body ?? [];
  await expect(waiting.first()).toHaveAccessibleName(`${name}: load, ${Math.ceil((length ?? 0) / 1000)} kB`);
  origin.forget();
  await waiting.first().tap();
  await expect(waiting).toHaveCount(1);
  await expect(shown).toHaveCount(4);
  await expect.poll(() => origin.requests.map(({ path }) => path)).toEqual([`/${name}.png`]);
});

test("what has come before the pictures counts, and is never held back", async ({ app, origin }) => {
  servePictures(origin);
  const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(65_000))).toString("hex");
  const script = `/* ${noise} */ onload = () => { document.body.innerHTML += ${JSON.stringify(IMAGES)}; };`;
  origin.route("/first.js", ({ reply }) => reply(200, { "content-type": "text/javascript" }, script));
  origin.page("/", '<script src="/first.js"></script>');
  await choosePictures(app, "off", "150 kB");
  await app.goto(`${origin.origin}/`);
  const { waiting, shown } = await picturesOf(app);
  await expect(shown).toHaveCount(0);
  await expect(waiting).toHaveCount(PICTURES.length);
});
