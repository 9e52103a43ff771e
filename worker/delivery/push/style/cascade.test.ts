import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DocumentScanner } from "../document-scanner.ts";
import { filesOf } from "./cascade.ts";
import { PageElements } from "./page-elements.ts";
import { readStyleSheet } from "./style-sheet.ts";

const VIEWPORT = { width: 412, height: 915, density: 2 };

/** Addresses that a page asks for because of its style sheets. */
function filesFor(html: string, ...sheets: readonly string[]): string[] {
  const elements = new PageElements();
  const ignore = (): void => {};
  const handler = {
    onResource: ignore,
    onBase: ignore,
    onReferrerPolicy: ignore,
    onContentSecurityPolicy: ignore,
    onStyle: ignore,
  };
  new DocumentScanner(handler, VIEWPORT, true, elements).write(html);
  const read = sheets.map((text) => ({ url: "https://site.example/a.css", sheet: readStyleSheet(text, VIEWPORT) }));
  return filesOf(elements.all, read).map(({ url }) => url);
}

const face = (family: string, more = "", url = family): string =>
  `@font-face{font-family:${family};src:url(${url});${more}}`;

describe("a font is asked for", () => {
  const ab = face("A") + face("B");
  it.each<[string, string, string, string[]]>([
    ["that text is in", "<p>x", "p{font-family:A}", ["A"]],
    ["by inheritance", "<div class=a><p>x", ".a{font-family:B}", ["B"]],
    ["by the page itself", "x<br>", "html{font-family:A}", ["A"]],
    ["not by elements without text", "<p> <i></i>", "p,i{font-family:A}", []],
    ["not by what is not there", "<p>x", "h1{font-family:A}.a,#a,p.b,div>p{font-family:B}", []],
    ["not by what is overridden", "<p class=a>x", ".a{font-family:A}p{font-family:B}", ["A"]],
    ["by what is important", "<p class=a>x", ".a{font-family:A}p{font-family:B!important}", ["B"]],
    ["by what is in no layer", "<p class=a>x", "p{font-family:A}@layer q{.a{font-family:B}}", ["A"]],
    ["by a style attribute", "<p style='font-family:B'>x", "p{font-family:A}", ["B"]],
    ["in the shorthand", "<p>x", "p{font:italic bold 12px/1.5 'A', serif}", ["A"]],
    ["in the shorthand with a size of a function", "<p>x", "p{font:calc(1px + 1em)/normal B}", ["B"]],
    ["by a variable", "<p>x", ":root{--f:'A',serif;--g:var(--f)}p{font-family:var(--g)}", ["A"]],
    ["by what stands in for a variable", "<p>x", "p{font-family:var(--no, B, serif)}", ["B"]],
    ["if it is the first that is there", "<p>x", "p{font-family:Unheard, A, B}", ["A"]],
    ["unless phones have one of a name before it", "<p>x", "p{font-family:Arial, A}", []],
    ["not by what is not shown", "<div hidden>x</div><p>x", "p{display:none}*{font-family:A}", []],
    ["not by templates and scripts", "<template>x</template><script>x</script>", "*{font-family:A}", []],
    ["by what a pseudo-element says", "<i class=a></i>", ".a{font-family:A}.a::before{content:'\\f101'}", ["A"]],
    ["by a pseudo-element", "<i class=a></i>", ".a:after{content:'x';font-family:B}", ["B"]],
    ["not by one without content", "<i class=a></i>", ".a:after{font-family:B}.a:before{content:none;font:1em A}", []],
    [
      "not where somebody has to do something",
      "<a href=x>x",
      "a:hover{font-family:A}a:focus::after{content:'x';font:1em B}",
      [],
    ],
    ["not by fields, which have their own", "<input value=x><button>x</button>", "body{font-family:A}", []],
    ["by fields that inherit", "<input value=x>", "body{font-family:A}input{font:inherit}", ["A"]],
    ["not by MathML", "<math><mi>x</mi></math>", "body{font-family:A}", []],
    [
      "by what comes later in the selector's list",
      "<ul><li>a<li class=b>b</ul>",
      "li:first-child{font:1em A}li+.b{font:1em B}",
      ["A", "B"],
    ],
    ["by attributes", "<a href='/x.pdf'>x", "a[href$='.pdf']{font-family:A}a[href^=http]{font-family:B}", ["A"]],
    ["by escaped names", "<p class='md:a'>x", ".md\\:a{font-family:A}", ["A"]],
    ["by one of several", "<p class=a>x", ":is(.a,.b):not(.c){font-family:A}:where(p){font-family:B}", ["A"]],
  ])("%s", (_, html, css, urls) => {
    expect(filesFor(html, ab + css)).toEqual(urls);
  });

  it.each<[string, string[]]>([
    ["<p>x", ["400"]],
    ["<p><b>x</b>", ["700"]],
    ["<h2>x</h2>", ["700"]],
    ["<p style=font-weight:600>x", ["700"]],
    ["<p style=font-weight:500>x", ["400"]],
    ["<p style=font-weight:100>x", ["300"]],
    ["<p><em>x</em>", ["italic"]],
    ["<p>x <b>y</b> <i>z</i>", ["400", "700", "italic"]],
  ])("in its weight and style: %s", (html, urls) => {
    const faces = ["300", "400", "700"].map((weight) => face("A", `font-weight:${weight}`, weight)).join("");
    expect(filesFor(html, `${faces}${face("A", "font-style:italic", "italic")}body{font-family:A}`)).toEqual(urls);
  });

  it("in the ranges that text has characters of", () => {
    const faces = face("A", "unicode-range:U+400-4FF", "cyrillic") + face("A", "unicode-range:U+0-FF,U+20??", "latin");
    expect(filesFor("<p>plain", `${faces}p{font-family:A}`)).toEqual(["latin"]);
    expect(filesFor("<p>‘plain’ и", `${faces}p{font-family:A}`)).toEqual(["latin", "cyrillic"]);
    expect(filesFor("<p>и", `${face("B", "unicode-range:U+26", "ampersand")}${faces}p{font-family:B,A}`)).toEqual([
      "cyrillic",
    ]);
  });

  it.each<[string, string[]]>([
    [
      "url(a.eot);src:url(a.eot?#iefix) format('embedded-opentype'),url(a.woff2) format('woff2'),url(a.woff)",
      ["a.woff2"],
    ],
    ["url(a.svg#x) format(svg), url(a.ttf) format('truetype')", ["a.ttf"]],
    ["url(a.eot), url(a.woff)", ["a.woff"]],
    ["url(data:font/woff2;base64,AA), url(a.woff)", []],
    ["local('Open Sans'), url(a.woff)", ["a.woff"]],
    ["local('Roboto'), url(a.woff)", []],
    ["url('a.woff2') format(woff2) tech(variations)", ["a.woff2"]],
  ])("from the first source that browsers take of %s", (src, urls) => {
    expect(filesFor("<p>x", `@font-face{font-family:A;src:${src}}p{font-family:A}`)).toEqual(urls);
  });
});

