import { expect, it } from "vitest";
import { CONTESTANTS, DIRECT } from "../model.ts";
import { experimentOf, ropewayContestant } from "./ropeway-contestant.ts";

it("a contestant's name says the app's state, its channels, and what was changed", () => {
  expect(ropewayContestant("ropeway warm")).toEqual({ state: "warm", channels: null, change: null });
  const one = ropewayContestant("ropeway open 1 channel without push");
  expect(one).toEqual({ state: "open", channels: 1, change: "without push" });
  expect(one && experimentOf(one)).toEqual({ channels: 1, takesPushes: false });
  const bare = ropewayContestant("ropeway open transport alone");
  expect(bare && experimentOf(bare)).toEqual({ takesPushes: false, namesBodies: false });
});

it("all contestants but the direct ones are known", () => {
  expect(CONTESTANTS.filter((name) => ropewayContestant(name) === null)).toEqual([...DIRECT]);
  for (const name of ["ropeway stream", "ropeway open x channels", "a ropeway open"])
    expect(ropewayContestant(name)).toBeNull();
});
