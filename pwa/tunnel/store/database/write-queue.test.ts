import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Change, type StoreChanges, WriteQueue } from "./store-changes.ts";

const MEGABYTE = 1024 * 1024;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A queue whose transactions end when the test says so. */
function openQueue() {
  const written: string[][] = [];
  const names = new Map<Change, string>();
  const ends: (() => void)[] = [];
  const times = {
    now: () => Date.now(),
    setTimer: (task: () => void, delay: number) => {
      const timer = setTimeout(task, delay);
      return () => clearTimeout(timer);
    },
  };
  const queue = new WriteQueue((changes) => {
    written.push(changes.map((change) => names.get(change) ?? ""));
    return new Promise((resolve) => ends.push(resolve));
  }, times);
  const change = (name: string, bytes = 0): Change => {
    const made = { bytes, run: async (_: StoreChanges) => {} };
    names.set(made, name);
    return made;
  };
  const end = async () => {
    ends.shift()?.();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { queue, written, change, end };
}

describe("what rests", () => {
  it("is written together, once nothing else has come for a while", () => {
    const { queue, written, change } = openQueue();
    for (const name of ["a", "b", "c"]) {
      void queue.addResting(change(name));
      vi.advanceTimersByTime(200);
    }
    expect(written).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(written).toEqual([["a", "b", "c"]]);
  });

  it("is written though more comes without end", () => {
    const { queue, written, change } = openQueue();
    for (let count = 0; count < 31; count++) {
      void queue.addResting(change(`${count}`));
      vi.advanceTimersByTime(100);
    }
    expect(written[0]).toHaveLength(30);
  });

  it("is written at once where it is much", () => {
    const { queue, written, change } = openQueue();
    void queue.addResting(change("a", MEGABYTE / 2));
    expect(written).toEqual([]);
    void queue.addResting(change("b", MEGABYTE / 2));
    expect(written).toEqual([["a", "b"]]);
  });

  it("goes before what is written at once, or is waited for", async () => {
    const { queue, written, change, end } = openQueue();
    void queue.addResting(change("a"));
    void queue.add(change("b"));
    void queue.addResting(change("c"));
    queue.hurry();
    expect(written).toEqual([["a", "b"]]);
    await end();
    expect(written).toEqual([["a", "b"], ["c"]]);
  });

  it("rests on behind what is being written", async () => {
    const { queue, written, change, end } = openQueue();
    void queue.add(change("a"));
    void queue.addResting(change("b"));
    await end();
    vi.advanceTimersByTime(299);
    expect(written).toEqual([["a"]]);
    vi.advanceTimersByTime(1);
    expect(written).toEqual([["a"], ["b"]]);
  });
});

it("lets others read between many changes", async () => {
  const { queue, written, change, end } = openQueue();
  for (let count = 0; count < 70; count++) void queue.addResting(change(`${count}`));
  queue.hurry();
  for (let count = 0; count < 3; count++) await end();
  expect(written.map(({ length }) => length)).toEqual([32, 32, 6]);
});

it("settles each when it is written, and one for which there is no room at once", async () => {
  const { queue, change, end } = openQueue();
  const settled: string[] = [];
  const add = (name: string, bytes: number) => void queue.add(change(name, bytes)).then(() => settled.push(name));
  add("a", MEGABYTE);
  add("b", 3 * MEGABYTE);
  add("c", 1);
  await vi.advanceTimersByTimeAsync(0);
  expect(settled).toEqual(["c"]);
  await end();
  expect(settled).toEqual(["c", "a"]);
  await end();
  expect(settled).toEqual(["c", "a", "b"]);
});
