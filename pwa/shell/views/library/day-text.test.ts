import { expect, it } from "vitest";
import { dayText } from "./history-list.tsx";

const now = new Date(2026, 0, 2, 0, 30).getTime();

it("names days as people do", () => {
  expect(["2026-01-02", "2026-01-01", "2025-12-31"].map((day) => dayText(day, now))).toEqual([
    "Today",
    "Yesterday",
    expect.stringMatching(/^Wednesday,? 31 December 2025$/),
  ]);
  expect(dayText("2026-01-02", new Date(2026, 5, 1).getTime())).toMatch(/^Friday,? 2 January$/);
});
