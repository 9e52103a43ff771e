import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ErrorCode } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { thrownBy } from "../../testing/thrown-by.ts";
import { ReceiveWindow, SendWindow } from "./credit.ts";

describe("what this side may send", () => {
  test("is what was granted less what was taken", () => {
    const window = new SendWindow(100, "stream");
    window.take(60);
    window.grant(10);
    expect(window.available).toBe(50);
  });

  test("may become negative when the initial credit is lowered, and comes back", () => {
    const window = new SendWindow(100, "stream");
    window.take(80);
    window.shift(-90);
    expect(window.available).toBe(-70);
    window.grant(71);
    expect(window.available).toBe(1);
  });

  test("a grant of nothing is a violation", () => {
    const error = thrownBy(() => new SendWindow(1, "stream").grant(0));
    expect(error).toMatchObject({ code: ErrorCode.PROTOCOL_ERROR, scope: "stream", initiator: "peer" });
  });

  test("never grows beyond the limit", () => {
    const window = new SendWindow(1, "session");
    window.grant(limits.creditBytes - 1);
    expect(thrownBy(() => window.grant(1))).toMatchObject({ code: ErrorCode.FLOW_CONTROL_ERROR, scope: "session" });
    expect(thrownBy(() => window.grant(Number.MAX_SAFE_INTEGER))).toMatchObject({ code: ErrorCode.FLOW_CONTROL_ERROR });
    expect(thrownBy(() => window.shift(1))).toMatchObject({ code: ErrorCode.FLOW_CONTROL_ERROR, scope: "session" });
    expect(window.available).toBe(limits.creditBytes);
  });
});

describe("what the peer may send", () => {
  test("is refused beyond its credit, and the window stays as it was", () => {
    const window = new ReceiveWindow(100);
    window.receive(99);
    expect(thrownBy(() => window.receive(2))).toMatchObject({ code: ErrorCode.FLOW_CONTROL_ERROR, initiator: "peer" });
    window.receive(1);
  });

  test("comes back on consumption, in batches of a quarter of the window", () => {
    const window = new ReceiveWindow(100);
    window.receive(100);
    expect([window.consume(20), window.consume(4), window.consume(1), window.consume(75)]).toEqual([0, 0, 25, 75]);
  });

  test("grows, and gives what it is larger by", () => {
    const window = new ReceiveWindow(100);
    window.receive(100);
    window.grow(100);
    expect(window.size).toBe(200);
    expect(window.consume(0)).toBe(100);
    window.receive(100);
    expect(thrownBy(() => window.receive(1))).toMatchObject({ code: ErrorCode.FLOW_CONTROL_ERROR });
  });
});

test("two sides that follow the rules never exceed the window and never stall", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5000 }),
      fc.array(fc.record({ send: fc.nat(3000), consume: fc.nat(3000) }), { maxLength: 200 }),
      (size, steps) => {
        const sender = new SendWindow(size, "stream");
        const receiver = new ReceiveWindow(size);
        let unconsumed = 0;
        const consume = (bytes: number): void => {
          unconsumed -= bytes;
          const increment = receiver.consume(bytes);
          if (increment > 0) sender.grant(increment);
        };
        for (const step of steps) {
          const bytes = Math.min(step.send, sender.available);
          sender.take(bytes);
          receiver.receive(bytes);
          unconsumed += bytes;
          expect(unconsumed).toBeLessThanOrEqual(size);
          consume(Math.min(step.consume, unconsumed));
          expect(sender.available).toBeGreaterThanOrEqual(0);
        }
        consume(unconsumed);
        expect(sender.available).toBeGreaterThan(0);
      },
    ),
  );
});
