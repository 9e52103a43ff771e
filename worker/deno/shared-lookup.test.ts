import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import { settle } from "../../shared/testing/turns.ts";
import { LOOKUP_KEPT_TIME, LOOKUP_TIMEOUT, SharedLookups } from "./shared-lookup.ts";

function setUp(most: number, mostPerPhone = most) {
  const asked: string[] = [];
  const answers = new Map<string, { resolve(addresses: readonly string[]): void; reject(error: Error): void }>();
  const timers = new Set<() => void>();
  const clock = { now: 1_000 };
  const lookups = new SharedLookups({
    lookUp: (host) => {
      asked.push(host);
      const { promise, ...answer } = Promise.withResolvers<readonly string[]>();
      answers.set(host, answer);
      return promise;
    },
    now: () => clock.now,
    setTimer: (callback, ms) => {
      expect(ms).toBe(LOOKUP_TIMEOUT);
      timers.add(callback);
      return () => void timers.delete(callback);
    },
    most,
    mostPerPhone,
  });
  return { asked, answers, timers, clock, lookups, resolveName: lookups.forPhone() };
}

describe("shared lookups", () => {
  it("asks once for the same name at the same time, whichever phone, and anew after a failure", async () => {
    const { asked, answers, timers, lookups, resolveName } = setUp(9);
    const both = [resolveName("a.example"), lookups.forPhone()("a.example")];
    answers.get("a.example")?.reject(new Error("gone"));
    for (const lookup of both) await expect(lookup).rejects.toThrow("gone");
    const again = resolveName("a.example");
    answers.get("a.example")?.resolve(["192.0.2.1"]);
    expect(await again).toEqual(["192.0.2.1"]);
    expect(asked).toEqual(["a.example", "a.example"]);
    expect(timers.size).toBe(0);
  });

  it("keeps what it found for a moment", async () => {
    const { asked, answers, clock, resolveName } = setUp(9);
    const first = resolveName("a.example");
    answers.get("a.example")?.resolve(["192.0.2.1"]);
    await first;
    clock.now += LOOKUP_KEPT_TIME - 1;
    expect(await resolveName("a.example")).toEqual(["192.0.2.1"]);
    clock.now++;
    const later = resolveName("a.example");
    answers.get("a.example")?.resolve(["192.0.2.2"]);
    expect(await later).toEqual(["192.0.2.2"]);
    expect(asked).toHaveLength(2);
  });

  it("lets no more run than the limit, the others in order", async () => {
    const { asked, answers, resolveName } = setUp(2);
    const names = ["a", "b", "c", "d", "e"];
    const all = Promise.allSettled(names.map((name) => resolveName(name)));
    await settle();
    expect(asked).toEqual(["a", "b"]);
    answers.get("b")?.reject(new Error("no such name"));
    await settle();
    expect(asked).toEqual(["a", "b", "c"]);
    for (const name of ["a", "c"]) answers.get(name)?.resolve([]);
    await settle();
    expect(asked).toEqual(names);
    for (const name of ["d", "e"]) answers.get(name)?.resolve([]);
    expect((await all).map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
      "fulfilled",
    ]);
    const [next, later] = [resolveName("f"), resolveName("g")];
    await settle();
    expect(asked.slice(5)).toEqual(["f", "g"]);
    for (const name of ["f", "g"]) answers.get(name)?.resolve(["192.0.2.7"]);
    expect(await Promise.all([next, later])).toEqual([["192.0.2.7"], ["192.0.2.7"]]);
  });

  it("does not ask for what nobody waits for any more", async () => {
    const { asked, answers, timers, resolveName } = setUp(1);
    const running = resolveName("a");
    const controllers = [new AbortController(), new AbortController(), new AbortController()];
    const [first, second, other] = controllers.map(({ signal }, index) => resolveName(index < 2 ? "b" : "c", signal));
    for (const controller of controllers.slice(1)) controller.abort();
    await expect(second).rejects.toThrow();
    await expect(other).rejects.toThrow();
    answers.get("a")?.resolve([]);
    await running;
    await settle();
    expect(asked).toEqual(["a", "b"]);
    answers.get("b")?.resolve(["192.0.2.1"]);
    expect(await first).toEqual(["192.0.2.1"]);
    expect(asked).toEqual(["a", "b"]);
    expect(timers.size).toBe(0);
    await expect(resolveName("d", AbortSignal.abort())).rejects.toThrow();
    expect(asked).toEqual(["a", "b"]);
  });

  it("gives up what takes too long, running or waiting", async () => {
    const { asked, answers, timers, resolveName } = setUp(1);
    const both = [resolveName("a"), resolveName("b")];
    for (const runOut of [...timers]) runOut();
    for (const lookup of both) await expect(lookup).rejects.toMatchObject({ code: ErrorCode.UPSTREAM_TIMEOUT });
    expect(timers.size).toBe(0);
    answers.get("a")?.resolve(["192.0.2.1"]);
    await settle();
    expect(asked).toEqual(["a"]);
    expect(await resolveName("a")).toEqual(["192.0.2.1"]);
  });

  it("leaves other phones places, and takes turns", async () => {
    const { asked, answers, lookups, resolveName } = setUp(3, 2);
    const other = lookups.forPhone();
    const all = ["a", "b", "c", "d"].map((name) => resolveName(name));
    await settle();
    expect(asked).toEqual(["a", "b"]);
    all.push(other("x"), other("y"), other("c"));
    await settle();
    expect(asked).toEqual(["a", "b", "x"]);
    for (const name of ["a", "x", "b", "c", "y", "d"]) {
      answers.get(name)?.resolve([]);
      await settle();
    }
    expect(asked).toEqual(["a", "b", "x", "c", "y", "d"]);
    await Promise.all(all);
  });
});
