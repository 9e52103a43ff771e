import { describe, expect, it } from "vitest";
import { PairingGuard, WRONG_KEY_TIME, WRONG_KEYS_PER_ADDRESS } from "./router.ts";

function rig() {
  const clock = { time: 0 };
  const waits: number[] = [];
  const guard = new PairingGuard({
    now: () => clock.time,
    setTimer(task, delay) {
      waits.push(delay);
      task();
      return () => {};
    },
  });
  return { clock, waits, guard };
}

const MOST = WRONG_KEYS_PER_ADDRESS;

describe("wrong keys", () => {
  it("shut their own address out for a while, and no other", async () => {
    const { clock, guard } = rig();
    for (let count = 0; count < MOST; count += 1) {
      expect(guard.patienceFor("192.0.2.1")).toBe(0);
      await guard.wrongKey("192.0.2.1");
    }
    expect(guard.patienceFor("192.0.2.1")).toBe(WRONG_KEY_TIME / 1000);
    expect([guard.patienceFor("192.0.2.2"), guard.patienceFor(null)]).toEqual([0, 0]);
    clock.time += WRONG_KEY_TIME;
    expect(guard.patienceFor("192.0.2.1")).toBe(0);
    await guard.wrongKey("192.0.2.1");
    expect(guard.patienceFor("192.0.2.1")).toBeGreaterThan(0);
    clock.time += MOST * WRONG_KEY_TIME;
    for (let count = 1; count < MOST; count += 1) await guard.wrongKey("192.0.2.1");
    expect(guard.patienceFor("192.0.2.1")).toBe(0);
  });

  it("of one IPv6 network count together", async () => {
    const { guard } = rig();
    for (let count = 0; count < MOST; count += 1) await guard.wrongKey(`2001:db8:0:7::${count.toString(16)}`);
    expect(guard.patienceFor("2001:db8:0:7:1:2:3:4")).toBeGreaterThan(0);
    expect(guard.patienceFor("2001:db8:0:8::1")).toBe(0);
  });

  it("of all addresses make only their answers slow, up to a bound, until they have ceased", async () => {
    const { clock, waits, guard } = rig();
    for (let count = 0; count < 10_000; count += 1) await guard.wrongKey(`10.0.${count >> 8}.${count & 255}`);
    expect(waits.length).toBe(10_000 - MOST);
    expect([waits[0], waits.at(-1)]).toEqual([100, 5_000]);
    expect(guard.patienceFor("192.0.2.1")).toBe(0);
    clock.time += 10_000 * 1_000;
    waits.length = 0;
    await guard.wrongKey("192.0.2.1");
    expect(waits).toEqual([]);
  });

  it("that wait for their answers are few", async () => {
    const waiting: (() => void)[] = [];
    const guard = new PairingGuard({
      now: () => 0,
      setTimer(task) {
        waiting.push(task);
        return () => {};
      },
    });
    const answers = Array.from({ length: 1_000 }, () => guard.wrongKey(null));
    expect(waiting.length).toBeLessThanOrEqual(100);
    for (const resolve of waiting) resolve();
    await Promise.all(answers);
  });
});
