import { expect, it } from "vitest";
import { importsOfModule } from "./module-imports.ts";

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

it("reads hostile text in one pass", () => {
  const space = " ".repeat(30_000);
  const texts = [
    "/*".repeat(15_000),
    "import ".repeat(5_000),
    " from".repeat(6_000),
    `import {${" from".repeat(6_000)}`,
    `import${space}x`,
    `import {${space}`,
    `"use strict"${space}x`,
  ];
  // What tries all ways to part the spaces takes longer than a test may.
  for (let round = 0; round < 30; round++) for (const text of texts) expect(importsOfModule(text)).toBeDefined();
});
