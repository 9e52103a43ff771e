/** What the app says of itself: how many channels (WebSockets of its session) it has, and what was pushed. */
import { setTimeout as wait } from "node:timers/promises";
import type { Page } from "@playwright/test";
import type { Visit } from "../model.ts";

export type UsedChannels = Required<Pick<Visit, "channels" | "socketsOpened">>;

/** What the app says that the bench needs. `channels` are those attached; `sockets` are open, attached or not. */
export interface ChannelStats {
  readonly sockets: number;
  readonly socketsOpened: number;
  readonly channels?: number;
  readonly channelsWanted?: number;
  readonly pushes: number;
  readonly pushesClaimed: number;
}

export function readStats(page: Page): Promise<ChannelStats> {
  return page.evaluate(async () => (await window.ropeway.stats()) as unknown as ChannelStats);
}

/** An app of before there were channels has one socket. */
export function usedChannels({
  sockets,
  socketsOpened,
  channels,
}: Pick<ChannelStats, "sockets" | "socketsOpened" | "channels">): UsedChannels {
  return { channels: channels ?? sockets, socketsOpened };
}

/** @param before null where the app was closed. */
export function pushesSince(
  before: ChannelStats | null,
  { pushes, pushesClaimed }: ChannelStats,
): Pick<Visit, "pushes" | "pushesOfUse"> {
  const [made, claimed] = [pushes - (before?.pushes ?? 0), pushesClaimed - (before?.pushesClaimed ?? 0)];
  return made === 0 ? { pushes: 0 } : { pushes: made, pushesOfUse: claimed / made };
}

/** Milliseconds that an open app gets to open what it was set to; it may as well wait until there is work. */
const PATIENCE = 15_000;
const POLL = 100;

/**
 * Waits until the app has as many channels as it was set to, or is not going to.
 *
 * @param asked null for as many as it wants by itself.
 */
export async function channelsOpened(page: Page, asked: number | null): Promise<UsedChannels> {
  const end = performance.now() + PATIENCE;
  for (;;) {
    const stats = await readStats(page);
    const used = usedChannels(stats);
    const wanted = asked ?? stats.channelsWanted ?? used.channels;
    if (used.channels === wanted || performance.now() > end) return used;
    await wait(POLL);
  }
}

/**
 * A visit with another number than its contestant's name says would be counted for what it is not.
 *
 * @param seen before the visit, where the app was open, and after it: a lossy link may take one away for a while.
 */
export function channelFault(asked: number | null, seen: readonly UsedChannels[]): string | null {
  const had = seen.map(({ channels }) => channels);
  if (asked === null || (had.includes(asked) && had.every((channels) => channels <= asked))) return null;
  return `Cannot visit with ${asked} ${asked === 1 ? "channel" : "channels"}: the app had ${had.join(", then ")}`;
}
