/** "Much smaller": a tap on a picture loads it as its site sends it, and goes on to the page. */
import { photo } from "../demo/pictures.ts";
import { expect, test } from "../fixtures/browser.ts";
import { choosePictures } from "../fixtures/picture-settings.ts";

test("a tap on a picture that came much smaller loads the original, with the same size on the page", async ({
  app,
  origin,
}) => {
  const names = ["harbour", "ferry"];
  const bodies = names.map((name) => photo(name, 600));
  names.forEach((name, index) => {
    origin.route(`/${name}.png`, ({ reply }) => reply(200, { "content-type": "image/png" }, bodies[index]));
  });
  const images = names.map((name) => `<img src="/${name}.png" alt="${name}" style="max-width: 100%">`).join("");
  origin.page("/", `${images}<script>let taps = 0; onclick = () => taps++;</script>`);
  await choosePictures(app, "strong");
  const before = (await app.stats()).linkBytesDown;
  await app.goto(`${origin.origin}/`);
  const frame = await app.content();
  const sizes = () =>
    frame.evaluate(() => [...document.images].map((each) => `${each.naturalWidth} ${each.width}x${each.height}`));
  const asSmall = await sizes();
  const bytes = bodies.reduce((sum, { length }) => sum + length, 0);
  expect((await app.stats()).linkBytesDown - before).toBeLessThan(bytes / 3);

  const small = (await app.stats()).linkBytesDown;
  origin.forget();
  await frame.getByRole("img", { name: "harbour" }).tap();
  await expect
    .poll(async () => (await app.stats()).linkBytesDown - small)
    .toBeGreaterThan((bodies[0]?.length ?? 0) * 0.9);
  expect(origin.requests.map(({ path }) => path)).toEqual(["/harbour.png"]);
  expect(await sizes()).toEqual(asSmall);
  expect(await frame.evaluate("taps")).toBe(1);
});
