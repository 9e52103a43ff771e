import { describe, expect, it } from "vitest";
import { formatTime } from "./site-sheet.tsx";

describe("formatTime", () => {
  it.each([
    [0, "0 ms"],
    [840.4, "840 ms"],
    [999.9, "1.0 s"],
    [2_340, "2.3 s"],
    [59_400, "59 s"],
    [59_700, "1 min 00 s"],
    [65_000, "1 min 05 s"],
  ])("%d", (milliseconds, text) => expect(formatTime(milliseconds)).toBe(text));
});
