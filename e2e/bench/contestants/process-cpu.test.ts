import { describe, expect, it } from "vitest";
import { parseStat, processCpu, processMemory, processTreeCpu } from "./process-cpu.ts";

describe("parseStat", () => {
  it("reads past a name with brackets and blanks", () => {
    const line = "42 (a) b (c) S 7 42 42 0 -1 4194560 1 2 3 4 100 20 3 4 20 0 1 0 5 6 7";
    expect(parseStat(line)).toEqual({ pid: 42, parent: 7, ticks: 127 });
  });
});

describe("processTreeCpu", () => {
  it("counts at least the process itself", () => {
    const own = processCpu(process.pid);
    expect(own).toBeGreaterThan(0);
    expect(processTreeCpu(process.pid)).toBeGreaterThanOrEqual(own);
  });

  it("counts nothing for a process that is gone", () => {
    expect([processCpu(2 ** 30), processMemory(2 ** 30)]).toEqual([0, 0]);
    expect(processMemory(process.pid)).toBeGreaterThan(1e6);
    expect(processTreeCpu(2 ** 30)).toBe(0);
  });
});
