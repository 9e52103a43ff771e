import { expect, test } from "vitest";
import { placeInPage } from "../../messages/lite-messages.ts";
import { placesInSheet, placesInStyle, StylePlaces } from "./lite-document.ts";

const SHEET = "https://a.example/css/main.css";
const placeOf = (written: string) => placeInPage(written, SHEET, "https://a.example");
const PLACE = "/~https:a.example";

const CASES = [
  ["a { background: url(/x.png) }", `a { background: url("${PLACE}/x.png") }`],
  ["a { background: URL( '/x y.png' ) }", `a { background: URL("${PLACE}/x%20y.png") }`],
  ["a{background:url(../../x.png)}", `a{background:url("${PLACE}/x.png")}`],
  ["a{background:url(https://a.example/x.png),url(/y)}", `a{background:url("${PLACE}/x.png"),url("${PLACE}/y")}`],
  [String.raw`a{background:url(\2f x.png)}`, `a{background:url("${PLACE}/x.png")}`],
  [`a{background:url("/x'(1).png")}`, String.raw`a{background:url("/~https:a.example/x\27 \28 1\29 .png")}`],
  [`@import "/x.css" layer(base); a { content: "/" }`, `@import "${PLACE}/x.css" layer(base); a { content: "/" }`],
  [
    `a{background:image-set("/x.png" 1x,'/y.png' 2x);content:'/'}`,
    `a{background:image-set("${PLACE}/x.png" 1x,'${PLACE}/y.png' 2x);content:'/'}`,
  ],
  ["@font-face{src:url(/f.woff2)format('woff2')}", `@font-face{src:url("${PLACE}/f.woff2")format('woff2')}`],
  ["a{filter:url(#part)} b{background:url(x.png)}", null],
  ["a{background:url(//b.example/x.png) url(data:image/png;base64,/x)}", null],
  ['/* url(/x) } */ a{content:"url(/x)"}', null],
  [`a{content:"\\"url(/x)"} b{content:'/`, null],
  ["a{background:url(/x", null],
  ["a{background:url(", null],
  ["@imp", null],
] as const;

test.each(CASES)("%s", (css, changed) => {
  expect(placesInStyle(css, placeOf)).toBe(changed ?? css);
});

test.each(CASES)("%s, in pieces", (css, changed) => {
  for (let cut = 1; cut < css.length; cut++) {
    const places = new StylePlaces(placeOf);
    const out = places.write(css.slice(0, cut)) + places.write(css.slice(cut)) + places.end();
    expect(out, `cut at ${cut}`).toBe(changed ?? css);
  }
  const places = new StylePlaces(placeOf);
  expect([...css].map((each) => places.write(each)).join("") + places.end()).toBe(changed ?? css);
});

test("what is long passes as it is, and what follows is changed", () => {
  const long = `a{background:url(data:,${"x".repeat(50_000)})}/*${"*".repeat(50_000)}*/b{content:"${"y".repeat(50_000)}"}`;
  const places = new StylePlaces(placeOf);
  let out = "";
  for (let at = 0; at < long.length; at += 1_000) out += places.write(long.slice(at, at + 1_000));
  out += places.write("c{background:url(/x)}") + places.end();
  expect(out).toBe(`${long}c{background:url("${PLACE}/x")}`);
});

// Whatever reads a character more than a few times is not through with this in a minute.
test.each(["url(", "url( ", "url('", `"`, "/*", "\\", "url(\\", "@import", "{", `image-set("x`, " "])(
  "a megabyte of '%s' passes",
  (part) => {
    const text = part.repeat(1_000_000 / part.length);
    const places = new StylePlaces(placeOf);
    let out = places.write(`url(${text}`);
    for (let at = 0; at < text.length; at += 10_000) out += places.write(text.slice(at, at + 10_000));
    expect(out + places.end() === `url(${text}${text}`).toBe(true);
  },
);

test("a sheet's bytes stay as they are, in any encoding that has ASCII", async () => {
  const bytes = Uint8Array.from([...Array(256).keys()].filter((byte) => !"\"'/".includes(String.fromCharCode(byte))));
  const css = new Blob([bytes, "a{background:url(/\u00fc.png)}", bytes]).stream();
  const out = new Uint8Array(await new Response(css.pipeThrough(placesInSheet(SHEET))).arrayBuffer());
  const changed = new TextEncoder().encode(`a{background:url("${PLACE}/%C3%BC.png")}`);
  expect([...out]).toEqual([...bytes, ...changed, ...bytes]);
});
