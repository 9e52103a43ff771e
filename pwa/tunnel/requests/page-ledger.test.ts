import { expect, it } from "vitest";
import { type Counters, openLedger } from "./page-ledger.ts";

function counters(each: number): Counters {
  return {
    requests: each,
    requestsDone: each,
    requestsFailed: each,
    linkBytesUp: each,
    linkBytesDown: each,
    originBytes: each,
    expectedBytes: each,
  };
}

it("charges a page with what was moved since it began", () => {
  let current = counters(10);
  const progress = openLedger(() => current);
  current = counters(13);
  const three = { requests: 3, linkBytesUp: 3, linkBytesDown: 3, originBytes: 3, expectedBytes: 3 };
  expect(progress()).toEqual({ ...three, requestsDone: 6 });
  expect(openLedger(() => current)()).toMatchObject({ requests: 0, requestsDone: 0 });
});
