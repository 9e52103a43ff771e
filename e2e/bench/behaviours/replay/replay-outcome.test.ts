import { describe, expect, it } from "vitest";
import type { DirectionCounters, LinkCounters } from "../../../lab/lab.ts";
import { applicationThroughput, applicationTraffic, type ReplayedRequest, replayOutcome } from "./replay-outcome.ts";

function replayed(start: number | null, end: number | null, bytes = 100): ReplayedRequest {
  const failure = end === null ? "status 500" : null;
  return { habit: "read", method: "GET", url: "https://a.test/", start, head: start, end, bytes, failure };
}

function outcome(...requests: ReplayedRequest[]): ReturnType<typeof replayOutcome> {
  return replayOutcome({ name: "some", startedAt: 0, requests, bodyBytesUp: 0, protocols: [] });
}

describe("replayOutcome", () => {
  it("has the time of the last good answer, and of it the part that was waited for", () => {
    const sum = outcome(
      replayed(0, 100),
      replayed(20, 60),
      replayed(80, 150),
      replayed(400, 500),
      replayed(450, null, 7),
    );
    expect(sum).toMatchObject({ applicationLatency: 500, waiting: 250, failures: 1, bodyBytesDown: 407 });
  });

  it("has no latency when nothing was answered", () => {
    expect(outcome(replayed(0, null, 0), replayed(null, null, 0))).toMatchObject({
      applicationLatency: null,
      waiting: 0,
      failures: 2,
    });
  });
});

describe("applicationTraffic", () => {
  const direction = (bytes: number, packets: number): DirectionCounters => ({
    bytes,
    packets,
    droppedByQueue: 0,
    droppedByLoss: 0,
    droppedInOutage: 0,
  });
  const before: LinkCounters = {
    up: direction(100, 1),
    down: direction(200, 2),
    tcpConnections: 1,
    quicConnections: 0,
    dnsQueries: 0,
  };
  const after: LinkCounters = {
    up: direction(1_100, 11),
    down: direction(15_200, 22),
    tcpConnections: 3,
    quicConnections: 1,
    dnsQueries: 2,
  };

  it("takes headers from bytes", () => {
    expect(applicationTraffic(before, after, "tcp")).toEqual({
      linkBytes: 16_000,
      payloadBytes: 16_000 - 30 * 52 - 2 * 16,
      connections: 3,
    });
    expect(applicationTraffic(before, after, "quic").payloadBytes).toBe(16_000 - 30 * 28);
  });

  it("gives the paper's throughput", () => {
    expect(applicationThroughput({ linkBytes: 0, payloadBytes: 125_000, connections: 1 }, 10_000)).toBe(100);
  });
});
