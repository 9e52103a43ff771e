import { expect, it } from "vitest";
import { keepText } from "./kept-pages.tsx";

const page = { url: "https://a.example/", title: "A", keptAt: 0, bytes: 1_200_000, missing: 0 };

it.each([
  [null, null, "Stays on this phone as it is now, to be read without a link."],
  [page, null, "Kept 2 minutes ago, 1.2 MB."],
  [
    { ...page, missing: 1 },
    "kept",
    "Kept 2 minutes ago, 1.2 MB. Without a link it lacks 1 part that could not be stored.",
  ],
  [
    { ...page, missing: 3 },
    null,
    "Kept 2 minutes ago, 1.2 MB. Without a link it lacks 3 parts that could not be stored.",
  ],
  [null, "forbidden", "Cannot keep it: its site does not allow this page to be stored."],
  [null, "no-room", "Cannot keep it: there is no room left on this phone for it."],
] as const)("says of a page what is kept of it, or why not (%#)", (kept, result, text) => {
  expect(keepText(kept, result, 120_000)).toBe(text);
});
