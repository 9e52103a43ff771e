import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createGatedFetch, EXCHANGES_AWAITING_HEAD, HeaderGate } from "./fetch-workerd.ts";

interface Pending {
  readonly settled: Promise<unknown>;
  answer(): void;
  fail(): void;
  abort(): void;
}

/** A direct fetch whose heads come when the test says so, and a loopback that answers at once. */
function setUp() {
  const gate = new HeaderGate();
  const pending: Pending[] = [];
  const seen = { awaiting: 0, mostAwaiting: 0, loopbacks: 0 };
  const answers: { resolve(response: Response): void; reject(error: Error): void }[] = [];
  const gated = createGatedFetch(
    (request) => {
      seen.awaiting++;
      seen.mostAwaiting = Math.max(seen.mostAwaiting, seen.awaiting);
      const answered = new Promise<Response>((resolve, reject) => {
        answers.push({ resolve, reject });
        request.signal.addEventListener("abort", () => reject(new Error("aborted")));
      });
      return answered.finally(() => seen.awaiting--);
    },
    async () => {
      seen.loopbacks++;
      return new Response("loopback");
    },
    gate,
  );
  const start = () => {
    const directBefore = answers.length;
    const controller = new AbortController();
    const settled = gated(new Request("http://origin.example/", { signal: controller.signal })).catch(() => null);
    const answer = answers[directBefore];
    if (answer === undefined) return settled;
    pending.push({
      settled,
      answer: () => answer.resolve(new Response("direct")),
      fail: () => answer.reject(new Error("failed")),
      abort: () => controller.abort(),
    });
    return settled;
  };
  return { gate, pending, seen, start };
}

describe("createGatedFetch", () => {
  it("goes direct up to the limit less one, then by the loopback, then direct again", async () => {
    const { gate, pending, seen, start } = setUp();
    for (let i = 0; i < EXCHANGES_AWAITING_HEAD + 3; i++) void start();
    expect(gate.held).toBe(EXCHANGES_AWAITING_HEAD - 1);
    expect(seen.loopbacks).toBe(4);

    pending[0]?.answer();
    await pending[0]?.settled;
    void start();
    expect(seen.loopbacks).toBe(4);
    expect(gate.held).toBe(EXCHANGES_AWAITING_HEAD - 1);
  });

  it("never lets more than the platform's limit await their heads, and gives every permit back", async () => {
    const steps = fc.array(
      fc.record({ action: fc.constantFrom("start", "start", "answer", "fail", "abort"), pick: fc.nat() }),
      { maxLength: 200 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        const { gate, pending, seen, start } = setUp();
        for (const { action, pick } of script) {
          if (action === "start") {
            void start();
          } else if (pending.length > 0) {
            const [chosen] = pending.splice(pick % pending.length, 1);
            chosen?.[action as "answer" | "fail" | "abort"]();
            await chosen?.settled;
          }
          expect(gate.held).toBe(pending.length);
          expect(gate.held).toBeLessThan(EXCHANGES_AWAITING_HEAD);
        }
        for (const rest of pending) rest.answer();
        await Promise.all(pending.map((rest) => rest.settled));
        expect(gate.held).toBe(0);
        expect(seen.mostAwaiting).toBeLessThan(EXCHANGES_AWAITING_HEAD);
      }),
      { numRuns: 200 },
    );
  });

  it("gives the permit back on abort even if the platform's promise never settles", () => {
    const gate = new HeaderGate();
    const gated = createGatedFetch(
      () => new Promise(() => {}),
      async () => new Response(),
      gate,
    );
    const controller = new AbortController();
    void gated(new Request("http://origin.example/", { signal: controller.signal }));
    expect(gate.held).toBe(1);
    controller.abort();
    expect(gate.held).toBe(0);
  });

  it("counts a permit released twice once", () => {
    const gate = new HeaderGate(2);
    const release = gate.tryAcquire();
    gate.tryAcquire();
    release?.();
    release?.();
    expect(gate.held).toBe(1);
  });
});
