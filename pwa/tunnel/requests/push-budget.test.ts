import { expect, it } from "vitest";
import * as limits from "../../../shared/limits.ts";
import { PushBudget } from "./pushed-responses.ts";

function after(...outcomes: readonly (readonly [isOfUse: boolean, count: number])[]): PushBudget {
  const budget = new PushBudget();
  for (const [isOfUse, count] of outcomes) for (let each = 0; each < count; each += 1) budget.decided(isOfUse);
  return budget;
}

it("lets all come as long as nine of ten are of use", () => {
  expect(new PushBudget().pushes).toBe(limits.pushesPerDocument);
  expect(after([true, 100], [false, 6]).pushes).toBe(limits.pushesPerDocument);
  expect(after([false, 6]).share).toBeCloseTo(0.91, 2);
});

it("lets fewer come the more are of no use, and some in any case", () => {
  const pushes = [10, 20, 30, 60, 1000].map((count) => after([false, count]).pushes);
  expect(pushes).toEqual([...pushes].sort((a, b) => b - a));
  expect(pushes[0]).toBeLessThan(limits.pushesPerDocument);
  expect(pushes.at(-1)).toBe(8);
});

it("lets all come again when they are of use", () => {
  expect(after([false, 1000], [true, 160]).pushes).toBe(limits.pushesPerDocument);
});
