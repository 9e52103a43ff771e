import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { filesOf } from "./cascade.ts";
import { PageElements } from "./page-elements.ts";
import { readStyleSheet } from "./style-sheet.ts";

const VIEWPORT = { width: 412, height: 915, density: 2 };

it.each<[string, string[], boolean]>([
  ["", [], false],
  ['@import "a.css";', ["a.css"], false],
  ["@import 'a.css'; @import url(b.css); @import url( \"c.css\" );", ["a.css", "b.css", "c.css"], false],
  ['@charset "utf-8"; /* @import "no"; */ @layer x, y;\n@IMPORT "a.css" layer(x);p{}', ["a.css"], true],
  ['@import "a.css" print; @import "b.css" (min-width: 500px); @import "c.css" screen;', ["c.css"], false],
  ['@import url("a.css") (min-width: 400px);', ["a.css"], false],
  ['@import "a.css" supports(display: grid);', [], false],
  ['p { } @import "a.css";', [], true],
  ['@media screen { } @import "a.css";', [], true],
  ["@font-face { src: url(a.woff) }", [], true],
  ['@import "a.css";\n@impor', ["a.css"], false],
  ['@import "a', [], false],
  ["/* a long comment", [], false],
  ["@import url(data:text/css,p%7B%7D);", ["data:text/css,p%7B%7D"], false],
])("%j imports %j", (text, imports, isPastImports) => {
  expect(readStyleSheet(text, VIEWPORT)).toMatchObject({ imports, isPastImports });
});

/** Its names of classes. */
function rulesOf(text: string): string[] {
  return readStyleSheet(text, VIEWPORT).rules.flatMap(({ selectors }) =>
    selectors.map(({ compounds }) => compounds[0]?.classes.join() ?? ""),
  );
}

it.each<[string, string[]]>([
  [".a{color:red}.b{font:1em x}.c{background:url(y)}", ["b", "c"]],
  ["@media screen{.a{display:none}}@media print{.b{display:none}}.c{display:none}", ["a", "c"]],
  ["@media (max-width:500px){.a{display:none}}@media (min-width:500px){.b{display:none}}", ["a"]],
  ["@media (prefers-color-scheme:dark){.a{display:none}}.b{display:none}", ["b"]],
  ["@supports (x:y){.a{display:none}}@supports not (x:y){.b{display:none}}@layer q{.c{display:none}}", ["a", "c"]],
  [".a{display:none;&:hover .b{display:none}.c{display:none}}.d{display:none}", ["a", "d"]],
  [".a{background:url(data:x;y}z)}.b{display:none", ["a", "b"]],
  ["}.a{display:none}<!-- .b{display:none}", ["a", "b"]],
  ["@keyframes x{from{display:none}}.a{display:none}", ["a"]],
  [".a:hover,.b,.c::selection,.d:not(:focus){display:none}", ["b", "d"]],
])("of %j the rules %j are read", (text, classes) => {
  expect(rulesOf(text)).toEqual(classes);
});

it("reads hostile text in one pass", () => {
  const space = " ".repeat(30_000);
  const texts = [
    "/*".repeat(15_000),
    `@import ${"url(".repeat(8_000)}`,
    `@import url(${space}x${space}`,
    `@import "a" layer(${space}${space}x;`,
    `@charset${space}`,
    "@media all{".repeat(3_000),
    "a{".repeat(15_000),
    `a{background:${"var(--a,".repeat(4_000)}`,
    `:root{--a:var(--a)}a{font:var(--a)}`,
    `${":not(".repeat(6_000)}{display:none}`,
    `${"a ".repeat(15_000)}{display:none}`,
    `${"a,".repeat(15_000)}a{display:none}`,
    `@font-face{src:${"url(a),".repeat(5_000)}`,
    "[".repeat(30_000),
    "\\".repeat(30_000),
  ];
  const elements = new PageElements();
  for (let each = 0; each < 50; each++) elements.open("a", { style: "font:var(--a) x" });
  // What goes back over the text takes longer than a test may.
  for (let round = 0; round < 10; round++)
    for (const text of texts) {
      const sheet = readStyleSheet(text, VIEWPORT);
      expect(filesOf(elements.all, [{ url: "https://a.example/", sheet }])).toEqual([]);
    }
});

it("matching ends, whatever selectors and elements there are", () => {
  const elements = new PageElements();
  for (let depth = 0; depth < 4_000; depth++) elements.open("a", {});
  const sheet = readStyleSheet(
    `${"a a a a a a a b,".repeat(300)}b{background:url(x)}a a a a a a:not(b b b a){background:url(y)}`,
    undefined,
  );
  expect(filesOf(elements.all, [{ url: "https://a.example/", sheet }]).length).toBeLessThan(2);
});

describe("a page that is made to take long", () => {
  const FACE = "@font-face{font-family:f;src:url(f);unicode-range:u+1}";
  const many = (text: string, count: number): string => text.repeat(count);
  const varying = "bcdefgh".split("").map((name, index) => `--${name}:${many(`var(--${"cdefghz"[index]})`, 300)};`);
  // Without bounds each takes longer than a test may, or more memory than there is.
  it.each<[string, Record<string, string>, number, string]>([
    ["variables of nothing", {}, 10, `:root{${varying.join("")}--z:;}a{font-family:var(--b)}`],
    ["classes", { class: many("q ", 200) }, 4_000, many(`${many(".q", 900)}.z{background:url(x)}`, 100)],
    ["a long attribute", { title: many("q ", 400_000) }, 1, many("[title~=z]{background:url(x)}", 9_000)],
    ["tests", { class: "q" }, 4_000, many(`a${many("[class]", 600)}[q]{background:url(x)}`, 60)],
    ["names of fonts", {}, 4_000, FACE + many(`a{font-family:${many("a,", 900)}b}`, 130)],
    ["text", {}, 4_000, `${FACE}a{font-family:f}a:before{content:"${many("x", 250_000)}"}`],
    ["faces", {}, 1_000, `${many(FACE, 4_500)}a{font-family:${many("f,", 900)}f}`],
  ])("by %s ends", (_, attributes, count, css) => {
    const elements = new PageElements();
    for (let each = 1; each <= count; each++) {
      elements.open("a", { ...attributes, style: `font-weight:${each}` });
      elements.text("text of it");
      elements.close();
    }
    const sheet = readStyleSheet(css, undefined);
    expect(sheet.size).toBeLessThan(45_000);
    expect(filesOf(elements.all, [{ url: "https://a.example/", sheet }]).length).toBeLessThan(2);
  });
});

it("takes any text", () => {
  const word = fc.constantFrom(
    ..."@import|@media|@font-face|@layer|font|:|;|{|}|(|)|[|]|url(|var(--a)|--a|,|.|#a|a|*|:not(|::before|>|~|/|!|'|\"|\\|src|format(|0|1px".split(
      "|",
    ),
  );
  const text = fc.array(fc.oneof(word, fc.string({ maxLength: 3 })), { maxLength: 60 }).map((words) => words.join(" "));
  fc.assert(
    fc.property(text, (css) => {
      const elements = new PageElements();
      elements.open("a", { class: "a", id: "a", style: css });
      elements.text("text");
      filesOf(elements.all, [{ url: "https://a.example/", sheet: readStyleSheet(css, VIEWPORT) }]);
    }),
  );
});
