import { expect, it } from "vitest";
import { priorityOf } from "./network-requests.ts";

it("orders what a page waits for before what it can do without", () => {
  const order = (["document", "style", "script", "image", "video"] as const).map((kind) => priorityOf(kind).urgency);
  expect(order).toEqual([...order].sort((a, b) => a - b));
  expect(new Set(order).size).toBe(5);
});

it("says nothing of a script's own fetch: the default costs no byte", () => {
  expect(priorityOf("")).toEqual({ urgency: 3, incremental: false });
});
