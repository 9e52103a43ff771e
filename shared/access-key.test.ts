import { expect, it } from "vitest";
import { isStrongAccessKey } from "./access-key.ts";

/** The same each time, and spread evenly. */
function drawn(alphabet: string, length: number): string {
  return Array.from({ length }, (_, index) => alphabet[(index * 7 + 3) % alphabet.length]).join("");
}

const DIGITS = "0123456789";
const HEX = `${DIGITS}abcdef`;
const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

it.each([
  [DIGITS, 38, 39],
  [HEX, 31, 32],
  [BASE64URL, 21, 22],
])("a key out of %s is strong from its 128th bit on", (alphabet, weak, strong) => {
  expect([isStrongAccessKey(drawn(alphabet, weak)), isStrongAccessKey(drawn(alphabet, strong))]).toEqual([false, true]);
});

it("a random key is strong, whichever characters it has by chance", () => {
  expect(isStrongAccessKey("onlyLettersNoDigitsYes")).toBe(true);
});

it.each(["", "secret", "a".repeat(200), "12".repeat(40), "ab-".repeat(20)])("%s is none", (key) => {
  expect(isStrongAccessKey(key)).toBe(false);
});
