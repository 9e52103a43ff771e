import type { Frame, Page } from "@playwright/test";
import { tilePicture } from "../demo/hundred-fifty.ts";
import { expect, test } from "../fixtures/browser.ts";

const XHTML = 'xmlns="http://www.w3.org/1999/xhtml"';
const LOG =
  "document.documentElement.setAttribute('data-ran', document.contentType + ' ' + document.querySelectorAll('*').length)";

/** Type lines, and what is in it. A script in it tells what it sees. */
const SHOWN: Readonly<Record<string, readonly [types: readonly string[], body: string | Buffer]>> = {
  "two types": [["text/html", "text/html; charset=koi8-r"], "<!doctype html><title>Two</title><p>Two"],
  "no type": [[], "<!doctype html><title>None</title><p>None"],
  "an unknown type": [["unknown/unknown"], "<html><p>Unknown"],
  "no type, plain": [[], "\n\n  plain <b>text</b>"],
  JSON: [["application/json"], '{"a": "<b>"}'],
  "a script": [["application/x-javascript"], "alert(1)"],
  XHTML: [
    ["application/xhtml+xml"],
    `<?xml version="1.0"?><!DOCTYPE html><html ${XHTML}><head><title>X&#233;</title><script src="/log.js"/><script>//<![CDATA[
if (1 < 2 && true) document.documentElement.lang = "en";
//]]></script></head><body><p>X<![CDATA[<i>]]></p><iframe src="/inner"/></body></html>`,
  ],
  SVG: [
    ["image/svg+xml"],
    '<!DOCTYPE svg [<!ENTITY ns "http://www.w3.org/2000/svg">]><svg xmlns="&ns;" width="9" height="9"><title>S</title><rect width="9" height="9"/><script href="/log.js"/></svg>',
  ],
  "XML with a style sheet": [
    ["text/xml"],
    '<?xml version="1.0" encoding="UTF-8"?><?xml-stylesheet type="text/css" href="/xml.css"?><a><b>Styled</b></a>',
  ],
  "XML with a script": [["application/xml"], `<a><b>x</b><script ${XHTML} src="/log.js"/></a>`],
  "a picture": [["image/jpg"], Buffer.alloc(0)],
};

/** How pictures look is not compared. */
async function read(frame: Page | Frame) {
  return frame.evaluate(() => {
    const said = (document: Document) => {
      const root = document.documentElement;
      const first = document.querySelector("a > b");
      for (const each of document.querySelectorAll("body, img"))
        if (document.images.length > 0) each.removeAttribute("style");
      return {
        type: document.contentType,
        mode: document.compatMode,
        doctype: document.doctype?.name,
        colour: first === null ? "" : getComputedStyle(first).color,
        // The browser's own viewer adds a picture's size to its title.
        markup: root.outerHTML.replace(/ style=""| \(\d+×\d+\)/g, "").replaceAll(location.origin, ""),
      };
    };
    const frames = [...document.querySelectorAll("iframe")];
    return frames.map(({ contentDocument }) => (contentDocument === null ? null : said(contentDocument)));
  });
}

test("what answers in a frame is of the kind that the browser takes it for", async ({ app, direct, origin }) => {
  const all = Object.values(SHOWN);
  for (const [index, [types, body]] of all.entries())
    origin.route(`/${index}`, ({ response }) => {
      if (types.length > 0) response.setHeader("content-type", types);
      response.end(body.length === 0 ? tilePicture(1) : body);
    });
  origin.route("/log.js", ({ reply }) => reply(200, { "content-type": "text/javascript" }, LOG));
  origin.route("/xml.css", ({ reply }) => reply(200, { "content-type": "text/css" }, "b{color:rgb(1,2,3)}"));
  origin.page("/inner", "<p>Inner");
  origin.page("/", all.map((_, index) => `<iframe src="/${index}"></iframe>`).join(""));
  await direct.page.goto(`${origin.origin}/`);
  const wanted = await read(direct.page);
  expect(wanted.map((each) => each?.type)).toEqual([
    ...["text/html", "text/html", "text/html", "text/plain", "application/json", "application/x-javascript"],
    ...["application/xhtml+xml", "image/svg+xml", "text/xml", "application/xml", "image/jpg"],
  ]);
  await app.goto(`${origin.origin}/`);
  const shown = await read(await app.content());
  for (const [index, name] of Object.keys(SHOWN).entries()) expect(shown[index], name).toEqual(wanted[index]);
});

test("the page itself may be XML, and what is saved by the browser is saved", async ({ app, origin }) => {
  const route = (path: string, type: string, body: string) =>
    origin.route(path, ({ reply }) => reply(200, { "content-type": type }, body));
  const link = (path: string) => `<a href="${path}">${path}</a>`;
  route(
    "/drawn.svg",
    "image/svg+xml",
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><title>Drawn</title><a href="/plain.xml"><text y="5">go</text></a></svg>`,
  );
  route("/plain.xml", "text/xml", "<list><entry>One</entry></list>");
  route(
    "/page.xhtml",
    "application/xhtml+xml",
    `<html ${XHTML}><head><title>Strict</title></head><body><form method="post" action="/echo"><input name="a" value="b"/><button>Send</button></form></body></html>`,
  );
  origin.page("/", `<p>Shelf</p>${["/a.ics", "/b.csv", "/c.vcf"].map(link).join(" ")}`);
  for (const [path, type] of [
    ["/a.ics", "text/calendar"],
    ["/b.csv", "text/csv"],
    ["/c.vcf", "text/vcard"],
  ] as const)
    route(path, type, "x");

  await app.goto(`${origin.origin}/drawn.svg`);
  await expect(app.page).toHaveTitle(/Drawn/);
  await app.navigated(() => app.frame().getByText("go").click());
  await expect(app.frame().locator("#webkit-xml-viewer-source-xml entry")).toHaveText("One");
  await expect(app.address).toHaveValue(`${origin.origin}/plain.xml`);
  await app.goto(`${origin.origin}/page.xhtml`);
  await expect(app.page).toHaveTitle(/Strict/);
  await app.navigated(() => app.frame().getByRole("button").click());
  await expect(app.frame().getByText('"body":"a=b"')).toBeVisible();
  await app.goto(`${origin.origin}/`);
  for (const name of ["a.ics", "b.csv", "c.vcf"]) {
    const started = app.page.waitForEvent("download");
    await app.frame().getByText(name).click();
    expect((await started).suggestedFilename()).toBe(name);
  }
});
