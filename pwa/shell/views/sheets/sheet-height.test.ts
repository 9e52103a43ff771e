import { expect, it } from "vitest";
import { heightWithoutSliver } from "./sheet.tsx";

const rows = [
  { top: 100, height: 52 },
  { top: 160, height: 52 },
];

it.each([
  [300, null],
  [212, null],
  // 44 of 52 can be hit.
  [204, null],
  [203, 160],
  [161, 160],
  [160, null],
  [130, 100],
])("of a sheet of %d pixels", (height, result) => expect(heightWithoutSliver(height, rows)).toBe(result));
