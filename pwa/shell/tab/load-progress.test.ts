import { expect, it } from "vitest";
import type { PageProgress } from "../../messages/tunnel-messages.ts";
import { loadProgress } from "./page-meter.ts";

const nothing: PageProgress = {
  requests: 0,
  requestsDone: 0,
  trackersBlocked: 0,
  roundTrip: 0,
  linkBytesUp: 0,
  linkBytesDown: 0,
  originBytes: 0,
  expectedBytes: 0,
  storeAnswers: 0,
  storeValidations: 0,
  storeReferences: 0,
  storeBytes: 0,
  pagesWarmed: 0,
  pagesWarmedUsed: 0,
  waiting: { pictures: 0, films: 0, bytes: 0 },
};

it("shows at once that something happens, grows, and leaves room for painting", () => {
  const steps = [
    nothing,
    { ...nothing, requests: 1 },
    { ...nothing, requests: 1, requestsDone: 1, originBytes: 10, expectedBytes: 10 },
    { ...nothing, requests: 4, requestsDone: 3, originBytes: 10, expectedBytes: 20 },
    { ...nothing, requests: 4, requestsDone: 4, originBytes: 20, expectedBytes: 20 },
  ].map((progress) => loadProgress(progress, null));
  expect(steps[0]).toBeGreaterThan(0);
  expect(steps).toEqual([...steps].sort((a, b) => a - b));
  expect(steps.at(-1)).toBeCloseTo(0.95);
});

it("never goes back when more is asked for", () => {
  expect(loadProgress({ ...nothing, requests: 100, requestsDone: 1 }, 0.7)).toBe(0.7);
});
