import { expect, test } from "vitest";
import { BoundedMap } from "./bounded-map.ts";

function filled(): BoundedMap<string, number> {
  return new BoundedMap<string, number>(3).set("a", 1).set("b", 2).set("c", 3);
}

test("above the limit the oldest is dropped", () => {
  expect([...filled().set("d", 4)].flat()).toEqual(["b", 2, "c", 3, "d", 4]);
});

test("what is set again becomes the newest, and drops nothing", () => {
  expect([...filled().set("a", 5)].flat()).toEqual(["b", 2, "c", 3, "a", 5]);
});

test("what is used becomes the newest; what is looked at does not", () => {
  const map = filled();
  expect([map.use("a"), map.get("b"), map.use("x")]).toEqual([1, 2, undefined]);
  expect([...map.keys()]).toEqual(["b", "c", "a"]);
});

test("an entry whose key is undefined can be the oldest", () => {
  const map = new BoundedMap<string | undefined, number>(1).set(undefined, 1).set("a", 2);
  expect([...map.keys()]).toEqual(["a"]);
});
