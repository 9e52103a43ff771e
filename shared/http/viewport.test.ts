import { expect, it } from "vitest";
import { parseViewport } from "./phone-fields.ts";

it("is what a browser says of its window", () => {
  expect(parseViewport("412 915 2.625")).toEqual({ width: 412, height: 915, density: 2.625 });
  expect(parseViewport("1280 720 1.100000023841858")).toEqual({ width: 1280, height: 720, density: 1.100000023 });
});

it("is nothing else", () => {
  for (const value of [
    "",
    "412",
    "412 915",
    "0 0 1",
    "412 915 0",
    "-1 915 1",
    "412 915 1 1",
    "999999 1 1",
    "412 915 x",
  ])
    expect(parseViewport(value)).toBeUndefined();
});
