import { afterEach, expect, it, vi } from "vitest";
import { reloadApp } from "./phone.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("asks again for an app that does not open anew, less and less often", () => {
  vi.useFakeTimers();
  const reload = vi.fn();
  vi.stubGlobal("location", { reload });
  reloadApp();
  const counts = [0, 2_999, 1, 5_999, 1, 12_000].map((time) => {
    vi.advanceTimersByTime(time);
    return reload.mock.calls.length;
  });
  expect(counts).toEqual([1, 1, 2, 2, 3, 4]);
});
