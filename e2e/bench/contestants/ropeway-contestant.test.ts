import { describe, expect, it } from "vitest";
import { ALL_CONTESTANTS, CONTESTANTS, FIXED_CHANNEL_CONTESTANTS } from "../model.ts";
import { hasFixedChannels, ropewayContestant } from "./ropeway-contestant.ts";

describe("ropewayContestant", () => {
  it("reads the app's state and its number of channels", () => {
    expect(ropewayContestant("ropeway warm")).toEqual({ state: "warm", channels: null });
    expect(ropewayContestant("ropeway open 1 channel")).toEqual({ state: "open", channels: 1 });
    expect(ropewayContestant("ropeway open 5 channels")).toEqual({ state: "open", channels: 5 });
  });

  it("knows all contestants of the bench, and takes no other for one of ours", () => {
    expect(ALL_CONTESTANTS.filter((name) => ropewayContestant(name) === null)).toEqual([
      "http/1.1",
      "http/2",
      "http/3",
    ]);
    expect(CONTESTANTS.some(hasFixedChannels)).toBe(false);
    expect(FIXED_CHANNEL_CONTESTANTS.every(hasFixedChannels)).toBe(true);
    for (const name of ["ropeway stream", "ropeway open x channels", "a ropeway open"]) {
      expect(ropewayContestant(name)).toBeNull();
    }
  });
});
