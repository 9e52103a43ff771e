/** What the emulated link can be told, and what it counts. */

export interface LinkSettings {
  /** Milliseconds one way. */
  readonly delay: number;
  /** Kilobits (1,000 bits) per second towards the phone, IP headers included; 0 is unlimited. */
  readonly down: number;
  readonly up: number;
  /** Kilobytes (1,000 bytes) that may wait for their turn; more is dropped at the tail. Means nothing without a rate. */
  readonly downQueue: number;
  readonly upQueue: number;
  /** Percent of the packets, each way. With `burst` it is the loss in the good state. */
  readonly loss: number;
  readonly burst?: BurstLoss;
  /** Paths of Mahimahi packet-delivery files, in place of the rates. */
  readonly trace?: { readonly down: string; readonly up: string };
}

/** Gilbert-Elliott: a chain of two states, one step per packet. All in percent. */
export interface BurstLoss {
  readonly goodToBad: number;
  readonly badToGood: number;
  readonly lossInBad: number;
}

/** Packets of one direction, each counted once, when it arrives or is dropped. */
export interface DirectionCounters {
  /** Delivered, IP headers included. */
  readonly bytes: number;
  readonly packets: number;
  readonly droppedByQueue: number;
  readonly droppedByLoss: number;
  readonly droppedInOutage: number;
}

export interface LinkCounters {
  readonly up: DirectionCounters;
  readonly down: DirectionCounters;
  /** That the phone opened: repeated SYNs of one attempt count once. */
  readonly tcpConnections: number;
  /** UDP flows from the phone to port 443. */
  readonly quicConnections: number;
  /** Packets of the phone to UDP port 53, repeated ones too. */
  readonly dnsQueries: number;
}

/**
 * The commands that put the settings into force, for link.c.
 *
 * @param seed of the loss; without one the generator goes on from where it is.
 * @throws RangeError if a number is not one the link can have.
 */
export function linkCommands(settings: LinkSettings, seed?: number): string[] {
  const { delay, down, up, downQueue, upQueue, loss, burst, trace } = settings;
  const chain = burst === undefined ? [] : [burst.goodToBad, burst.badToGood, burst.lossInBad];
  for (const value of [delay, down, up, downQueue, upQueue, loss, ...chain]) {
    if (!Number.isFinite(value) || value < 0) throw new RangeError(`Cannot set the link: ${value} is not a setting`);
  }
  if ([loss, ...chain].some((percent) => percent > 100)) {
    throw new RangeError("Cannot set the link: a percentage is above 100");
  }
  if (Object.values(trace ?? {}).some((path) => /[\r\n]/.test(path))) {
    throw new RangeError("Cannot set the link: a trace's path has a line break");
  }
  const words = [`delay=${delay}`, `down=${down}`, `up=${up}`, `downqueue=${downQueue}`, `upqueue=${upQueue}`];
  words.push(`loss=${loss}`);
  if (chain.length > 0) words.push(`burst=${chain.join(":")}`);
  if (seed !== undefined) words.push(`seed=${seed}`);
  const traces = trace === undefined ? [] : [`trace up ${trace.up}`, `trace down ${trace.down}`];
  return [`set ${words.join(" ")}`, ...traces];
}
