import { expect, it } from "vitest";
import { neverNested } from "./mount.tsx";

it("runs once more after itself where it is asked for inside", () => {
  const log: string[] = [];
  const run = neverNested(() => {
    log.push("begin");
    if (log.length < 3) {
      run();
      run();
    }
    log.push("end");
  });
  run();
  expect(log).toEqual(["begin", "end", "begin", "end"]);
});

it("runs again after it has failed", () => {
  let runs = 0;
  const run = neverNested(() => {
    runs += 1;
    if (runs === 1) throw new Error("Cannot draw");
  });
  expect(run).toThrow("Cannot draw");
  run();
  expect(runs).toBe(2);
});
