import { expect, test } from "vitest";
import { type LearnedRequest, readLearned, sayLearned } from "./phone-fields.ts";

const PAGE = "https://a.example/article/7";
const api: LearnedRequest = {
  url: "https://a.example/api/7",
  destination: "",
  mode: "cors",
  credentials: "same-origin",
  accept: "*/*",
};
const image: LearnedRequest = {
  url: "https://cdn.example/7.png",
  destination: "image",
  mode: "no-cors",
  credentials: "include",
  accept: "",
};

const read = (value: string) => readLearned(value, PAGE);
const said = (learned: readonly LearnedRequest[]) => sayLearned(learned, PAGE) ?? "";

test("what is said is what is read, grouped by what requests have in common", () => {
  const more = { ...api, url: "https://a.example/api/7/comments" };
  expect(read(said([api, image, more]))).toEqual([api, more, image]);
  expect(said([api, image, more])).toBe(
    '[["","cors","same-origin","*/*","/api/7","/api/7/comments"],["image","no-cors","include","","https://cdn.example/7.png"]]',
  );
});

test("an address that only looks like one of the document's origin goes whole", () => {
  for (const url of ["https://a.example//b.example/", "https://a.example.evil.example/", "http://a.example/"]) {
    expect(read(said([{ ...api, url }]))).toEqual([{ ...api, url }]);
  }
});

test("of 10,000 the first go, in a kilobyte", () => {
  const many = Array.from({ length: 10_000 }, (_, index) => ({ ...api, url: `https://a.example/${index}` }));
  expect(read(said(many))).toEqual(many.slice(0, 32));
  const long = many.map((each) => ({ ...each, url: `${each.url}/${"x".repeat(200)}` }));
  expect(said(long).length).toBeLessThanOrEqual(1024);
  expect(read(said(long))).toEqual(long.slice(0, 4));
  expect(sayLearned([{ ...api, url: `https://a.example/${"x".repeat(2000)}` }], PAGE)).toBeNull();
  expect(sayLearned([], PAGE)).toBeNull();
});

test("what cannot be read, or must not be asked for, is nothing", () => {
  const group = (...change: unknown[]) => JSON.stringify([Object.assign(["", "cors", "omit", "*/*", "/x"], change)]);
  expect(read(group())).toHaveLength(1);
  const wrong = [
    "",
    "[",
    "7",
    "{}",
    "[]",
    "[7]",
    '["x"]',
    group("document"),
    group("", "navigate"),
    group("", "cors", "always"),
    group("", "cors", "omit", "a\u00e9"),
    group("", "cors", "omit", "*/*", "javascript:1"),
    group("", "cors", "omit", "*/*", "https://"),
    group("", "cors", "omit", "*/*", 7),
    JSON.stringify([["", "cors", "omit", "*/*", ...Array.from({ length: 33 }, () => "/x")]]),
    JSON.stringify([["", "cors", "omit", "*/*", `/${"x".repeat(1024)}`]]),
  ];
  for (const value of wrong) expect([value, read(value)]).toEqual([value, []]);
});
