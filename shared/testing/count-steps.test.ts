import { expect, it } from "vitest";
import { countSteps } from "./count-steps.ts";
import { tryExpression } from "./regexp-steps.ts";

function each(n: number): number {
  let sum = 0;
  for (let at = 0; at < n; at++) sum += at;
  return sum;
}

function eachOfEach(n: number): number {
  let sum = 0;
  for (let one = 0; one < n; one++) for (let other = 0; other < n; other++) sum += other;
  return sum;
}

it.each<[string, boolean, (n: number) => unknown]>([
  ["statements that go on", true, each],
  ["statements that go on in others", false, eachOfEach],
  ["a loop", true, (n) => Array.from({ length: n }, (_, at) => at * 2)],
  ["a loop in a loop", false, (n) => Array.from({ length: n }, () => Array.from({ length: n }, (_, at) => at))],
  ["a search", true, (n) => "x".repeat(n).indexOf("y")],
  ["searches for each", false, (n) => [..."x".repeat(n)].map(() => "x".repeat(n).includes("y"))],
  ["an expression", true, (n) => "x".repeat(n).match(/x/g)],
  ["an expression on all that is left", false, (n) => [..."x".repeat(n)].map(() => /y/.exec("x".repeat(n)))],
  ["an expression that goes on to the end for each", false, (n) => "a:x".repeat(n).replace(/a:(x[^#]*#)?/g, "")],
  ["an expression that goes on to the end once", true, (n) => "a:x".repeat(n).replace(/a:x[^#]*#?/g, "")],
  ["an expression that begins anew at each", false, (n) => /b(?=[^#]*#)/.test("b".repeat(n))],
  ["copies of a list", false, (n) => Array.from({ length: n }).reduce<number[]>((list) => [...list, 1], [])],
  ["members of a set", true, (n) => new Set(Array.from({ length: n }, (_, at) => at)).size],
  [
    "addresses with a long base",
    false,
    (n) => Array.from({ length: n }, () => new URL("a", `http://a/${"b".repeat(n)}`)),
  ],
])("tells of %s whether it is linear: %s", async (_, isLinear, work) => {
  // Also of what has run before.
  work(500);
  const [once = 0, twice = 0] = await countSteps(
    () => work(500),
    () => work(1000),
  );
  expect(twice / once).toBeGreaterThan(isLinear ? 1.5 : 2.6);
  expect(twice / once).toBeLessThan(isLinear ? 2.2 : 4.2);
});

it.each([
  [/a+(?:b|c{2,3})?d*?$/im, "xaAbdd\naccd\naabcccdaCCCC"],
  [/(?<!x)["'][^"']*["']|\p{L}(?![\d.])/u, "x'a' \"b\" ä1 ä."],
  [/,\s*[^,]{0,2},|^b/y, ", ab,  abc, ,b"],
])("goes through %s as the language does", (expression, text) => {
  for (let from = 0; from < text.length; from += 1) {
    const found = new RegExp(expression, `g${expression.flags}`);
    found.lastIndex = from;
    expect(tryExpression(expression, text, from).index).toBe(found.exec(text)?.index ?? null);
  }
});

it("leaves all as it was", async () => {
  const before = [String.prototype.indexOf, RegExp.prototype.exec, globalThis.URL, [][Symbol.iterator]];
  await countSteps(() => {});
  expect([String.prototype.indexOf, RegExp.prototype.exec, globalThis.URL, [][Symbol.iterator]]).toEqual(before);
});
