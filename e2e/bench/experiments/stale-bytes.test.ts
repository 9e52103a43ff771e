import { describe, expect, test } from "vitest";
import type { LinkCounters } from "../../lab/lab.ts";
import { bytesAt, countStaleBytes } from "./stale-bytes.ts";

const NOTHING = { bytes: 0, packets: 0, droppedByQueue: 0, droppedByLoss: 0, droppedInOutage: 0 };

function countersWith(bytes: number): LinkCounters {
  return { up: NOTHING, down: { ...NOTHING, bytes }, tcpConnections: 0, quicConnections: 0, dnsQueries: 0 };
}

describe("bytes at a moment between two readings", () => {
  test("grow evenly", () => {
    expect(bytesAt(15, { at: 10, bytes: 100 }, { at: 20, bytes: 300 })).toBe(200);
  });

  test("stay within the readings", () => {
    expect(bytesAt(5, { at: 10, bytes: 100 }, { at: 20, bytes: 300 })).toBe(100);
    expect(bytesAt(25, { at: 10, bytes: 100 }, { at: 20, bytes: 300 })).toBe(300);
    expect(bytesAt(12, { at: 10, bytes: 100 }, { at: 10, bytes: 300 })).toBe(100);
  });
});

test("what comes after giving up counts, and the pings of an idle link after it do not", async () => {
  let readings = 0;
  const counters = async (): Promise<LinkCounters> => {
    readings += 1;
    return countersWith(readings <= 2 ? 1_000 : readings <= 4 ? 30_000 : 30_100);
  };
  expect(await countStaleBytes(counters, 100, async () => Date.now())).toBe(29_000);
});
