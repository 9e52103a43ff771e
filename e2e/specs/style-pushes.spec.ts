import { glyphFont } from "../demo/glyph-font.ts";
import { tilePicture } from "../demo/hundred-fifty.ts";
import { expect, test } from "../fixtures/browser.ts";

const CORS = { "access-control-allow-origin": "*" };

test("fonts and backgrounds that a page shows come once, pushed; the others of its style sheets are not asked for", async ({
  app,
  origin,
  otherOrigin,
}) => {
  for (const [host, name] of [
    [origin, "own"],
    [otherOrigin, "other"],
  ] as const) {
    for (const font of ["used", "unused"])
      host.route(`/f/${font}.woff`, ({ reply }) => reply(200, { "content-type": "font/woff", ...CORS }, glyphFont()));
    for (const [number, picture] of ["shown", "not-shown"].entries())
      host.route(`/${picture}.png`, ({ reply }) => reply(200, { "content-type": "image/png" }, tilePicture(number)));
    const css = `
@font-face { font-family: used-${name}; src: url(../f/used.woff) format("woff") }
@font-face { font-family: unused-${name}; src: url(../f/unused.woff) }
:root { --icons-${name}: used-${name}, serif }
.icon-${name}::before { content: "\\e001"; font-family: var(--icons-${name}) }
p, .none { font-family: unused-${name} }
p.${name}, section p { font-family: serif }
section.${name} { height: 50px; background: linear-gradient(#0008, #0008), url("/shown.png") }
section.${name}:hover, .none, section { background: url("/not-shown.png") }
@media print { section.${name} { background: url("/not-shown.png") } }`;
    host.route("/css/a.css", ({ reply }) => reply(200, { "content-type": "text/css", ...CORS }, css));
  }
  const links = [origin, otherOrigin].map((host) => `<link rel="stylesheet" href="${host.origin}/css/a.css">`);
  const parts = ["own", "other"].map(
    (name) => `<i class="icon-${name}"></i><section class="${name}"><p class="${name}">Text</p></section>`,
  );
  origin.page("/styled", links.join("") + parts.join(""));
  const before = await app.stats();
  await app.goto(`${origin.origin}/styled`);
  await expect(app.frame().getByText("Text").first()).toBeVisible();
  const faces = app.frame().locator("body");
  await expect
    .poll(() => faces.evaluate(() => [...document.fonts].map(({ family, status }) => `${family} ${status}`).toSorted()))
    .toEqual(["unused-other unloaded", "unused-own unloaded", "used-other loaded", "used-own loaded"]);
  await expect.poll(async () => (await app.stats()).pushesClaimed - before.pushesClaimed).toBe(6);
  expect((await app.stats()).pushes - before.pushes).toBe(6);
  const asked = [origin, otherOrigin].map(({ requests }) => requests.map(({ path }) => path).toSorted());
  expect(asked).toEqual([
    ["/css/a.css", "/f/used.woff", "/shown.png", "/styled"],
    ["/css/a.css", "/f/used.woff", "/shown.png"],
  ]);
  expect(origin.requestsTo("/f/used.woff")[0]?.headers.referer).toBe(`${origin.origin}/css/a.css`);
});
