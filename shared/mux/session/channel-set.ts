import type { RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";
import type { Transport } from "../../transport.ts";
import type { ChannelFrame } from "../../wire/frame.ts";
import {
  type Attachment,
  begunAnew,
  type CarriedPlace,
  type Channel,
  cannotResume,
  type Defer,
  isCarried,
  isResuming,
} from "../pipe/channel.ts";
import { FRESH_WINDOW_BYTES, type RetainedTotal } from "../pipe/frame-log.ts";
import type { MuxStream } from "../stream/stream.ts";
import { type ChannelOwner, SessionChannel, type SessionChannelSnapshot } from "./session-channel.ts";

// How many channels pay, as a pure function of what was measured. A fresh TCP window is ten segments, and it grows by
// round trips; one that loses segments stays small. Several windows begin as their sum, and one's loss leaves the others.
// On a link that a single fresh window fills, more of them only fill its buffer.

export interface ChannelSituation {
  /** A setting, for experiments; null to decide by the rest. */
  readonly fixed: number | null;
  /** Channels that have a transport. */
  readonly attached: number;
  /** The shortest round trip, in ms; null as long as none was measured. */
  readonly minRtt: number | null;
  /** Bytes per ms that were seen. */
  readonly rate: number;
  /** Seen when the link carried all that it can; null if it never did. */
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

interface Channels {
  readonly all: readonly SessionChannel[];
  /** The first channel is always there. */
  readonly first: SessionChannel;
}

/**
 * Which channel of a session carries what, of those that have a transport: streams and pieces of bodies go over all that
 * work, what is about the session over the one that is known to.
 */
class ChannelChoice {
  #channels: Channels;
  #lastHeard: SessionChannel;

  constructor(channels: Channels) {
    this.#channels = channels;
    this.#lastHeard = channels.first;
  }

  get attached(): SessionChannel[] {
    return this.#channels.all.filter(({ channel }) => channel.attached);
  }

  /** Channels whose transport works as far as is known; where there is none, those that have any transport. */
  get live(): SessionChannel[] {
    const attached = this.attached.filter(({ channel }) => !channel.isNew);
    const live = attached.filter(({ channel }) => !isResuming(channel.state));
    return live.length > 0 ? live : attached;
  }

  /**
   * The channel for a new stream: that of a stream behind which all later frames have to arrive, if there is such a
   * stream; else, of the first `most` with a transport of their own, that with the fewest streams.
   */
  forStream(most: number): SessionChannel {
    for (const each of this.#usable) for (const { leads } of each.streams.values()) if (leads) return each;
    const [first, ...others] = this.#uncarried.slice(0, most);
    if (first === undefined) return this.#channels.first;
    return others.reduce((least, other) => (other.streams.size < least.streams.size ? other : least), first);
  }

  /** For what may go on any channel: the one that is known to work. */
  get lastHeard(): SessionChannel {
    const usable = this.#usable;
    return usable.includes(this.#lastHeard) ? this.#lastHeard : (usable[0] ?? this.#channels.first);
  }

  /** For the session's credit: the one with most to acknowledge, since the acknowledgement goes along. */
  get forCredit(): SessionChannel {
    const untold = ({ channel }: SessionChannel): number => channel.arrived.untoldBytes;
    return this.#usable.reduce((most, each) => (untold(each) > untold(most) ? each : most), this.lastHeard);
  }

  heard(channel: SessionChannel): void {
    this.#lastHeard = channel;
  }

  /**
   * Which part of the channels may have lost the bytes that were under way, 0 to 1, while other channels go on. Null as
   * long as none is known to go on.
   */
  get strandedPart(): number | null {
    const { attached, live } = this;
    const { all } = this.#channels;
    if (attached.length > 0 && attached.every(({ channel }) => isResuming(channel.state))) return null;
    // Pieces of a body may be under way on any, but not on one whose end was agreed on.
    const isBusy = all.some(({ streams }) => streams.size > 0);
    // Nothing is under way on a channel that is only joining.
    const isLost = (each: SessionChannel): boolean =>
      !live.includes(each) && !(each.channel.attached && each.channel.isNew);
    const lost = all.filter((each) => isLost(each) && (!isRetiring(each) || each.streams.size > 0));
    return isBusy && live.length > 0 ? lost.length / (lost.length + live.length) : 0;
  }

  /**
   * The channel for the next piece of a body: the one with the least under way for what it carries in a round trip. So
   * fresh channels, and those that lose segments, get less. While there is no link at all, the stream's own channel
   * keeps the piece for later. Null when none can take it now.
   *
   * @param home the stream's channel.
   * @param mayStray pieces may go on channels that the stream is not on.
   */
  forPiece(home: SessionChannel, mayStray: boolean): SessionChannel | null {
    const usable = mayStray ? this.#uncarried : this.#usable;
    const isHomeUsable = usable.length === 0 || usable.includes(home);
    const others = mayStray ? usable.filter((each) => each !== home) : [];
    let best: SessionChannel | null = null;
    for (const each of isHomeUsable ? [home, ...others] : others) {
      const { takesData, load } = each.channel.retained;
      if (takesData && (best === null || load < best.channel.retained.load)) best = each;
    }
    return best;
  }

  /** Channels of `live` that will keep their transport, by number. */
  get #usable(): SessionChannel[] {
    return this.live.filter((each) => !isRetiring(each)).sort((a, b) => a.index - b.index);
  }

  /** Channels of `#usable` that have transports of their own; all of them where none has. */
  get #uncarried(): SessionChannel[] {
    const uncarried = this.#usable.filter(({ channel }) => !isCarried(channel.state));
    return uncarried.length > 0 ? uncarried : this.#usable;
  }
}

function isRetiring({ channel }: SessionChannel): boolean {
  return channel.retirement.name !== "none";
}

export interface Traffic {
  readonly messagesUp: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly replayedFrames: number;
}

function add(sum: Record<keyof Traffic, number>, more: Traffic): void {
  for (const key of Object.keys(sum) as (keyof Traffic)[]) sum[key] += more[key];
}

/** The state of all channels that survives hibernation, the first one's beside the others'. */
export interface ChannelsSnapshot extends SessionChannelSnapshot {
  /** Channels beyond the first. */
  readonly more: readonly (SessionChannelSnapshot & { readonly index: number })[];
}

interface ChannelSetOptions {
  readonly sessionId: Uint8Array;
  readonly owner: ChannelOwner;
  readonly defer: Defer | undefined;
  readonly snapshot: ChannelsSnapshot | undefined;
}

/** The channels of one session: how they come, get and lose their transports, and go. */
export class ChannelSet {
  readonly first: SessionChannel;
  readonly choice: ChannelChoice;
  /** The total that all channels keep for a resume. */
  readonly #retained: RetainedTotal = { bytes: 0, replayed: 0, acknowledged: 0 };
  /** Of channels that were retired. */
  readonly #pastTraffic = { messagesUp: 0, bytesUp: 0, bytesDown: 0, replayedFrames: 0 };
  /** Phone: the last push of each channel that was retired, by number. */
  readonly #pastPushIds = new Map<number, number>();
  #options: ChannelSetOptions;
  /** By number; the first stays for the life of the session, the others until they are retired. */
  #channels = new Map<number, SessionChannel>();
  /** Phone: links that channels of the session were put on. */
  #links = 0;
  /** Phone: transports of further channels that wait for the edge to have said HELLO, since it does not know the session. */
  #waiting: Map<number, Transport> | null = new Map();

  constructor(options: ChannelSetOptions) {
    this.#options = options;
    this.first = this.#create(0, options.snapshot);
    for (const { index, ...snapshot } of options.snapshot?.more ?? []) this.#create(index, snapshot);
    this.choice = new ChannelChoice(this);
  }

  get all(): SessionChannel[] {
    return [...this.#channels.values()];
  }

  /** How many have a transport. */
  get attachedCount(): number {
    return this.choice.attached.length;
  }

  /** Phone: the numbers of further channels without a transport of their own. */
  get stranded(): Set<number> {
    const stranded = this.all.filter(({ index, channel }) => index > 0 && channel.state.link?.kind !== "own");
    return new Set(stranded.map(({ index }) => index));
  }

  /** Phone: whether the channel could not be closed now, or has no transport of its own that could be. */
  isBusy(index: number): boolean {
    const known = this.by(index);
    return known === undefined || isCarried(known.channel.state) || known.streams.size > 0 || known.channel.isNew;
  }

  get traffic(): Traffic {
    const sum = { ...this.#pastTraffic };
    for (const { channel } of this.all) add(sum, channel.traffic);
    return sum;
  }

  /** Bytes of frames that the peer has acknowledged so far. */
  get acknowledgedBytes(): number {
    return this.#retained.acknowledged;
  }

  /** Bytes of frames that the peer has not acknowledged. */
  get unacknowledgedBytes(): number {
    const kept = this.all.map(({ channel }) => channel.retained);
    return kept.reduce((sum, { count, bytes }) => sum + bytes - count * limits.retainedFrameBytes, 0);
  }

  /** Whether frames were sent that the peer may lack: what came before an end that it has confirmed, it has. */
  get isUnacknowledged(): boolean {
    return this.all.some(({ channel }) => channel.retained.count > 0 && channel.retirement.name !== "confirmed");
  }

  *streams(): Generator<MuxStream> {
    for (const channel of this.all) yield* [...channel.streams.values()];
  }

  /** The channel that a stream is on. */
  of(stream: MuxStream): SessionChannel {
    return this.#channels.get(stream.channelIndex) ?? this.first;
  }

  by(index: number): SessionChannel | undefined {
    return this.#channels.get(index);
  }

  /** The same, which begins if there is none. */
  at(index: number): SessionChannel {
    return this.#channels.get(index) ?? this.#create(index, undefined);
  }

  /** Forgets a channel that carries no stream: the peer has begun it anew, or both have agreed on its end. */
  drop(old: SessionChannel): void {
    old.dropStrays();
    // Pieces of its streams may still come on other channels: no later stream of the number may have their ids.
    this.first.skipOwnIds(old.lastOwnId);
    if (this.#options.owner.role === "phone") this.#pastPushIds.set(old.index, old.lastPushId);
    old.channel.retire();
    add(this.#pastTraffic, old.channel.traffic);
    this.#channels.delete(old.index);
  }

  /** How often what comes is acknowledged, in bytes: the peer shares pieces out among several channels by these ACKs. */
  set ackBytes(bytes: number) {
    const several = this.choice.attached.length > 1;
    for (const { channel } of this.#channels.values()) channel.arrived.ackBytes = several ? bytes : null;
  }

  set batchBytes(bytes: number) {
    for (const { channel } of this.#channels.values()) channel.outbox.batchBytes = bytes;
  }

  /** Phone: channels without a transport go on over the first one's link. */
  carryStranded(): void {
    const first = this.first.channel;
    if (this.#waiting !== null || !first.attached) return;
    for (const { channel } of this.all) if (!channel.attached) channel.attachTo(first);
  }

  /** Phone: what came over the first one's link for another. */
  receiveCarried(from: CarriedPlace, message: Uint8Array): void {
    const channel = this.by(from.channel)?.channel;
    const link = channel?.state.link;
    if (link && link.kind !== "own" && link.number === from.link) channel?.receive(message, link.transport, false);
  }

  /**
   * Phone: a transport for the channel of that number, 0 to limits.channels - 1. All but channel 0 wait for the edge to
   * have been heard: until then it does not know the session that they belong to.
   */
  attach(index: number, transport: Transport): Attachment {
    if (this.first.channel.state.name !== "ended") {
      if (index === 0) this.#dropCarried();
      if (index > 0 && this.#waiting !== null) this.#waiting.set(index, transport);
      else this.at(index).channel.attach(transport);
    }
    return this.attachment(index, transport);
  }

  /** For a transport of the channel of that number, which it has, had, or waits for. */
  attachment(index: number, transport: Transport): Attachment {
    return {
      receive: (message, isCounted) => this.by(index)?.channel.receive(message, transport, isCounted),
      detach: () => {
        if (this.#waiting?.get(index) === transport) return this.#waiting.delete(index);
        const channel = this.by(index)?.channel;
        if (index === 0 && channel?.state.link?.transport === transport) this.#dropCarried();
        return channel?.detach(transport) ?? false;
      },
    };
  }

  /** Phone: the edge said HELLO on a channel. */
  greeted(): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    for (const [index, transport] of waiting ?? []) this.at(index).channel.attach(transport);
  }

  /** The transport of this channel, which carries no stream, is about to be closed in an orderly way. */
  beginRetirement(index: number): void {
    const channel = this.by(index)?.channel;
    if (channel === undefined || index === 0) return;
    // Frames that wait here would not get to the peer any more.
    channel.flush();
    channel.retirement = { name: "begun", sent: channel.retained.sent };
  }

  /**
   * Phone: that transport is closed. If the peer has confirmed it, both have got all that was sent before, and the channel is
   * forgotten: its number begins anew.
   *
   * @returns false when something of the channel may still be under way: it has to be attached again.
   */
  retire(index: number, isConfirmed: boolean): boolean {
    const retiring = this.by(index);
    if (retiring === undefined || retiring.channel.retirement.name === "none") return true;
    const isDone = isConfirmed && isQuiet(retiring);
    retiring.channel.retirement = { name: "none" };
    if (isDone) this.drop(retiring);
    this.#options.owner.receiver.strand();
    return isDone;
  }

  /** Sends everything queued now. */
  flush(): void {
    for (const { channel } of this.all) channel.flush();
  }

  fail(error: RopewayError): void {
    for (const transport of this.#waiting?.values() ?? []) transport.close(1000, "the session is over");
    this.#waiting?.clear();
    for (const { channel } of this.all) channel.fail(error);
  }

  /** The link that carried them is gone: those that have a transport of their own by now go on over that. */
  #dropCarried(): void {
    const waiting: [Channel, Transport][] = [];
    for (const { channel } of this.all) {
      const { link } = channel.state;
      if (link === null || link.kind === "own") continue;
      if (link.kind === "settling" && link.next !== null) waiting.push([channel, link.next]);
      channel.detach(link.transport);
    }
    for (const [channel, transport] of waiting) channel.attach(transport);
  }

  #create(index: number, snapshot: ReturnType<SessionChannel["snapshot"]> | undefined): SessionChannel {
    const { sessionId, owner, defer } = this.#options;
    const channel = new SessionChannel({
      index,
      sessionId,
      owner,
      nextLink: () => this.#links++,
      retained: this.#retained,
      defer,
      snapshot,
      lastOwnId: snapshot || index === 0 ? undefined : this.first.lastOwnId,
      lastPushId: this.#pastPushIds.get(index),
    });
    this.#channels.set(index, channel);
    return channel;
  }
}

/** Whether nothing of it can be under way since its retirement has begun. */
function isQuiet({ channel, streams }: SessionChannel): boolean {
  const { retirement, retained } = channel;
  return retirement.name === "begun" && retirement.sent === retained.sent && streams.size === 0;
}

// The edge's own part in the channels of a session.

/**
 * A transport for the channel that the phone's HELLO names, which goes on, or begins.
 *
 * @param isCarried the transport is the link of channel 0, made by `Channel.carrier`.
 * @throws RopewayError LINK_LOST as Channel.resume.
 */
export function resumeChannel(
  channels: ChannelSet,
  transport: Transport,
  hello: ChannelFrame & { type: "hello" },
  isCarried = false,
): Attachment {
  const index = hello.channel ?? 0;
  const known = channels.by(index);
  const begins = hello.received === 0 && hello.next === 0;
  // A further channel that the phone knows to be known here was forgotten, with what it has acted on.
  const isForgotten = known === undefined && (!begins || (index > 0 && hello.resume));
  if (index >= limits.channels || isForgotten) throw cannotResume("a channel is gone");
  if (known !== undefined) {
    // The phone has retired the one that was there.
    const isOver = known.channel.retirement.name !== "none" && begins && !hello.resume;
    known.channel.retirement = { name: "none" };
    if (isOver) {
      for (const stream of [...known.streams.values()]) stream.fail(begunAnew());
      channels.drop(known);
    }
  }
  channels.at(index).channel.resume(transport, hello, isCarried);
  return channels.attachment(index, transport);
}

/** A transport that already carried the channel, before the edge hibernated. */
export function adoptChannel(channels: ChannelSet, index: number, transport: Transport): Attachment {
  channels.at(index).channel.adopt(transport);
  return channels.attachment(index, transport);
}

interface ClosingSession {
  readonly channels: ChannelSet;
  readonly receiver: { strand(): void };
}

/**
 * The phone has confirmed the end of the transport of a channel. If the link broke then, the phone may not know of that
 * end, and may resume: so the channel is kept, but may be forgotten.
 *
 * @returns false when frames or streams of the channel are under way.
 */
export function confirmRetirement({ channels, receiver }: ClosingSession, index: number): boolean {
  const retiring = channels.by(index);
  if (retiring === undefined) return true;
  if (!isQuiet(retiring)) return false;
  channels.first.skipOwnIds(retiring.lastOwnId);
  retiring.channel.retirement = { name: "confirmed" };
  receiver.strand();
  return true;
}
