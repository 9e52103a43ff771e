import { expect, test } from "vitest";
import { FollowedRedirects } from "./lite-request.ts";

const TO = "/~https:bank.example/pay";

function open() {
  const clock = { now: 0 };
  const redirects = new FollowedRedirects<string>(() => clock.now);
  redirects.expect("navigation", TO, "leave");
  return { clock, redirects };
}

test("the navigation that is redirected goes on, once", () => {
  const { redirects } = open();
  expect(redirects.take("navigation", "GET", TO)).toBe("leave");
  expect(redirects.take("navigation", "GET", TO)).toBeNull();
});

test.each([
  ["another navigation", "other", "GET", TO, 0],
  ["no navigation", "", "GET", TO, 0],
  ["a form", "navigation", "POST", TO, 0],
  ["another address", "navigation", "GET", "/~https:bank.example/", 0],
  ["the same one, late", "navigation", "GET", TO, 5_000],
])("%s does not", (_, navigation, method, address, now) => {
  const { clock, redirects } = open();
  clock.now = now;
  expect(redirects.take(navigation, method, address)).toBeNull();
});
