import { expect, it } from "vitest";
import { LateScript } from "./mount.tsx";

/** Loads that are answered in their turn: a name is there, null cannot be had. */
function rig(answers: readonly (string | null)[]) {
  const attempts: number[] = [];
  const timers: (() => void)[] = [];
  const ui = { isWanted: true, drawn: 0 };
  const sheets = new LateScript<string>({
    load: async () => {
      const attempt = attempts.length;
      attempts.push(attempt);
      const answer = answers[attempt] ?? null;
      if (answer === null) throw new TypeError("Failed to fetch dynamically imported module");
      return answer;
    },
    setTimer: (task) => {
      timers.push(task);
      return () => {};
    },
    isWanted: () => ui.isWanted,
    onReady: () => void ui.drawn++,
  });
  return { sheets, ui, attempts, timers };
}

it("loads once, whoever asks", async () => {
  const { sheets, attempts } = rig(["there"]);
  expect(sheets.loaded).toBeNull();
  expect(await Promise.all([sheets.load(), sheets.load()])).toEqual(["there", "there"]);
  expect([sheets.loaded, attempts]).toEqual(["there", [0]]);
});

it("tries again, at another address, for as long as it is wanted", async () => {
  const { sheets, ui, attempts, timers } = rig([null, null, "there"]);
  await sheets.loadIfWanted();
  expect(ui.drawn).toBe(0);
  timers.shift()?.();
  await expect.poll(() => timers.length).toBe(1);
  timers.shift()?.();
  await expect.poll(() => ui.drawn).toBe(1);
  expect(attempts).toEqual([0, 1, 2]);
});

it("does not try again where it is wanted no longer, and does so when it is wanted anew", async () => {
  const { sheets, ui, attempts, timers } = rig([null, "there"]);
  await sheets.loadIfWanted();
  ui.isWanted = false;
  timers.shift()?.();
  await sheets.loadIfWanted();
  expect(attempts).toEqual([0]);
  ui.isWanted = true;
  await sheets.loadIfWanted();
  expect([attempts, ui.drawn, sheets.loaded]).toEqual([[0, 1], 1, "there"]);
});

it("tries again once, however often it is asked for", async () => {
  const { sheets, ui, attempts, timers } = rig([null, null, "there"]);
  for (let draws = 0; draws < 3; draws++) void sheets.loadIfWanted();
  await expect.poll(() => timers.length).toBe(1);
  void sheets.loadIfWanted();
  timers.shift()?.();
  await expect.poll(() => timers.length).toBe(1);
  timers.shift()?.();
  await expect.poll(() => ui.drawn).toBe(1);
  await sheets.loadIfWanted();
  expect([attempts, timers, ui.drawn]).toEqual([[0, 1, 2], [], 1]);
});

it("is drawn where somebody else has had it come in the meantime", async () => {
  const { sheets, ui, timers } = rig([null, "there"]);
  await sheets.loadIfWanted();
  await sheets.load();
  timers.shift()?.();
  expect(ui.drawn).toBe(1);
});
