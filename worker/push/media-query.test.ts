import { expect, it } from "vitest";
import { matchesMedia } from "./document-scanner.ts";

const PHONE = { width: 400, height: 800, density: 2 };

it.each<[string, boolean | null]>([
  ["", true],
  ["all", true],
  ["only screen", true],
  ["print", false],
  ["(min-width: 400px)", true],
  ["(min-width: 401px)", false],
  ["(MAX-WIDTH:25em)", true],
  ["(max-width: 24.9rem)", false],
  ["screen and (max-width: 600px) and (min-height: 50em)", true],
  ["print and (max-width: 600px)", false],
  ["(min-width: 900px), (orientation: portrait)", true],
  ["(orientation: landscape)", false],
  ["(prefers-color-scheme: dark)", null],
  ["(prefers-color-scheme: dark) and (min-width: 900px)", false],
  ["(prefers-color-scheme: dark), (max-width: 900px)", true],
  ["not all", null],
  ["not (min-width: 1px)", null],
  ["(width >= 400px)", null],
  [`all${" ".repeat(300)}`, null],
])("%j is %s on a phone", (query, expected) => {
  expect(matchesMedia(query, PHONE)).toBe(expected);
});
