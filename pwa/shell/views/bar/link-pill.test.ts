import { expect, it } from "vitest";
import { storedText } from "./link-pill.tsx";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

it.each([
  [0, "Stored just now"],
  [-5 * HOUR, "Stored just now"],
  [MINUTE, "Stored 1 minute ago"],
  [59 * MINUTE, "Stored 59 minutes ago"],
  [HOUR, "Stored 1 hour ago"],
  [47 * HOUR, "Stored 47 hours ago"],
  [48 * HOUR, "Stored 2 days ago"],
])("a page of %d ms ago: %s", (age, text) => {
  expect(storedText(1e12 - age, 1e12)).toBe(text);
});
