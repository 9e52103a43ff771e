import { describe, expect, test } from "vitest";
import { CreditTrial } from "./bandwidth-estimate.ts";

/** Rounds of a sender that uses its credit up, at a rate that follows from it. @returns what the credit comes to. */
function run(trial: CreditTrial, credit: number, rateOf: (credit: number) => number, enough: number): number {
  for (let round = 0; round < 200; round += 1) credit = trial.next(credit, rateOf(credit), enough);
  return credit;
}

describe("credit above what the shortest round trip asks for", () => {
  test("goes where the rate does not need it", () => {
    expect(run(new CreditTrial(), 15_000, () => 100, 11_000)).toBe(11_000);
  });

  test("stays within a step of where the rate begins to need it", () => {
    const credit = run(new CreditTrial(), 15_000, (bytes) => Math.min(100, bytes / 130), 11_000);
    expect(credit).toBeGreaterThan(11_700);
    expect(credit).toBeLessThan(14_400);
  });

  test("grows where the rate grows with it", () => {
    expect(run(new CreditTrial(), 15_000, (bytes) => bytes / 130, 11_000)).toBeGreaterThan(100_000);
  });

  test("is tried less and less often where nothing changes", () => {
    const trial = new CreditTrial();
    let credit = 13_000;
    const credits = Array.from({ length: 400 }, () => {
      credit = trial.next(credit, Math.min(100, credit / 130), 11_000);
      return credit;
    });
    const changes = (from: number, to: number): number =>
      credits.slice(from, to).filter((each, index) => index > 0 && each !== credits[from + index - 1]).length;
    expect(changes(200, 400)).toBeLessThan(changes(0, 200));
  });
});

test("credit that is not above it is it", () => {
  expect(new CreditTrial().next(10_000, 100, 11_000)).toBe(11_000);
});
