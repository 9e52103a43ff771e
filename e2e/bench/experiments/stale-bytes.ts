/** Bytes that a link still carries after nobody wants them. */
import { setTimeout as wait } from "node:timers/promises";
import type { LinkCounters } from "../../lab/lab.ts";

/** Milliseconds without traffic after which no more is expected, beside a round trip. */
const QUIET = 1_500;
const POLL = 100;
/** Acknowledgements and pings that an idle connection may have. */
const IDLE_BYTES = 1_500;
/** Milliseconds after which what still comes is no rest of something that was given up. */
const PATIENCE = 120_000;

interface Reading {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly bytes: number;
}

/**
 * Counts what arrives on the way down from the moment that something was given up until the link is quiet.
 *
 * @param giveUp returns when it was given up, in milliseconds since 1970.
 * @param roundTrip of the link in milliseconds.
 */
export async function countStaleBytes(
  counters: () => Promise<LinkCounters>,
  roundTrip: number,
  giveUp: () => Promise<number>,
): Promise<number> {
  const read = async (): Promise<Reading> => {
    const sent = Date.now();
    const { down } = await counters();
    return { at: (sent + Date.now()) / 2, bytes: down.bytes };
  };
  const before = await read();
  const givenUpAt = await giveUp();
  const after = await read();
  const start = bytesAt(givenUpAt, before, after);
  let quietSince = after;
  for (let last = after; last.at - quietSince.at < QUIET + roundTrip; ) {
    await wait(POLL);
    last = await read();
    if (last.bytes - quietSince.bytes > IDLE_BYTES) quietSince = last;
    if (last.at - givenUpAt > PATIENCE) break;
  }
  return quietSince.bytes - start;
}

/** Telling a page something takes a few milliseconds, in which a steady stream goes on. */
export function bytesAt(time: number, before: Reading, after: Reading): number {
  if (after.at <= before.at) return before.bytes;
  const share = Math.min(1, Math.max(0, (time - before.at) / (after.at - before.at)));
  return before.bytes + share * (after.bytes - before.bytes);
}
