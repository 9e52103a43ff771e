import { expect, it } from "vitest";
import { isOff } from "./permissions.ts";

const OWN = "https://a.example";

it.each([
  ["", false],
  ["geolocation=()", true],
  ["geolocation=*", false],
  ["geolocation=self", false],
  ["camera=(), geolocation=(self)", false],
  ["camera=(self), geolocation=( )", true],
  [`geolocation=("${OWN}")`, false],
  ['geolocation=("https://b.example")', true],
  ["geolocation=(self), geolocation=()", true],
  ["geolocation=(), geolocation=(self)", false],
  ["not-geolocation=()", false],
  ["geolocation=(", false],
  ["geolocation=(), geolocation=(", false],
])("a policy of %j is read", (policy, off) => {
  expect(isOff(policy, "geolocation", OWN)).toBe(off);
});
