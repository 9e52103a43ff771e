import { hundredFiftyPage, PICTURE_BYTES, tilePicture } from "../demo/hundred-fifty.ts";
import { expect, SLOW_LINK, test } from "../fixtures/browser.ts";
import type { Exchange } from "../fixtures/test-origin/test-exchange.ts";

const PICTURES = 150;
const HEAD_BYTES_PER_PICTURE = 25;

test.describe("the paper's page of 150 pictures", () => {
  test.use({ linkSpeed: SLOW_LINK, experiment: { channels: 1 } });

  test("comes whole through one socket with small request heads @long", async ({ app, origin, link, network }) => {
    let document: Exchange | undefined;
    let before = await app.stats();
    origin.route("/150/", (exchange) => {
      document = exchange;
    });
    for (let number = 1; number <= PICTURES; number++) {
      const picture = tilePicture(number);
      origin.route(`/150/tile-${number}.png`, ({ reply }) => reply(200, { "content-type": "image/png" }, picture));
    }
    await app.navigated(async () => {
      await app.ask(`${origin.origin}/150/`);
      // The page's own request head has left the phone when it is at the origin, so only the pictures' are counted.
      await origin.requestTo("/150/");
      before = await app.stats();
      document?.page(hundredFiftyPage());
    });
    const pictures = app.frame().locator("img");
    await expect(pictures).toHaveCount(PICTURES);
    await expect
      .poll(() =>
        pictures.evaluateAll((all) => all.filter((each) => (each as HTMLImageElement).naturalWidth === 36).length),
      )
      .toBe(PICTURES);

    const after = await app.stats();
    expect(after.sockets).toBe(1);
    expect(link.webSockets).toBe(1);
    expect(network.leaks("localhost")).toEqual([]);
    expect(after.requests - before.requests).toBeGreaterThanOrEqual(PICTURES);
    expect(after.originBytes - before.originBytes).toBeGreaterThanOrEqual(PICTURES * PICTURE_BYTES);
    const headBytes = (after.requestHeadBytes - before.requestHeadBytes) / PICTURES;
    test.info().annotations.push({ type: "bytes of request head for each picture", description: headBytes.toFixed(2) });
    expect(headBytes).toBeLessThanOrEqual(HEAD_BYTES_PER_PICTURE);
  });
});

test("responses overtake each other when the origin answers in reverse", async ({ app, origin }) => {
  const count = 20;
  const held: Exchange[] = [];
  const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
  // The next answer goes out only after the page has shown the one before, so only true overtaking gets through.
  const answerNext = (): void => held.pop()?.reply(200, { "content-type": "image/svg+xml" }, picture);
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  for (const number of numbers) {
    origin.route(`/${number}.svg`, (exchange) => {
      held.push(exchange);
      if (held.length === count) answerNext();
    });
    origin.route(`/shown/${number}`, ({ reply }) => {
      reply(204, {});
      answerNext();
    });
  }
  const images = numbers.map((number) => `<img src="/${number}.svg" onload="fetch('/shown/${number}')">`).join("");
  origin.page("/", images);
  await app.goto(`${origin.origin}/`);
  await expect.poll(() => origin.requests.filter(({ path }) => path.startsWith("/shown/")).length).toBe(count);
  const asked = origin.requests.flatMap(({ path }) => /^\/(\d+)\.svg$/.exec(path)?.[1] ?? []);
  const shown = origin.requests.flatMap(({ path }) => /^\/shown\/(\d+)$/.exec(path)?.[1] ?? []);
  expect(shown).toEqual(asked.toReversed());
});
