import { describe, expect, it } from "vitest";
import { settle } from "../../shared/testing/turns.ts";
import { CONNECTION_ATTEMPT_DELAY, connectFastest } from "./connect-fastest.ts";

function setUp(addresses: readonly string[]) {
  const tried: string[] = [];
  const closed: string[] = [];
  const attempts = new Map<string, { succeed(): void; fail(error: Error): void; signal: AbortSignal }>();
  const timers = new Set<() => void>();
  const controller = new AbortController();
  const connection = connectFastest(
    addresses,
    (address, signal) => {
      tried.push(address);
      const { promise, resolve, reject } = Promise.withResolvers<{ address: string; close(): void }>();
      signal.addEventListener("abort", () => reject(signal.reason));
      attempts.set(address, {
        succeed: () => resolve({ address, close: () => closed.push(address) }),
        fail: reject,
        signal,
      });
      return promise;
    },
    controller.signal,
    (callback, ms) => {
      expect(ms).toBe(CONNECTION_ATTEMPT_DELAY);
      timers.add(callback);
      return () => void timers.delete(callback);
    },
  );
  connection.catch(() => {});
  return { tried, closed, attempts, timers, controller, connection };
}

describe("connecting to the fastest address", () => {
  it("takes turns between the families, each time the ones before are slow", async () => {
    const { tried, attempts, timers, connection } = setUp(["2606::1", "2606::2", "1.1.1.1", "1.1.1.2", "1.1.1.3"]);
    expect(tried).toEqual(["2606::1"]);
    for (let next = 0; next < 4; next++) for (const runOut of [...timers]) runOut();
    expect(tried).toEqual(["2606::1", "1.1.1.1", "2606::2", "1.1.1.2", "1.1.1.3"]);
    attempts.get("1.1.1.2")?.succeed();
    expect(await connection).toMatchObject({ address: "1.1.1.2" });
    expect(attempts.get("2606::1")?.signal.aborted).toBe(true);
    expect(timers.size).toBe(0);
  });

  it("goes on at once after a failure, and rejects with the first when all fail", async () => {
    const { tried, attempts, timers, connection } = setUp(["1.1.1.1", "1.1.1.1", "1.1.1.2"]);
    attempts.get("1.1.1.1")?.fail(new Error("refused"));
    await settle();
    expect(tried).toEqual(["1.1.1.1", "1.1.1.2"]);
    attempts.get("1.1.1.2")?.fail(new Error("unreachable"));
    await expect(connection).rejects.toThrow("refused");
    expect(timers.size).toBe(0);
  });

  it("closes a second connection that came at the same time", async () => {
    const { attempts, timers, closed, connection } = setUp(["1.1.1.1", "1.1.1.2"]);
    for (const runOut of [...timers]) runOut();
    attempts.get("1.1.1.1")?.succeed();
    attempts.get("1.1.1.2")?.succeed();
    expect(await connection).toMatchObject({ address: "1.1.1.1" });
    await settle();
    expect(closed).toEqual(["1.1.1.2"]);
  });

  it("ends when nobody wants it any more", async () => {
    const { tried, timers, controller, connection } = setUp(["1.1.1.1", "1.1.1.2"]);
    controller.abort();
    await expect(connection).rejects.toThrow();
    expect(tried).toEqual(["1.1.1.1"]);
    expect(timers.size).toBe(0);
  });
});
