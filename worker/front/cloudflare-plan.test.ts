import { expect, it } from "vitest";
import { readPlan } from "./edge-settings.ts";

it("leaves nothing out but where it is told to", () => {
  for (const text of [undefined, "", "paid"]) {
    const all = {
      sharesCache: true,
      codesAgainst: true,
      recodesPictures: true,
      marksReads: true,
      blocksTrackers: true,
    };
    expect(readPlan(text)).toMatchObject(all);
  }
  expect(readPlan("free")).toEqual({
    sharesCache: false,
    codesAgainst: false,
    recodesPictures: false,
    marksReads: false,
    blocksTrackers: false,
    pushes: 24,
  });
  expect(() => readPlan("pro")).toThrow('ROPEWAY_PLAN is "pro": set it to free or paid');
});
