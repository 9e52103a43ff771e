import { expect, it } from "vitest";
import { coordinateLabel } from "./grid.ts";

it.each([
  ["payload", 1_000, "1 kB"],
  ["payload", 65_535, "65,535 B"],
  ["payload", 65_536, "65,536 B"],
  ["delay", 300, "300 ms"],
  ["loss", 2, "2 % loss"],
  ["profile", "3g-trace", "3G trace"],
  ["visit", "next day", "next day visit"],
] as const)("tells %s %s from others", (key, value, label) => {
  expect(coordinateLabel(key, value).replaceAll("\u00a0", " ")).toBe(label);
});
