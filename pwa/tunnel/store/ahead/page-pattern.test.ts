import { expect, it } from "vitest";
import { fromTemplate, patternOf, toTemplate } from "./page-visits.ts";

const SITE = "https://a.example";

it.each([
  ["/", "/", []],
  ["/about", "/about", []],
  ["/about/", "/about/", []],
  ["/article/7", "/article/<0>", ["7"]],
  ["/article/7/", "/article/<0>/", ["7"]],
  ["/docs/guide.html", "/docs/<0>.html", ["guide"]],
  ["/docs/v1.2.html", "/docs/<0>.html", ["v1.2"]],
  ["/2026/11/23/what-came-of-it", "/<0>/<1>/<2>/<3>", ["2026", "11", "23", "what-came-of-it"]],
  ["/user/42/posts", "/user/<0>/<1>", ["42", "posts"]],
  ["/how-to-do-it", "/<0>", ["how-to-do-it"]],
  ["/watch?v=abc&t=&u", "/watch?v=<0>&t=&u", ["abc"]],
  ["/a/b?c=1&d=2&e=3&f=4&g=5", "/a/<0>?c=<1>&d=<2>&e=<3>&f=4&g=5", ["b", "1", "2", "3"]],
])("%s is of the kind %s", (path, name, values) => {
  expect(patternOf(SITE + path)).toEqual({ name: SITE + name, values });
});

it.each([
  ["/api/articles/7", "/api/articles/<0>"],
  ["/api/v7/articles?id=7&x=17", "/api/v7/articles?id=<0>&x=17"],
  ["/7/7.json", "/<0>/<0>.json"],
  ["/menu", "/menu"],
])("%s of the page 7 is %s of its kind", (path, template) => {
  expect(toTemplate(SITE + path, ["7"])).toBe(SITE + template);
  expect(fromTemplate(SITE + template, ["7"])).toBe(SITE + path);
});

it("finds names whatever characters they have, and never in the host", () => {
  expect(toTemplate("https://7.example/a.(b)+c/0", ["a.(b)+c", "0", "7"])).toBe("https://7.example/<0>/<1>");
  expect(fromTemplate("https://7.example/<0>/<1>", ["$&"])).toBeNull();
  expect(fromTemplate("https://7.example/<0>", ["$&"])).toBe("https://7.example/$&");
});

it.each(["../../logout?all=1", "..", ".", "a/b", "a%2Fb", "a?b", "a\\\\b", "a:b", "a@b"])(
  "takes %j for no name: it leads elsewhere",
  (value) => {
    expect(patternOf(`${SITE}/item?id=${value}`).values).toEqual([]);
    expect(patternOf(`${SITE}/x/?id=${value}`).values).toEqual([]);
  },
);

it("makes no address that browsers read as another", () => {
  expect(fromTemplate(`${SITE}/api/<0>/x`, [".."])).toBeNull();
  expect(fromTemplate("https://<0>/", ["evil.example#"])).toBeNull();
});

it("takes no long text for a name", () => {
  const long = `${SITE}/${"a-".repeat(20_000)}`;
  const { values } = patternOf(`${long}/b?c=${"d".repeat(20_000)}`);
  expect(values).toEqual(["b"]);
  expect(toTemplate(`${long}/b`, values)).toBe(`${long}/<0>`);
});
