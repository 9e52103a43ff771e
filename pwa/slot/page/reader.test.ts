import { expect, it, vi } from "vitest";
import { mayHaveArticle } from "./reader.ts";

it("does not look for an article in a page of more than 30,000 elements", () => {
  const paragraph = {
    className: "",
    id: "",
    matches: () => false,
    hasAttribute: () => false,
    textContent: "a".repeat(900),
  };
  const querySelectorAll = vi.fn((names: string) => (names.startsWith("p") ? [paragraph] : []));
  const page = (length: number) =>
    ({ getElementsByTagName: () => ({ length }), querySelectorAll }) as unknown as Document;
  expect(mayHaveArticle(page(30_000))).toBe(true);
  querySelectorAll.mockClear();
  expect(mayHaveArticle(page(30_001))).toBe(false);
  expect(querySelectorAll).not.toHaveBeenCalled();
});
