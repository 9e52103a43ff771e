import { expect, it } from "vitest";
import { LateScript } from "./mount.tsx";

/** Loads that are answered in their turn: a name is there, null cannot be had. */
function rig(answers: readonly (string | null)[]) {
  const attempts: number[] = [];
  const timers: (() => void)[] = [];
  const sheets = new LateScript<string>({
    load: async (attempt) => {
      attempts.push(attempt);
      const answer = answers[attempt] ?? null;
      if (answer === null) throw new TypeError("Failed to fetch dynamically imported module");
      return answer;
    },
    setTimer: (task) => {
      timers.push(task);
      return () => {};
    },
  });
  return { sheets, attempts, timers };
}

it("loads once, whoever asks", async () => {
  const { sheets, attempts } = rig(["there"]);
  expect(sheets.loaded).toBeNull();
  expect(await Promise.all([sheets.load(), sheets.load()])).toEqual(["there", "there"]);
  expect([sheets.loaded, attempts]).toEqual(["there", [0]]);
});

it("tries again, at another address, for whoever waits", async () => {
  const { sheets, attempts, timers } = rig([null, null, "there"]);
  let drawn = 0;
  await sheets.loadFor(
    () => drawn++,
    () => true,
  );
  expect(drawn).toBe(0);
  timers.shift()?.();
  await expect.poll(() => timers.length).toBe(1);
  timers.shift()?.();
  await expect.poll(() => drawn).toBe(1);
  expect(attempts).toEqual([0, 1, 2]);
});

it("does not try again for whoever has gone", async () => {
  const { sheets, attempts, timers } = rig([null, "there"]);
  await sheets.loadFor(
    () => {},
    () => false,
  );
  timers.shift()?.();
  expect(attempts).toEqual([0]);
  expect(await sheets.load()).toBe("there");
});

it("tries again once for all that wait, however often they ask", async () => {
  const { sheets, attempts, timers } = rig([null, null, "there"]);
  const drawn: string[] = [];
  const [one, other, gone] = ["one", "other", "gone"].map((name) => () => void drawn.push(name)) as [
    () => void,
    () => void,
    () => void,
  ];
  for (let draws = 0; draws < 3; draws++) for (const ready of [one, other]) void sheets.loadFor(ready, () => true);
  void sheets.loadFor(gone, () => false);
  await expect.poll(() => timers.length).toBe(1);
  void sheets.loadFor(one, () => true);
  timers.shift()?.();
  await expect.poll(() => timers.length).toBe(1);
  timers.shift()?.();
  await expect.poll(() => drawn).toEqual(["one", "other"]);
  expect([attempts, timers]).toEqual([[0, 1, 2], []]);
});
