/**
 * How many channels pay, as a pure function of what was measured. A fresh TCP window is ten segments, and it grows by
 * round trips; one that loses segments stays small. Several windows begin as their sum, and one's loss leaves the others.
 * On a link that a single fresh window fills, more of them only fill its buffer.
 */
import * as limits from "../../limits.ts";
import { FRESH_WINDOW_BYTES } from "./flight-meter.ts";

export interface ChannelSituation {
  /** A setting, for experiments; null to decide by the rest. */
  readonly fixed: number | null;
  /** Channels that have a transport. */
  readonly attached: number;
  /** The shortest round trip, in ms; null as long as none was measured. */
  readonly minRtt: number | null;
  /** Bytes per ms that were seen. */
  readonly rate: number;
  /** That were seen when the link carried all that it can; null if it never did. */
  readonly fullRate: number | null;
  /** Part of the last round trips in which arrivals stalled for half of one or more, 0 to 1: a loss, or a small window. */
  readonly stallShare: number;
}

/** A link holds so many fresh windows' worth of bytes for each channel. */
const WINDOWS_PER_CHANNEL = 1.5;
/** More than so many gained nothing in any simulation. */
const MOST_CHANNELS = 5;
/** Below this round trip, in ms, a window has grown before another is open. */
const SHORT_ROUND_TRIP = 30;
/** Stalls in so many of the round trips ask for more windows... */
const STALLS = 0.3;
/** ...on links that carry this much, in bytes per ms: 100 kbit/s. Slower ones stall for other reasons. */
const LEAST_RATE = 12.5;

/** @returns 1 to limits.channels. */
export function wantedChannels(situation: ChannelSituation): number {
  const { fixed, attached } = situation;
  if (fixed !== null) return Math.min(limits.channels, Math.max(1, Math.floor(fixed)));
  const wanted = worthwhileChannels(situation);
  // To close one and open it again costs more than to keep it.
  return 2 * wanted > attached ? Math.min(limits.channels, Math.max(wanted, attached)) : wanted;
}

function worthwhileChannels({ minRtt, rate, fullRate, stallShare }: ChannelSituation): number {
  if (minRtt === null || minRtt < SHORT_ROUND_TRIP) return 1;
  if (stallShare >= STALLS && rate >= LEAST_RATE) return MOST_CHANNELS;
  if (fullRate === null) return minRtt > limits.longRoundTrip ? 1 : MOST_CHANNELS;
  const windows = (fullRate * minRtt) / FRESH_WINDOW_BYTES;
  return Math.min(MOST_CHANNELS, Math.max(1, Math.round(windows / WINDOWS_PER_CHANNEL)));
}