describe("a background is asked for", () => {
  it.each<[string, string, string, string[]]>([
    ["of elements that are shown", "<p>", "p{background:red url(a)}b{background:url(b)}", ["a"]],
    ["all layers of it", "<p>", "p{background-image:url(a),linear-gradient(red,red),url('b')}", ["a", "b"]],
    ["once", "<p><p>", "p{background:url(a)}", ["a"]],
    ["not where another wins", "<p class=a>", ".a{background:none}p{background:url(a)}", []],
    ["not of what is in something hidden", "<div style='display:none'><p>", "p{background:url(a)}", []],
    ["by a media query that holds", "<p>", "p{background:url(a)}@media(max-width:600px){p{background:url(b)}}", ["b"]],
    [
      "of pseudo-elements that are there",
      "<p>",
      "p::before{content:'';background:url(a)}p:after{background:url(b)}",
      ["a"],
    ],
    ["not in data", "<p>", "p{background:url(data:image/png,x)}", []],
    ["not where the screen decides", "<p>", "p{background:image-set(url(a) 1x, url(b) 2x)}", []],
  ])("%s", (_, html, css, urls) => {
    expect(filesFor(html, css)).toEqual(urls);
  });
});

it("a nonce is no more to be seen than in a browser", () => {
  const html = "<script nonce=secret></script><p nonce=secret>";
  expect(filesFor(html, "script{display:block}[nonce^=s],p:is([nonce]){background:url(a)}")).toEqual([]);
});

it("fields that nobody can read ask for nothing", () => {
  const html = "<input type=hidden value=secret><input type=password value=secret>";
  const css = `${face("A")}input{display:block;font-family:A}[value^=s][type=hidden]{background:url(a)}`;
  expect(filesFor(html, css)).toEqual([]);
});

it("a <style> of another type is none", () => {
  const styles: string[] = [];
  const ignore = (): void => {};
  const handler = { onResource: ignore, onBase: ignore, onReferrerPolicy: ignore, onContentSecurityPolicy: ignore };
  const scanner = new DocumentScanner({ ...handler, onStyle: (text) => styles.push(text) }, VIEWPORT);
  scanner.write("<style type=text/less>a</style><style type=TEXT/CSS>b</style><style type>c</style><style>d</style>");
  expect(styles).toEqual(["b", "c", "d"]);
});

describe("of style sheets that nobody here wrote", () => {
  const sheetOf = (path: string): string =>
    readFileSync(new URL(`../../../../node_modules/${path}`, import.meta.url), "utf8");

  it("KaTeX's formulas need some of its 20 fonts", async () => {
    const { default: katex } = await import("katex");
    const formula = katex.renderToString("\\sum_{i=1}^{n} x_i + \\mathbb{R}");
    const files = filesFor(`<p>Text</p>${formula}`, sheetOf("katex/dist/katex.css"));
    expect(files.toSorted()).toEqual(
      ["AMS-Regular", "Main-Regular", "Math-Italic", "Size1-Regular"].map((name) => `fonts/KaTeX_${name}.woff2`),
    );
    expect(filesFor("<p class=katex>", sheetOf("katex/dist/katex.css"))).toEqual([]);
  });

  it.each(["spectre.css/dist/spectre.css", "swagger-ui-dist/swagger-ui.css", "reveal.js/dist/reveal.css"])(
    "%s needs nothing on a plain page",
    (path) => {
      const html = "<h1>Title</h1><p class='swagger-ui reveal container'>Text <b>bold</b> <button class=btn>x</button>";
      expect(filesFor(html, sheetOf(path))).toEqual([]);
    },
  );
});
