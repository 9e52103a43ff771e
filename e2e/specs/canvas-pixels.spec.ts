/** Pixels that scripts read are those of the origin's picture, whatever the person has chosen for pictures. */
import { photo } from "../demo/pictures.ts";
import { expect, test } from "../fixtures/browser.ts";
import { choosePictures } from "../fixtures/picture-settings.ts";

/** Draws the picture, and beside it what a script fetched of it: how many of their pixels differ, and how many bytes came. */
const COMPARE = `
  async function compare() {
    const image = document.querySelector("img");
    await image.decode();
    const answer = await fetch(image.src);
    const blob = await answer.blob();
    const pixelsOf = (source) => {
      const canvas = document.createElement("canvas");
      Object.assign(canvas, { width: image.naturalWidth, height: image.naturalHeight });
      const context = canvas.getContext("2d");
      context.drawImage(source, 0, 0);
      return context.getImageData(0, 0, canvas.width, canvas.height).data;
    };
    const [shown, original] = [pixelsOf(image), pixelsOf(await createImageBitmap(blob))];
    return { bytes: blob.size, differing: shown.filter((value, at) => value !== original[at]).length };
  }`;

for (const [whose, attributes] of [
  ["of the page's own origin", ""],
  ["that is asked for in CORS mode", "crossorigin"],
] as const) {
  test(`a canvas has the original's pixels of a picture ${whose}`, async ({ app, origin, otherOrigin }) => {
    const picture = photo("harbour", 600);
    const from = attributes === "" ? origin : otherOrigin;
    const head = { "content-type": "image/png", "access-control-allow-origin": "*" };
    from.route("/read.png", ({ reply }) => reply(200, head, picture));
    origin.page("/", `<script>${COMPARE}</script><img ${attributes} src="${from.origin}/read.png">`);
    // Of a page that reads none they come smaller: the choice holds.
    otherOrigin.route("/plain.png", ({ reply }) => reply(200, { "content-type": "image/png" }, picture));
    otherOrigin.page("/", '<img src="/plain.png">');
    await choosePictures(app, "balanced");

    const before = (await app.stats()).linkBytesDown;
    await app.goto(`${otherOrigin.origin}/`);
    expect((await app.stats()).linkBytesDown - before).toBeLessThan(picture.length * 0.7);

    await app.goto(`${origin.origin}/`);
    const compared = await (await app.content()).evaluate("compare()");
    expect(compared).toEqual({ bytes: picture.length, differing: 0 });
  });
}
