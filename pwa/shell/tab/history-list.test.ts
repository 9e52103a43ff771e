import { describe, expect, it } from "vitest";
import { canGoBack, canGoForward, EMPTY_HISTORY, isTraversal, visit, visitUrl } from "./session-history.ts";

it("goes back and forward over known entries, and a new entry cuts what lay ahead", () => {
  let list = ["a", "b", "c"].reduce((so, key) => visit(so, key), EMPTY_HISTORY);
  expect([list.index, canGoBack(list), canGoForward(list)]).toEqual([2, true, false]);
  list = visit(list, "a");
  expect([list.keys, canGoBack(list), canGoForward(list)]).toEqual([["a", "b", "c"], false, true]);
  expect(visit(list, "d")).toEqual({ keys: ["a", "d"], index: 1 });
});

it("has nowhere to go when nothing was visited", () => {
  expect([canGoBack(EMPTY_HISTORY), canGoForward(EMPTY_HISTORY)]).toEqual([false, false]);
});

it("knows a document that cannot report by its URL, next to the entry shown", () => {
  let list = visitUrl(visit(EMPTY_HISTORY, "a"), "raw", true);
  expect(list).toEqual({ keys: ["a", "raw"], index: 1 });
  expect(visitUrl(list, "raw", true)).toEqual(list);
  list = visit(list, "c");
  expect(visitUrl(list, "raw", false)).toEqual({ keys: ["a", "raw", "c"], index: 1 });
  expect(visitUrl(visit(list, "a"), "raw", false).index).toBe(1);
  expect(visitUrl(list, "raw", true)).toEqual({ keys: ["a", "raw", "c", "raw"], index: 3 });
});

describe("where entries are known by their address only", () => {
  const A = "at https://a.example/";
  const B = "at https://b.example/";
  const there = [A, B].reduce((list, key) => visit(list, key, true), EMPTY_HISTORY);

  it("goes back to the one beside, and on to it anew where it was asked for", () => {
    expect(isTraversal(there, A)).toBe(true);
    expect(visit(there, A)).toEqual({ keys: [A, B], index: 0 });
    expect(isTraversal(there, A, true)).toBe(false);
    expect(visit(there, A, true)).toEqual({ keys: [A, B, A], index: 2 });
    expect(isTraversal(there, B)).toBe(false);
  });
});
