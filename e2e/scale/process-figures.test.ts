import { describe, expect, it } from "vitest";
import { ensureOpenFiles, parseOpenFileLimit } from "./open-files.ts";
import { parsePss, readProcess } from "./process-figures.ts";
import { share, slope } from "./series.ts";

describe.runIf(process.platform === "linux")("a process", () => {
  it("is seen from outside", () => {
    const { pssBytes, cpuSeconds, wakeups, databases, openFiles } = readProcess(process.pid);
    expect(pssBytes).toBeGreaterThan(1e6);
    expect(cpuSeconds).toBeGreaterThan(0);
    expect(wakeups).toBeGreaterThan(0);
    expect(databases).toBe(0);
    expect(openFiles).toBeGreaterThan(2);
  });

  it("that is gone is named", () => {
    expect(() => readProcess(2 ** 30)).toThrow(`Cannot look at process ${2 ** 30}`);
  });

  it("may open files for a few phones, and not for as many as one likes", () => {
    expect(() => ensureOpenFiles(1, 6)).not.toThrow();
    expect(() => ensureOpenFiles(1e9, 6)).toThrow(
      /Cannot carry 1000000000 phones: .* open files are needed and \d+ allowed/,
    );
  });
});

describe("texts of proc(5)", () => {
  it("are read for their one number", () => {
    expect(parsePss("Rss:     900 kB\nPss:     512 kB\nPss_Dirty:  1 kB\n")).toBe(512 * 1024);
    expect(parseOpenFileLimit("Max open files            1024                 4096                 files\n")).toBe(
      1024,
    );
    expect(parseOpenFileLimit("Max open files            unlimited            unlimited            files\n")).toBe(
      Number.POSITIVE_INFINITY,
    );
  });

  it("without it are refused", () => {
    expect(() => parsePss("Rss: 1 kB\n")).toThrow("no Pss");
  });
});

describe("a series", () => {
  it("has the slope of its line", () => {
    expect(slope([0, 1, 2, 3].map((x) => ({ x, y: 5 + 2 * x })))).toBeCloseTo(2);
    expect(slope([{ x: 1, y: 1 }])).toBe(0);
    expect(slope([])).toBe(0);
  });

  it("that is empty has 0 for a quantile", () => {
    expect(share([], 0.5)).toBe(0);
    expect(share([1, 2, 3], 0.5)).toBe(2);
  });
});
