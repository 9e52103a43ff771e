import { deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import * as limits from "../limits.ts";
import { Random } from "../testing/random.ts";
import { settle } from "../testing/turns.ts";
import { createInflater, type LinkDecoder } from "./link-coding.ts";

interface Rig {
  readonly inflater: LinkDecoder;
  readonly chunks: Uint8Array[];
  readonly outcome: unknown[];
  /** When it has finished or failed. */
  readonly over: Promise<void>;
  bytes(): number;
  /** Lets the consumer take one more chunk. */
  take(): void;
}

function rig(slow = false): Rig {
  const chunks: Uint8Array[] = [];
  const outcome: unknown[] = [];
  let take = (): void => {};
  let settled = (): void => {};
  const over = new Promise<void>((resolve) => {
    settled = resolve;
  });
  const inflater = createInflater({
    deliver(chunk) {
      chunks.push(chunk);
      if (!slow) return undefined;
      return new Promise<void>((resolve) => {
        take = resolve;
      });
    },
    finished() {
      outcome.push("finished");
      settled();
    },
    failed(error) {
      outcome.push(error);
      settled();
    },
  });
  return {
    inflater,
    chunks,
    outcome,
    over,
    bytes: () => chunks.reduce((sum, chunk) => sum + chunk.length, 0),
    take: () => take(),
  };
}

describe("inflating", () => {
  test("gives back what was deflated, in whatever pieces it comes", async () => {
    const random = new Random(7);
    const body = random.bytes(100_000);
    const deflated = deflateRawSync(body);
    const { inflater, chunks, outcome, over } = rig();
    for (let start = 0; start < deflated.length; ) {
      const length = 1 + random.below(7000);
      await inflater.write(deflated.subarray(start, start + length));
      start += length;
    }
    inflater.end();
    await over;
    expect(outcome).toEqual(["finished"]);
    expect(Buffer.concat(chunks).equals(body)).toBe(true);
  });

  test("keeps the order of pieces that are written at once", async () => {
    const body = new Random(8).bytes(50_000);
    const deflated = deflateRawSync(body);
    const { inflater, chunks, outcome, over } = rig();
    for (let start = 0; start < deflated.length; start += 3000)
      void inflater.write(deflated.subarray(start, start + 3000));
    inflater.end();
    await over;
    expect(outcome).toEqual(["finished"]);
    expect(Buffer.concat(chunks).equals(body)).toBe(true);
  });

  test("of a bomb stops at what the consumer takes", async () => {
    const bomb = deflateRawSync(new Uint8Array(64 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(2 * limits.framePayloadBytes);
    const slow = rig(true);
    slow.inflater.write(bomb).catch(() => {});
    await expect.poll(() => slow.chunks.length, { timeout: 10_000 }).toBe(1);
    await settle();
    expect(slow.chunks).toHaveLength(1);
    slow.take();
    await expect.poll(() => slow.chunks.length, { timeout: 10_000 }).toBe(2);
    expect(slow.bytes()).toBeLessThan(1100 * limits.inflateStepBytes);
    slow.inflater.cancel();
    await settle();
    expect(slow.outcome).toEqual([]);
  });

  test("of what is no deflate fails, once", async () => {
    const { inflater, outcome, over } = rig();
    await inflater.write(Uint8Array.of(0xff, 0xff, 0xff, 0xff)).catch(() => {});
    inflater.end();
    await over;
    expect(outcome).toHaveLength(1);
    expect(outcome[0]).toBeInstanceOf(Error);
  });

  test("of what is cut off fails", async () => {
    const deflated = deflateRawSync(new Random(9).bytes(10_000));
    const { inflater, outcome, over } = rig();
    await inflater.write(deflated.subarray(0, deflated.length - 1));
    inflater.end();
    await over;
    expect(outcome).toHaveLength(1);
    expect(outcome[0]).toBeInstanceOf(Error);
  });
});
