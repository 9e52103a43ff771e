import { expect, it } from "vitest";
import { type Counters, openLedger } from "./tabs.ts";

function counters(each: number): Counters {
  return {
    requests: each,
    requestsDone: each,
    requestsFailed: each,
    trackersBlocked: each,
    linkBytesUp: each,
    linkBytesDown: each,
    originBytes: each,
    expectedBytes: each,
    roundTrip: each,
    storeAnswers: each,
    storeValidations: each,
    storeReferences: each,
    storeBytes: each,
    pagesWarmed: each,
    pagesWarmedUsed: each,
    waiting: { pictures: each, films: each, bytes: each },
  };
}

it("charges a page with what was moved since it began", () => {
  let current = counters(10);
  const progress = openLedger(() => current);
  current = counters(13);
  const three = { requests: 3, linkBytesUp: 3, linkBytesDown: 3, originBytes: 3, expectedBytes: 3 };
  expect(progress()).toEqual({
    ...three,
    requestsDone: 6,
    trackersBlocked: 3,
    roundTrip: 10,
    storeAnswers: 3,
    storeValidations: 3,
    storeReferences: 3,
    storeBytes: 3,
    pagesWarmed: 3,
    pagesWarmedUsed: 3,
    waiting: { pictures: 13, films: 13, bytes: 13 },
  });
  expect(openLedger(() => current)()).toMatchObject({ requests: 0, requestsDone: 0 });
});

it("charges a page with what the store did for it, also where the store came after the page", () => {
  let current: Counters = {
    ...counters(10),
    storeAnswers: null,
    storeValidations: null,
    storeReferences: null,
    storeBytes: null,
  };
  const progress = openLedger(() => current);
  expect(progress()).toMatchObject({ storeAnswers: 0, storeValidations: 0, storeReferences: 0, storeBytes: 0 });
  current = counters(2);
  expect(progress()).toMatchObject({ storeAnswers: 2, storeValidations: 2, storeReferences: 2, storeBytes: 2 });
});
