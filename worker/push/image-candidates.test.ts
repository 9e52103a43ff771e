import { expect, it } from "vitest";
import { chooseImage } from "./document-scanner.ts";

const PHONE = { width: 400, height: 800, density: 2 };
const WIDTHS = "a.jpg 320w, b.jpg 640w, c.jpg 960w, d.jpg 1920w";

it.each<[string, string | undefined, string | undefined, string | null]>([
  ["a.jpg", undefined, undefined, "a.jpg"],
  ["a.jpg 1x, b.jpg 2x, c.jpg 3x", undefined, undefined, "b.jpg"],
  ["b.jpg 2x", undefined, "a.jpg", "b.jpg"],
  ["c.jpg 6x", undefined, "a.jpg", "a.jpg"],
  ["a.jpg,b.jpg 2x", undefined, undefined, "a.jpg,b.jpg"],
  ["a.jpg?x=1,2 1x, b.jpg?x=1,2 2x", undefined, undefined, "b.jpg?x=1,2"],
  [WIDTHS, undefined, "x.jpg", "c.jpg"],
  [WIDTHS, "50vw", undefined, "a.jpg"],
  [WIDTHS, "calc(100vw - 2 * 20px)", undefined, null],
  [WIDTHS, "calc(50vw + 100px)", undefined, "b.jpg"],
  [WIDTHS, "(max-width: 600px) calc(100vw - 80px), 600px", undefined, "b.jpg"],
  [WIDTHS, "(min-width: 600px) 50vw, (min-width: 300px) 160px, 100vw", undefined, "a.jpg"],
  [WIDTHS, "(prefers-color-scheme: dark) 10px, 100vw", undefined, null],
  [WIDTHS, "auto", undefined, null],
  [WIDTHS, "50%", undefined, null],
  ["a.jpg 100h", undefined, undefined, null],
  ["", undefined, undefined, null],
  [`a.jpg ${" ".repeat(10_000)}1x`, undefined, undefined, null],
])("of %j for %j, beside %j, a phone loads %j", (srcset, sizes, src, expected) => {
  expect(chooseImage(srcset, sizes, src, PHONE)).toBe(expected);
});

it("takes hardly any time for hostile ones", () => {
  const texts = ["a ,", ",", " ", "a,", "1w ", "a 1w, ", "(", ") ", "calc(", "1", "+ "].map((part) =>
    part.repeat(4_000).slice(0, 4_000),
  );
  // What tries all ways to read a text takes longer than a test may.
  for (let round = 0; round < 30; round++)
    for (const text of texts) {
      expect(chooseImage(text, undefined, undefined, PHONE)).not.toBe("");
      for (const length of [300, 4_000]) chooseImage(WIDTHS, text.slice(0, length), undefined, PHONE);
    }
});
