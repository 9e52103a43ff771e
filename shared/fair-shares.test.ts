import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairShares, type Holding } from "./fair-shares.ts";

const BOUND = 160;
/** Of each of those that were there last. */
const OWN_SHARE = 10;

/** What is left to each once all is within the bound, one unit at a time. */
function settled(amounts: Readonly<Record<string, number>>, bound = BOUND): Record<string, number> {
  const left = { ...amounts };
  const holdings = Object.entries(amounts).map(([name, amount], index): [string, Holding] => [
    name,
    { amount, usedAt: index },
  ]);
  const shares = new FairShares(bound, new Map(holdings));
  while (Object.values(left).reduce((sum, each) => sum + each, 0) > bound) {
    const giver = shares.giver();
    if (giver === undefined) break;
    left[giver] = (left[giver] ?? 0) - 1;
    shares.gave(giver, 1);
  }
  return left;
}

describe("shares of a bound", () => {
  it("lets the one give that has most, and nobody else", () => {
    expect(settled({ bank: 30, news: 20, mail: 1, hostile: 1_000 })).toEqual({
      bank: 30,
      news: 20,
      mail: 1,
      hostile: 109,
    });
  });

  it("lets the largest of all come to the same", () => {
    expect(settled({ a: 200, b: 10, c: 300 })).toEqual({ a: 75, b: 10, c: 75 });
  });

  it("leaves a share to those that were there last, before many that were there long ago", () => {
    const old = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`old${index}`, 1]));
    const late = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`late${index}`, OWN_SHARE]));
    const left = settled({ ...old, ...late });
    for (const name of Object.keys(late)) expect(left[name]).toBe(OWN_SHARE);
    // Of the old, those go first that were there longest ago.
    expect([left.old0, left.old199]).toEqual([0, 1]);
  });

  it("passes by who has nothing to give", () => {
    const shares = new FairShares(
      BOUND,
      new Map([
        ["kept", { amount: 500, usedAt: 1 }],
        ["other", { amount: 2, usedAt: 0 }],
      ]),
    );
    expect(shares.giver()).toBe("kept");
    shares.excuse("kept");
    expect(shares.giver()).toBe("other");
    shares.gave("other", 2);
    expect(shares.giver()).toBeUndefined();
  });

  it("takes nothing from who has less than an equal part of the bound, whatever the others have", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(400), { minLength: 1, maxLength: 8 }), (amounts) => {
        const before = Object.fromEntries(amounts.map((amount, index) => [`s${index}`, amount]));
        const after = settled(before);
        expect(Object.values(after).reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(BOUND);
        for (const [name, amount] of Object.entries(before)) {
          expect(after[name]).toBeGreaterThanOrEqual(Math.min(amount, Math.floor(BOUND / amounts.length)));
        }
      }),
    );
  });
});
