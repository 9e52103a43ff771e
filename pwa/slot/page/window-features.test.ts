import { expect, it } from "vitest";
import { hasFeature } from "./navigation-rules.ts";

it.each([
  ["noopener", true],
  ["NOOPENER", true],
  ["width=400, noopener", true],
  ["noopener = = yes", true],
  ["noopener=true,width=1", true],
  ["noopener=-1", true],
  ["=noopener", true],
  ["noopener=0", false],
  ["noopener=no", false],
  ["noopener=false", false],
  ["xnoopener", false],
  ["noopenerx", false],
  ["foo=noopener", false],
  ["foo= noopener", false],
  ["foo,=noopener", true],
  ["", false],
])("%s", (features, isAsked) => expect(hasFeature(features, "noopener")).toBe(isAsked));
