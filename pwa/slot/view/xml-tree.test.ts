import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FakeElement, FakeNode, fakeDocument } from "../testing/fake-elements.ts";
import { showRows } from "./tree.ts";
import { xmlRows } from "./xml-tree.ts";

beforeEach(() => {
  vi.stubGlobal("Node", FakeNode);
  vi.stubGlobal("document", fakeDocument);
});
afterEach(() => void vi.unstubAllGlobals());

/** Rows that are made of a document before anybody opens one. */
async function rowsOf(root: FakeElement): Promise<number> {
  const list = new FakeElement("ul");
  await showRows(list as unknown as HTMLElement, xmlRows([root as unknown as Node]));
  const rowsIn = (element: FakeElement): number =>
    element.children.reduce((sum, child) => sum + rowsIn(child), element.localName === "li" ? 1 : 0);
  return rowsIn(list);
}

it("shows a hundred children of an element, and a row for more", async () => {
  const children = (count: number) => Array.from({ length: count }, () => new FakeElement("b"));
  expect(await rowsOf(new FakeElement("a", {}, children(99)))).toBe(1 + 99);
  expect(await rowsOf(new FakeElement("a", {}, children(5_000)))).toBe(1 + 100 + 1);
});

it("opens two hundred elements in each other", async () => {
  let inner = new FakeElement("a");
  for (let depth = 0; depth < 5_000; depth += 1) inner = new FakeElement("a", {}, [inner]);
  expect(await rowsOf(inner)).toBe(200);
});
