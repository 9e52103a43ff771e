import { expect, test } from "vitest";
import { Vigil } from "./served-session.ts";

function setUp() {
  const timers = new Map<() => void, number>();
  const told: string[] = [];
  const setTimer = (task: () => void, delay: number) => {
    timers.set(task, delay);
    return () => void timers.delete(task);
  };
  const vigil = new Vigil(setTimer, 50, () => told.push("over"));
  const runOut = (): void => {
    for (const task of [...timers.keys()]) {
      timers.delete(task);
      task();
    }
  };
  return { vigil, timers, told, runOut };
}

test("is over once for as long as it is needed", () => {
  const { vigil, timers, told, runOut } = setUp();
  vigil.keep(true);
  vigil.keep(true);
  expect([...timers.values()]).toEqual([50]);
  expect(vigil.isOver).toBe(false);
  runOut();
  vigil.keep(true);
  expect([vigil.isOver, told, timers.size]).toEqual([true, ["over"], 0]);
});

test("begins anew after it was not needed", () => {
  const { vigil, timers, told, runOut } = setUp();
  vigil.keep(true);
  vigil.keep(false);
  expect(timers.size).toBe(0);
  vigil.keep(true);
  runOut();
  vigil.keep(false);
  expect([vigil.isOver, told]).toEqual([false, ["over"]]);
});
