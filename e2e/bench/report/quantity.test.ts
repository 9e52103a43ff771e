import { describe, expect, it } from "vitest";
import { formatNumber, formatQuantity, formatTick, scaleFor } from "./quantity.ts";

describe("quantities", () => {
  it.each([
    [4210, "ms", "4.21 s"],
    [870.4, "ms", "870 ms"],
    [12_345, "ms", "12.3 s"],
    [0.0501, "ms", "50.1 µs"],
    [0, "ms", "0 ms"],
    [2_300_000, "B", "2.30 MB"],
    [999, "B", "999 B"],
    [1517, "bytes", "1.52 kB"],
    [162, "kbit/s", "162 kbit/s"],
    [1358, "kbit/s", "1.36 Mbit/s"],
    [0.12, "s", "120 ms"],
    [6, "", "6"],
    [3, "widgets", "3 widgets"],
  ])("%f %s is %s", (value, unit, text) => {
    expect(formatQuantity(value, unit).replaceAll("\u00a0", " ")).toBe(text);
  });

  it("keep three digits, or all of a whole number", () => {
    expect([1234567, 100, 99.95, 9.994, 0.1234, 0.01234].map(formatNumber)).toEqual([
      "1,234,567",
      "100",
      "100.0",
      "9.99",
      "0.12",
      "0.012",
    ]);
  });

  it("share a scale by the largest of them", () => {
    expect(scaleFor("ms", 17_400)).toEqual({ unit: "s", divisor: 1000 });
    expect(scaleFor("", 5)).toEqual({ unit: "", divisor: 1 });
  });

  it("are round on an axis", () => expect(formatTick(65_535, "B")).toBe("65.5\u00a0kB"));
});
