import { expect, it } from "vitest";
import { importsOfModule, importsOfStyle } from "./leading-imports.ts";

it.each<[string, string[], boolean]>([
  ["", [], false],
  ['@import "a.css";', ["a.css"], false],
  ["@import 'a.css'; @import url(b.css); @import url( \"c.css\" );", ["a.css", "b.css", "c.css"], false],
  ['@charset "utf-8"; /* @import "no"; */ @layer x, y;\n@IMPORT "a.css" layer(x);p{}', ["a.css"], true],
  ['@import "a.css" print; @import "b.css" (min-width: 1px); @import "c.css" screen;', ["c.css"], false],
  ['@import "a.css" supports(display: grid);', [], false],
  ['p { } @import "a.css";', [], true],
  ['@media screen { } @import "a.css";', [], true],
  ["@font-face { src: url(a.woff) }", [], true],
  ['@import "a.css";\n@impor', ["a.css"], false],
  ['@import "a', [], false],
  ["/* a long comment", [], false],
  ["@import url(data:text/css,p%7B%7D);", ["data:text/css,p%7B%7D"], false],
])("the style sheet %j imports %j", (text, urls, isOver) => {
  expect(importsOfStyle(text)).toMatchObject({ urls, isOver });
});

it.each<[string, string[], boolean]>([
  ["", [], false],
  ['import "./a.js";', ["./a.js"], false],
  [
    'import{a as b}from"./a.js";import c,{d}from\'../b.js\'\nimport * as e from "/c.js";let x',
    ["./a.js", "../b.js", "/c.js"],
    true,
  ],
  [
    '// import "./no.js"\n/* import "./no.js" */ "use strict";\nexport * from "./a.js";\nexport { b } from "./b.js"',
    ["./a.js", "./b.js"],
    false,
  ],
  ['import a from "bare"; import b from "https://cdn.example/b.js";', ["https://cdn.example/b.js"], false],
  ['import a from "./a.json" with { type: "json" };', [], true],
  ['import("./a.js")', [], true],
  ['const a = 1; import "./a.js";', [], true],
  ['import.meta.url; "./a.js"', [], true],
  ['importance = "./a.js"', [], true],
  ['export { a }; const b = "./b.js"', [], true],
  ["import { a,\n b } fr", [], false],
])("the module %j imports %j", (text, urls, isOver) => {
  expect(importsOfModule(text)).toMatchObject({ urls, isOver });
});

it.each([importsOfStyle, importsOfModule])("%o reads hostile text in one pass", (read) => {
  const space = " ".repeat(30_000);
  const texts = [
    "/*".repeat(15_000),
    "import ".repeat(5_000),
    " from".repeat(6_000),
    `import {${" from".repeat(6_000)}`,
    `import${space}x`,
    `import {${space}`,
    `"use strict"${space}x`,
    `@import ${"url(".repeat(8_000)}`,
    `@import url(${space}`,
    `@import url(${space}x${space}`,
    `@import url("a"${space}x`,
    `@import "a"${space}x;`,
    `@import "a" layer${space}x;`,
    `@import "a" layer(${space}${space}x;`,
    `@layer ${space}`,
    `@charset${space}`,
    "@charset ".repeat(3_000),
    `${"@layer a;".repeat(3_000)}x`,
    `@import${space}x`,
  ];
  // What tries all ways to part the spaces takes longer than a test may.
  for (let round = 0; round < 30; round++) for (const text of texts) expect(read(text)).toBeDefined();
});
