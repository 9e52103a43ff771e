import { describe, expect, it } from "vitest";
import { linkUse } from "./link-activity.ts";

const READINGS = [
  { at: 1_000, down: 0, up: 0 },
  { at: 1_010, down: 0, up: 50 },
  { at: 1_030, down: 0, up: 50 },
  { at: 1_040, down: 700, up: 50 },
  { at: 1_060, down: 700, up: 50 },
];

describe("linkUse", () => {
  it("adds up the time in which nothing arrived, by direction and in all", () => {
    expect(linkUse(READINGS, 1_000, 1_060)).toEqual({
      idleDown: 50,
      idleUp: 50,
      idle: 40,
      bytesDown: 700,
      bytesUp: 50,
      firstDown: 40,
      lastDown: 40,
    });
  });

  it("looks at the time asked for only", () => {
    expect(linkUse(READINGS, 1_005, 1_025)).toMatchObject({ idleDown: 20, idleUp: 15, idle: 15, firstDown: null });
  });
});
