import { expect, it } from "vitest";
import { storeSentences } from "./site-sheet.tsx";

const NOTHING = {
  storeAnswers: 0,
  storeValidations: 0,
  storeReferences: 0,
  storeBytes: 0,
  pagesWarmed: 0,
  pagesWarmedUsed: 0,
};

it("says nothing where the phone had nothing", () => expect(storeSentences(NOTHING)).toEqual([]));

it("says what the phone had, and what the site confirmed", () => {
  const had = { storeAnswers: 30, storeValidations: 1, storeReferences: 2, storeBytes: 820_000 };
  expect(storeSentences({ ...NOTHING, ...had })).toEqual([
    "30 parts of the page came from this phone, and nobody was asked.",
    "1 part of the page came from this phone after the site had said: not changed.",
    "2 parts of the page came from this phone after the site had sent the same again, to your edge only.",
    "820 kB did not have to be sent again.",
  ]);
});

it("says what was loaded ahead", () => {
  expect(storeSentences({ ...NOTHING, pagesWarmed: 1 })).toEqual(["1 link of it loaded ahead."]);
  expect(storeSentences({ ...NOTHING, pagesWarmed: 2, pagesWarmedUsed: 1 })).toEqual([
    "It was loaded before you opened it.",
    "2 links of it loaded ahead.",
  ]);
});
