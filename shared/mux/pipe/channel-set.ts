/** The channels of one session: which there are, which have a transport, and which of them carries what. */
import { ErrorCode, RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";
import type { Transport } from "../../transport.ts";
import type { ChannelFrame } from "../../wire/frame.ts";
import { type ChannelOwner, SessionChannel } from "../session/session-channel.ts";
import type { SessionSnapshot } from "../session/session-types.ts";
import type { MuxStream } from "../stream/stream.ts";
import type { CarriedPlace, Channel, Defer } from "./channel.ts";
import { SETTLED } from "./outbox.ts";
import type { RetainedTotal } from "./retained-frames.ts";

export interface Traffic {
  readonly messagesUp: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly replayedFrames: number;
}

export interface ChannelStatus extends Traffic {
  readonly index: number;
  readonly isAttached: boolean;
  /** Whether what it is attached to is the first channel's link. */
  readonly isCarried: boolean;
  /** Phone: whether the edge was heard on it. */
  readonly isGreeted: boolean;
  readonly openStreams: number;
}

export interface ChannelSetOptions {
  readonly sessionId: Uint8Array;
  readonly owner: ChannelOwner;
  readonly defer: Defer | undefined;
  readonly snapshot: SessionSnapshot | undefined;
}

export class ChannelSet {
  readonly first: SessionChannel;
  #options: ChannelSetOptions;
  /** By number; the first stays for the life of the session, the others until they are retired. */
  #channels = new Map<number, SessionChannel>();
  #lastHeard: SessionChannel;
  /** Phone: links that channels of the session were put on. */
  #links = 0;
  /** Phone: the edge has said HELLO, so it knows the session. */
  #isKnown = false;
  /** Phone: transports of further channels that wait for that, or for what comes over the first one's link for them. */
  #joining = new Map<number, Transport>();
  /** Transports of channels that go over the first one's link, by number. */
  #carried = new Map<number, { readonly transport: Transport; readonly link: number }>();
  /** Phone: those of them to which something may still come that the edge sends again. */
  #settling = new Set<number>();
  /** Frames sent on channels whose transports are being closed because they do not pay any more. */
  #retiring = new Map<number, number>();
  /** Edge: those of them whose end the phone has confirmed. */
  #confirmed = new Set<number>();
  /** What all of them keep for a resume. */
  readonly #retained: RetainedTotal = { bytes: 0, replayed: 0, acknowledged: 0 };
  /** Of channels that were retired. */
  #past: Traffic = { messagesUp: 0, bytesUp: 0, bytesDown: 0, replayedFrames: 0 };

  constructor(options: ChannelSetOptions) {
    this.#options = options;
    this.first = this.#create(0, options.snapshot);
    for (const { index, ...snapshot } of options.snapshot?.more ?? []) this.#create(index, snapshot);
    this.#lastHeard = this.first;
  }

  get all(): SessionChannel[] {
    return [...this.#channels.values()];
  }

  get attached(): SessionChannel[] {
    return this.all.filter(({ channel }) => channel.attached);
  }

  /** Whether any has a transport. */
  get isAttached(): boolean {
    return this.attached.length > 0;
  }

  *streams(): Generator<MuxStream> {
    for (const channel of this.all) yield* [...channel.streams.values()];
  }

  /** The channel that a stream is on. */
  of(stream: MuxStream): SessionChannel {
    return this.#channels.get(stream.channelIndex) ?? this.first;
  }

  /** Those that have a transport which is known to work, or may; where none has, those that have any. */
  get live(): SessionChannel[] {
    const attached = this.attached.filter(({ channel }) => !channel.isNew);
    const live = attached.filter(({ channel }) => !channel.isResuming);
    return live.length > 0 ? live : attached;
  }

  /** For a new stream: behind one that leads, else of the first `most` with a transport of their own that with the fewest. */
  forStream(most: number): SessionChannel {
    for (const each of this.#usable) for (const { leads } of each.streams.values()) if (leads) return each;
    const [first, ...others] = this.#uncarried.slice(0, most);
    if (first === undefined) return this.first;
    return others.reduce((least, other) => (other.streams.size < least.streams.size ? other : least), first);
  }

  /** For what may go on any channel: the one that is known to work. */
  get lastHeard(): SessionChannel {
    const usable = this.#usable;
    return usable.includes(this.#lastHeard) ? this.#lastHeard : (usable[0] ?? this.first);
  }

  heard(channel: SessionChannel): void {
    this.#lastHeard = channel;
  }

  /**
   * The part of the channels whose bytes under way may be lost with their transports, while others could go on. Null as
   * long as none is known to go on.
   */
  get strandedPart(): number | null {
    const { all, attached, live } = this;
    if (attached.length > 0 && attached.every(({ channel }) => channel.isResuming)) return null;
    // Pieces of a body may be under way on any, but not on one whose end was agreed on.
    const isBusy = all.some(({ streams }) => streams.size > 0);
    // On one that is only joining nothing is yet.
    const isLost = (each: SessionChannel): boolean =>
      !live.includes(each) && !(each.channel.attached && each.channel.isNew);
    const lost = all.filter((each) => isLost(each) && (!this.#retiring.has(each.index) || each.streams.size > 0));
    return isBusy && live.length > 0 ? lost.length / (lost.length + live.length) : 0;
  }

  /**
   * Where the next piece of a body goes: where what is on its way, as the peer has acknowledged, is the least part of what
   * the channel carries, so that fresh ones and those that lose segments get less. While there is no link at all, the stream's own keeps it for later. Null when
   * nothing can be taken now.
   *
   * @param mayStray pieces may go on channels that the stream is not on.
   */
  forPiece(stream: MuxStream, mayStray: boolean): SessionChannel | null {
    const home = this.of(stream);
    const usable = mayStray ? this.#uncarried : this.#usable;
    const isHomeUsable = usable.length === 0 || usable.includes(home);
    const others = mayStray ? usable.filter((each) => each !== home) : [];
    let best: SessionChannel | null = null;
    for (const each of isHomeUsable ? [home, ...others] : others) {
      if (each.channel.takesData && (best === null || each.channel.load < best.channel.load)) best = each;
    }
    return best;
  }

  by(index: number): SessionChannel | undefined {
    return this.#channels.get(index);
  }

  /** How often what comes is acknowledged, in bytes: where there are several channels, the peer deals by it. */
  set ackBytes(bytes: number) {
    const several = this.attached.length > 1;
    for (const { channel } of this.#channels.values()) channel.ackBytes = several ? bytes : null;
  }

  set batchBytes(bytes: number) {
    for (const { channel } of this.#channels.values()) channel.batchBytes = bytes;
  }

  /** Phone: channels without a transport go on over the first one's link. */
  carryStranded(): void {
    if (!this.#isKnown || !this.first.channel.attached) return;
    for (const { index, channel } of this.all) {
      if (channel.attached) continue;
      const link = this.#links++;
      const transport = this.first.channel.carrier({ channel: index, link });
      this.#carried.set(index, { transport, link });
      this.#settling.add(index);
      channel.attach(transport, link);
      // The edge's answer is behind all that it sends again.
      channel.ping(SETTLED);
    }
  }

  /** Phone: what came over the first one's link for another. */
  receiveCarried({ channel, link }: CarriedPlace, message: Uint8Array): void {
    const carried = this.#carried.get(channel);
    if (carried?.link === link) this.#channels.get(channel)?.channel.receive(message, carried.transport, false);
  }

  /** @returns whether it answers a ping of this class. */
  pong({ index }: SessionChannel, token: number): boolean {
    if (token !== SETTLED) return false;
    if (this.#settling.delete(index)) this.#join();
    return true;
  }

  /**
   * Phone: a transport for the channel of that number, 0 to limits.channels - 1. All but channel 0 wait for the edge to
   * have been heard: until then it does not know the session that they belong to.
   */
  attach(index: number, transport: Transport): void {
    if (this.first.channel.failed) return;
    if (index === 0) this.#dropCarried();
    // It would all come once more on the other link.
    const isSettling = this.#settling.has(index) && this.#isCarried(index);
    if (index > 0 && (!this.#isKnown || isSettling)) {
      this.#joining.set(index, transport);
      return;
    }
    this.#at(index).channel.attach(transport);
  }

  /** Phone: the edge said HELLO on a channel. */
  greeted(): void {
    if (this.#isKnown) return;
    this.#isKnown = true;
    this.#join();
  }

  #join(): void {
    if (!this.#isKnown) return;
    for (const [index, transport] of [...this.#joining]) {
      if (this.#settling.has(index)) continue;
      this.#joining.delete(index);
      this.#at(index).channel.attach(transport);
    }
  }

  /**
   * Edge: the same, given the phone's HELLO.
   *
   * @param isCarried the transport is a `carrier`.
   * @throws RopewayError LINK_LOST as Channel.resume.
   */
  resume(transport: Transport, hello: ChannelFrame & { type: "hello" }, isCarried = false): void {
    const index = hello.channel ?? 0;
    const known = this.#channels.get(index);
    const begins = hello.received === 0 && hello.next === 0;
    // A further channel that the phone knows to be known here was forgotten, with what it has acted on.
    const isForgotten = known === undefined && (!begins || (index > 0 && hello.resume));
    if (index >= limits.channels || isForgotten) {
      throw new RopewayError(
        ErrorCode.LINK_LOST,
        "session",
        "library",
        "Cannot resume the session: a channel is gone, open a new one",
      );
    }
    this.#confirmed.delete(index);
    // The phone has retired the one that was there.
    if (known !== undefined && this.#retiring.delete(index) && begins && !hello.resume) this.#drop(known);
    if (isCarried) this.#carried.set(index, { transport, link: hello.link });
    else this.#carried.delete(index);
    this.#at(index).channel.resume(transport, hello, isCarried);
  }

  /** The transport of this channel, which carries no stream, is about to be closed in an orderly way. */
  beginRetirement(index: number): void {
    const retiring = this.#channels.get(index);
    if (retiring === undefined || index === 0) return;
    // What waits here would not get to the peer any more.
    retiring.channel.flush();
    this.#retiring.set(index, retiring.channel.sent);
  }

  /**
   * Phone: that transport is closed. If the peer has confirmed it, both have got all that was sent before, and the channel is
   * forgotten: its number begins anew.
   *
   * @returns false when something of the channel may still be under way: it has to be attached again.
   */
  retire(index: number, isConfirmed: boolean): boolean {
    const sent = this.#retiring.get(index);
    this.#retiring.delete(index);
    const retiring = this.#channels.get(index);
    if (retiring === undefined || sent === undefined) return true;
    const isDone = isConfirmed && retiring.channel.sent === sent && retiring.streams.size === 0;
    if (isDone) this.#drop(retiring);
    this.#options.owner.receiver.strand();
    return isDone;
  }

  /**
   * Edge: the phone has confirmed the end of that transport. It may not know that itself, if the link broke then, and
   * resume: so the channel is kept, but it may be forgotten.
   *
   * @returns false when something of the channel is under way.
   */
  confirmRetirement(index: number): boolean {
    const retiring = this.#channels.get(index);
    if (retiring === undefined) return true;
    if (retiring.channel.sent !== this.#retiring.get(index) || retiring.streams.size > 0) return false;
    this.first.skipOwnIds(retiring.lastOwnId);
    this.#confirmed.add(index);
    this.#options.owner.receiver.strand();
    return true;
  }

  /** Bytes of frames that the peer has acknowledged so far, each once. */
  get acknowledgedBytes(): number {
    return this.#retained.acknowledged;
  }

  /** Whether frames were sent that the peer may lack: what came before an end that it has confirmed, it has. */
  get isUnacknowledged(): boolean {
    return this.all.some(({ index, channel }) => channel.unacknowledged.frames > 0 && !this.#confirmed.has(index));
  }

  /** Whether pieces of bodies wait for heads that are under way. */
  get hasStrays(): boolean {
    return this.all.some(({ hasStrays }) => hasStrays);
  }

  /** Bytes of frames that the peer has not acknowledged. */
  get unacknowledgedBytes(): number {
    const kept = this.all.map(({ channel }) => channel.unacknowledged);
    return kept.reduce((sum, { frames, bytes }) => sum + bytes - frames * limits.retainedFrameBytes, 0);
  }

  /** Sends everything queued now. */
  flush(): void {
    for (const { channel } of this.all) channel.flush();
  }

  /** As Channel.adopt. */
  adopt(index: number, transport: Transport): void {
    this.#at(index).channel.adopt(transport);
  }

  /**
   * A message of the peer. One from a transport that is not attached (any more) is ignored.
   *
   * @param isCounted its bytes are not those of another channel's message already.
   */
  receive(message: Uint8Array, from: Transport, isCounted = true): void {
    this.#on(from)?.receive(message, from, isCounted);
  }

  #on(transport: Transport): Channel | undefined {
    return this.all.find(({ channel }) => channel.isAttachedTo(transport))?.channel;
  }

  /** The transport is gone. @returns false when it carried no channel any more. */
  detach(transport: Transport): boolean {
    for (const [index, joining] of this.#joining) {
      if (joining === transport) return this.#joining.delete(index);
    }
    if (this.first.channel.isAttachedTo(transport)) this.#dropCarried();
    return this.#on(transport)?.detach(transport) ?? false;
  }

  fail(error: RopewayError): void {
    for (const transport of this.#joining.values()) transport.close(1000, "the session is over");
    this.#joining.clear();
    for (const { channel } of this.all) channel.fail(error);
  }

  get traffic(): Traffic {
    return this.all.reduce((sum, { channel }) => addTraffic(sum, channel.traffic), this.#past);
  }

  get status(): ChannelStatus[] {
    return this.all.map(({ index, channel, streams }) => ({
      ...channel.traffic,
      index,
      isAttached: channel.attached,
      isCarried: this.#isCarried(index),
      isGreeted: !channel.isNew,
      openStreams: streams.size,
    }));
  }

  snapshot(): Pick<SessionSnapshot, keyof ReturnType<SessionChannel["snapshot"]> | "more"> {
    // One that the phone has closed begins anew, if ever.
    const more = this.attached.filter((channel) => channel !== this.first);
    return {
      ...this.first.snapshot(),
      more: more.map((channel) => ({ index: channel.index, ...channel.snapshot() })),
    };
  }

  /** Those of `live` that will keep their transport, by number. */
  get #usable(): SessionChannel[] {
    return this.live.filter(({ index }) => !this.#retiring.has(index)).sort((a, b) => a.index - b.index);
  }

  /** Those of `#usable` that have transports of their own; all where none has. */
  get #uncarried(): SessionChannel[] {
    const uncarried = this.#usable.filter(({ index }) => !this.#isCarried(index));
    return uncarried.length > 0 ? uncarried : this.#usable;
  }

  #isCarried(index: number): boolean {
    const carried = this.#carried.get(index);
    return carried !== undefined && this.#channels.get(index)?.channel.isAttachedTo(carried.transport) === true;
  }

  /** The link that carried them is gone. */
  #dropCarried(): void {
    const carried = [...this.#carried];
    this.#carried.clear();
    this.#settling.clear();
    for (const [index, { transport }] of carried) this.#channels.get(index)?.channel.detach(transport);
    this.#join();
  }

  #drop(old: SessionChannel): void {
    const error = new RopewayError(
      ErrorCode.LINK_LOST,
      "stream",
      "peer",
      "Cannot go on: the peer began the channel anew",
    );
    for (const stream of [...old.streams.values()]) stream.fail(error);
    old.dropStrays();
    // Pieces of its streams may still come on other channels: no later stream of the number may have their ids.
    this.first.skipOwnIds(old.lastOwnId);
    old.channel.retire();
    this.#past = addTraffic(this.#past, old.channel.traffic);
    this.#channels.delete(old.index);
    this.#confirmed.delete(old.index);
  }

  #at(index: number): SessionChannel {
    return this.#channels.get(index) ?? this.#create(index, undefined);
  }

  #create(index: number, snapshot: ReturnType<SessionChannel["snapshot"]> | undefined): SessionChannel {
    const { sessionId, owner, defer } = this.#options;
    const channel = new SessionChannel({
      index,
      sessionId,
      owner,
      nextLink: () => this.#links++,
      retained: this.#retained,
      ...(defer ? { defer } : {}),
      ...(snapshot ? { snapshot } : {}),
      ...(snapshot || index === 0 ? {} : { lastOwnId: this.first.lastOwnId }),
    });
    this.#channels.set(index, channel);
    return channel;
  }
}

function addTraffic(sum: Traffic, more: Traffic): Traffic {
  return {
    messagesUp: sum.messagesUp + more.messagesUp,
    bytesUp: sum.bytesUp + more.bytesUp,
    bytesDown: sum.bytesDown + more.bytesDown,
    replayedFrames: sum.replayedFrames + more.replayedFrames,
  };
}
