/** The channels of one session: how they come, get and lose their transports, and go. */
import type { RopewayError } from "../../errors.ts";
import type { Transport } from "../../transport.ts";
import { type ChannelOwner, SessionChannel } from "../session/session-channel.ts";
import type { SessionSnapshot } from "../session/session-types.ts";
import type { MuxStream } from "../stream/stream.ts";
import type { Attachment } from "./attachment.ts";
import type { Channel } from "./channel.ts";
import { ChannelChoice } from "./channel-choice.ts";
import { ChannelTotals } from "./channel-totals.ts";
import type { CarriedPlace, Defer } from "./channel-types.ts";

export interface ChannelSetOptions {
  readonly sessionId: Uint8Array;
  readonly owner: ChannelOwner;
  readonly defer: Defer | undefined;
  readonly snapshot: SessionSnapshot | undefined;
}

export class ChannelSet {
  readonly first: SessionChannel;
  readonly choice: ChannelChoice;
  readonly totals: ChannelTotals;
  #options: ChannelSetOptions;
  /** By number; the first stays for the life of the session, the others until they are retired. */
  #channels = new Map<number, SessionChannel>();
  /** Phone: links that channels of the session were put on. */
  #links = 0;
  /** Phone: transports of further channels that wait for the edge to have said HELLO, since it does not know the session. */
  #waiting: Map<number, Transport> | null = new Map();

  constructor(options: ChannelSetOptions) {
    this.#options = options;
    this.totals = new ChannelTotals(this);
    this.first = this.#create(0, options.snapshot);
    for (const { index, ...snapshot } of options.snapshot?.more ?? []) this.#create(index, snapshot);
    this.choice = new ChannelChoice(this);
  }

  get all(): SessionChannel[] {
    return [...this.#channels.values()];
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
    old.channel.retire();
    this.totals.keep(old);
    this.#channels.delete(old.index);
  }

  /** How often what comes is acknowledged, in bytes: where there are several channels, the peer deals by it. */
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
    // What waits here would not get to the peer any more.
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
      retained: this.totals.retained,
      defer,
      snapshot,
      lastOwnId: snapshot || index === 0 ? undefined : this.first.lastOwnId,
    });
    this.#channels.set(index, channel);
    return channel;
  }
}

/** Whether nothing of it can be under way since its retirement has begun. */
export function isQuiet({ channel, streams }: SessionChannel): boolean {
  const { retirement, retained } = channel;
  return retirement.name === "begun" && retirement.sent === retained.sent && streams.size === 0;
}
