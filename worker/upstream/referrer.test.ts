import { expect, it } from "vitest";
import { ownReferrer } from "./redirects.ts";

const PAGE = "https://a.example/path?query";

it.each([
  [PAGE, "https://a.example", PAGE],
  ["https://u:p@a.example/path#part", "https://a.example", "https://a.example/path"],
  ["https://b.example/s.css", "https://a.example", ""],
  ["http://a.example/path", "https://a.example", ""],
  [PAGE, null, ""],
  [PAGE, "null", ""],
  ["", "https://a.example", ""],
  ["nonsense", "https://a.example", ""],
])("takes %o from a page of %o for %o", (referrer, origin, own) => {
  expect(ownReferrer({ referrer, origin })).toBe(own);
});
