import { expect, it } from "vitest";
import { RobotsRules } from "./page-warmer.ts";

const allows = (text: string, path: string, agent = "ropeway"): boolean =>
  new RobotsRules(text, ["ropeway", "*", "quiet"]).allows(agent, new URL(path, "https://a.example"));

it.each([
  ["", "/x", true],
  ["User-agent: *\nDisallow: /", "/x", false],
  ["User-agent: *\nDisallow:", "/x", true],
  ["user-AGENT : * # all\r\ndisALLOW : /x # not this", "/xy", false],
  ["User-agent: *\nDisallow: /x", "/y", true],
  ["User-agent: *\nDisallow: /x\nAllow: /x/public", "/x/public/1", true],
  ["User-agent: *\nAllow: /x\nDisallow: /x", "/x", true],
  ["User-agent: *\nAllow: /x\nDisallow: /x/y", "/x/y", false],
  ["User-agent: *\nDisallow: /*.php$", "/a/b.php", false],
  ["User-agent: *\nDisallow: /*.php$", "/a/b.php5", true],
  ["User-agent: *\nDisallow: /*.php$", "/a.php/b.php", false],
  ["User-agent: *\nDisallow: /a*b*c", "/a1b2c3", false],
  ["User-agent: *\nDisallow: /a*b*c", "/a1c2b3", true],
  ["User-agent: *\nDisallow: /$", "/", false],
  ["User-agent: *\nDisallow: /$", "/x", true],
  ["User-agent: *\nDisallow: /ä", "/%C3%A4", false],
  ["User-agent: *\nDisallow: /%7ejoe", "/~joe", false],
  ["User-agent: *\nDisallow: /a%2fb", "/a%2Fb", false],
  ["Disallow: /", "/x", true],
  ["nonsense\n\n:\nUser-agent: *\nSitemap: /s\nDisallow: /x", "/x", false],
])("%j of %s: %s", (text, path, isAllowed) => {
  expect(allows(text, path)).toBe(isAllowed);
});

it("takes the group of the product, else that of all, and all groups of one name together", () => {
  const text = [
    "User-agent: other\nUser-agent: RopeWay/1.0\nDisallow: /own",
    "User-agent: *\nDisallow: /all",
    "User-agent: ropeway\nDisallow: /more",
    "User-agent: quiet",
  ].join("\n\n");
  expect(["/own", "/all", "/more"].map((path) => allows(text, path))).toEqual([false, true, false]);
  expect(["/own", "/all", "/more"].map((path) => allows(text, path, "*"))).toEqual([true, false, true]);
  expect(allows(text, "/all", "quiet")).toBe(true);
});

it("takes what is too long or too much for forbidden", () => {
  const long = "a".repeat(300);
  expect(allows(`User-agent: *\nDisallow: /${long}$`, `/${long}b`)).toBe(false);
  expect(allows(`User-agent: *\nDisallow: /\nAllow: /${long}`, `/${long}`)).toBe(false);
  expect(allows("", `/${"a".repeat(2_000)}`)).toBe(false);
  expect(allows(`User-agent: *\n${"Allow: /a\n".repeat(2_001)}`, "/a")).toBe(false);
  expect(allows(`User-agent: other\n${"Disallow: /\n".repeat(2_001)}`, "/a")).toBe(true);
});
