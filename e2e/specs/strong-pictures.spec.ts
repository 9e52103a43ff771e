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
  const bytes = bodies.reduce((sum, { length }) => sum + length, 0);
  let visit = 0;
  const open = async (): Promise<void> => {
    visit++;
    names.forEach((name, index) => {
      origin.route(`/${visit}/${name}.png`, ({ reply }) => reply(200, { "content-type": "image/png" }, bodies[index]));
    });
    const images = names.map((name) => `<img src="${name}.png" alt="${name}" style="max-width: 100%">`).join("");
    origin.page(`/${visit}/`, `${images}<script>let taps = 0; onclick = () => taps++;</script>`);
    await app.goto(`${origin.origin}/${visit}/`);
  };
  test.setTimeout(180_000);
  await choosePictures(app, "strong");
  // An edge that is busy sends pictures as they are rather than late, and takes a minute to forget that it was busy. The
  // second picture waits for the first, and may be late: it is enough that the first comes smaller.
  await expect
    .poll(
      async () => {
        const before = (await app.stats()).linkBytesDown;
        await open();
        return (await app.stats()).linkBytesDown - before;
      },
      { timeout: 120_000, intervals: [100, 1_000, 5_000] },
    )
    .toBeLessThan(bytes - (bodies[0]?.length ?? 0) / 2);
  const frame = await app.content();
  const sizes = () =>
    frame.evaluate(() => [...document.images].map((each) => `${each.naturalWidth} ${each.width}x${each.height}`));
  const asSmall = await sizes();

  const small = (await app.stats()).linkBytesDown;
  origin.forget();
  await frame.getByRole("img", { name: "harbour" }).tap();
  await expect
    .poll(async () => (await app.stats()).linkBytesDown - small)
    .toBeGreaterThan((bodies[0]?.length ?? 0) * 0.9);
  expect(origin.requests.map(({ path }) => path)).toEqual([`/${visit}/harbour.png`]);
  await expect.poll(sizes).toEqual(asSmall);
  expect(await frame.evaluate("taps")).toBe(1);
});
