import { beforeEach, describe, expect, it } from "vitest";
import { ContextPool } from "./late-decoder.ts";

let time: number;
let timers: { readonly at: number; readonly task: () => void }[];
let pool: ContextPool;
let taken: number;

beforeEach(() => {
  time = 5000;
  timers = [];
  taken = 0;
  const setTimer = (task: () => void, delay: number) => {
    timers.push({ at: time + delay, task });
    return () => {};
  };
  pool = new ContextPool({ most: 2, mostStalled: 4 }, { now: () => time, setTimer });
});

const settled = () => new Promise((resolve) => setTimeout(resolve));

async function take(count: number): Promise<void> {
  for (let left = count; left > 0; left--) void pool.take().then(() => taken++);
  await settled();
}

async function pass(ms: number): Promise<void> {
  time += ms;
  for (const { at, task } of timers.splice(0)) at <= time ? task() : timers.push({ at, task });
  await settled();
}

describe("contexts of decoders", () => {
  it("are so many at once; the next is for who waits as one is released", async () => {
    await take(3);
    expect(taken).toBe(2);
    pool.release();
    await settled();
    expect(taken).toBe(3);
  });

  it("are more while none goes on, as a page may take its bodies never", async () => {
    await take(3);
    await pass(900);
    pool.stepped();
    await pass(900);
    expect(taken).toBe(2);
    await pass(101);
    expect(taken).toBe(3);
  });

  it("are never more than a bound", async () => {
    await take(9);
    for (let count = 0; count < 20; count++) await pass(5000);
    expect(taken).toBe(4);
    pool.release();
    await settled();
    expect(taken).toBe(5);
  });
});
