import { expect, it } from "vitest";
import { waitingText } from "./site-sheet.tsx";

it("says what of the page waits, and how large it is where that is known", () => {
  const all = "The page loads again with all of it.";
  expect(waitingText({ pictures: 12, films: 0, bytes: 1_400_000 })).toBe(`12 pictures wait, 1.4 MB. ${all}`);
  expect(waitingText({ pictures: 1, films: 0, bytes: 0 })).toBe(`1 picture waits. ${all}`);
  expect(waitingText({ pictures: 1, films: 2, bytes: 0 })).toBe(`1 picture and 2 films wait. ${all}`);
  expect(waitingText({ pictures: 0, films: 0, bytes: 0 })).toBeNull();
});
