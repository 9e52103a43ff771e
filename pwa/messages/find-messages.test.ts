import { describe, expect, it } from "vitest";
import { foldText } from "./find-messages.ts";

describe("foldText", () => {
  it.each([
    ["Crème BRÛLÉE", "creme brulee"],
    ["Cre\u0300me", "creme"],
    ["Straße", "strasse"],
    ["Æther, œuvre, Øre, Łódź", "aether, oeuvre, ore, lodz"],
    ["İstanbul ıssız", "istanbul issiz"],
    ["ΟΔΌΣ οδός", "οδοσ οδοσ"],
    ["שָׁלוֹם", "שלום"],
    ["ﬁsh ＡＢＣ", "fish abc"],
    ["“quoted” it’s", '"quoted" it\'s'],
    ["co\u00adop\u200b", "coop"],
    ["a \t\n\u00a0 b", "a b"],
    ["𝐁old 😀", "bold 😀"],
  ])("%s", (text, folded) => expect(foldText(text)).toBe(folded));

  it("keeps letters of their own apart", () => {
    for (const [one, other] of [
      ["か", "が"],
      ["は", "ぱ"],
      ["가", "각"],
      ["कि", "की"],
      ["क", "के"],
    ] as const)
      expect(foldText(one)).not.toBe(foldText(other));
  });
});
