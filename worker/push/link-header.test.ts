import { expect, it } from "vitest";
import { linksOf } from "./document-scanner.ts";

it("reads the links that ask for a preload", () => {
  const field =
    '</a.css>; rel=preload; as="style", <https://b.example/f?x,y;z>;REL="preload" ;as=font; crossorigin; as=image,<c.js>; rel=modulepreload';
  expect(linksOf(field)).toEqual([
    { href: "/a.css", rel: "preload", as: "style" },
    { href: "https://b.example/f?x,y;z", rel: "preload", as: "font", crossorigin: "" },
    { href: "c.js", rel: "modulepreload" },
  ]);
});

it.each([
  "",
  "<a>",
  "<a>; rel=stylesheet",
  "<a>; rel=preconnect",
  "a; rel=preload",
  "<a; rel=preload",
  `${" ".repeat(9_000)}<a>; rel=preload`,
])("takes nothing from %j", (field) => {
  expect(linksOf(field)).toEqual([]);
});

it("takes a bounded number, and hardly any time for hostile ones", () => {
  expect(linksOf("<a>;rel=preload,".repeat(400))).toHaveLength(32);
  // What tries all ways to read a field takes longer than a test may.
  for (let round = 0; round < 20; round++)
    for (const part of ["<a>;a", "<a>; ", ";=", "<", ",,,<a>;a=b"])
      expect(linksOf(part.repeat(1_500).slice(0, 8_000)).length).toBeLessThanOrEqual(32);
});
