/** What a replay says of itself, and the paper's metrics from it and from the link. */
import type { LinkCounters } from "../../../lab/lab.ts";

/** One request of a replay. Times are milliseconds since its first request. */
export interface ReplayedRequest {
  readonly habit: string;
  readonly method: string;
  readonly url: string;
  /** Null when it was never sent, since what it depends on failed. */
  readonly start: number | null;
  /** The answer's head was there. */
  readonly head: number | null;
  /** The answer was there whole, and right. */
  readonly end: number | null;
  /** Bytes of the answer's body that arrived. */
  readonly bytes: number;
  /** Why it failed, or null. */
  readonly failure: string | null;
}

export interface ReplayOutcome {
  readonly name: string;
  /** Milliseconds of the epoch. */
  readonly startedAt: number;
  readonly requests: readonly ReplayedRequest[];
  readonly failures: number;
  /** L_app: milliseconds from the first request to the end of the last answer that was 200 and right; null if none was. */
  readonly applicationLatency: number | null;
  /** The part of it in which at least one request waited for its answer: L_app without anybody's thinking. */
  readonly waiting: number;
  readonly bodyBytesUp: number;
  readonly bodyBytesDown: number;
  /** ALPN names of the protocols that the browser used, "" for a service worker. */
  readonly protocols: readonly string[];
}

/** Sums a replay up from its requests. */
export function replayOutcome(
  replay: Pick<ReplayOutcome, "name" | "startedAt" | "requests" | "bodyBytesUp" | "protocols">,
): ReplayOutcome {
  const ends = replay.requests.flatMap(({ end }) => (end === null ? [] : [end]));
  return {
    ...replay,
    failures: replay.requests.filter(({ failure }) => failure !== null).length,
    applicationLatency: ends.length === 0 ? null : Math.max(...ends),
    waiting: coveredTime(replay.requests),
    bodyBytesDown: replay.requests.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Milliseconds in which at least one of the requests was under way. */
function coveredTime(requests: readonly ReplayedRequest[]): number {
  const spans = requests
    .flatMap(({ start, end }) => (start === null || end === null ? [] : [{ start, end }]))
    .sort((one, other) => one.start - other.start);
  let covered = 0;
  let until = 0;
  for (const { start, end } of spans) {
    covered += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  return covered;
}

/** IPv4 header and UDP header. */
const UDP_HEADERS = 20 + 8;
/** IPv4 header, TCP header, and its timestamps, which Linux sends in every segment of a connection. */
const TCP_HEADERS = 20 + 20 + 12;
/** What the options of a SYN and its answer (MSS, SACK, window scale) take beyond timestamps, both together. */
const TCP_OPENING = 16;

export interface ApplicationTraffic {
  /** Bytes on the link, both ways, IP headers included: the paper's "total TCP bytes". */
  readonly linkBytes: number;
  /** Of them, bytes above TCP (or, for QUIC, UDP). */
  readonly payloadBytes: number;
  readonly connections: number;
}

/**
 * What crossed the link between two readings of its counters. Payload is bytes less the headers of their packets; acks
 * that tell of loss (SACK) are 12 to 36 bytes longer than counted here, well under 1% of the payload.
 *
 * @param transport what the bytes mostly are.
 */
export function applicationTraffic(
  before: LinkCounters,
  after: LinkCounters,
  transport: "tcp" | "quic",
): ApplicationTraffic {
  const bytes = after.up.bytes - before.up.bytes + after.down.bytes - before.down.bytes;
  const packets = after.up.packets - before.up.packets + after.down.packets - before.down.packets;
  const tcpConnections = after.tcpConnections - before.tcpConnections;
  const headers = transport === "tcp" ? packets * TCP_HEADERS + tcpConnections * TCP_OPENING : packets * UDP_HEADERS;
  return {
    linkBytes: bytes,
    payloadBytes: Math.max(0, bytes - headers),
    connections: tcpConnections + after.quicConnections - before.quicConnections,
  };
}

/** TP_app in kbit/s: payload by L_app. */
export function applicationThroughput(traffic: ApplicationTraffic, applicationLatency: number): number {
  return (traffic.payloadBytes * 8) / applicationLatency;
}
