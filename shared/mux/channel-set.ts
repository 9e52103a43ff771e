/** The channels of one session: which there are, which have a transport, and which of them carries what. */
import { ErrorCode, RopewayError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Transport } from "../transport.ts";
import type { ChannelFrame } from "../wire/frame.ts";
import type { Channel, Defer } from "./channel.ts";
import { type ChannelOwner, SessionChannel } from "./session-channel.ts";
import type { SessionSnapshot } from "./session-types.ts";
import type { MuxStream } from "./stream.ts";

export interface Traffic {
  readonly messagesUp: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly replayedFrames: number;
}

export interface ChannelStatus extends Traffic {
  readonly index: number;
  readonly isAttached: boolean;
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
  /** By number; a channel that is there stays for the life of the session. */
  #channels = new Map<number, SessionChannel>();
  #lastHeard: SessionChannel;
  /** Phone: the edge has said HELLO, so it knows the session. */
  #isKnown = false;
  /** Phone: transports of further channels that wait for that. */
  #joining = new Map<number, Transport>();

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

  *streams(): Generator<MuxStream> {
    for (const channel of this.all) yield* [...channel.streams.values()];
  }

  /** The channel that a stream is on. */
  of(stream: MuxStream): SessionChannel {
    return this.#channels.get(stream.channelIndex) ?? this.first;
  }

  /** For a new stream: of the first `most` that have a transport, the one with the fewest. */
  leastLoaded(most: number): SessionChannel {
    const [first, ...others] = this.attached.slice(0, most);
    if (first === undefined) return this.first;
    return others.reduce((least, other) => (other.streams.size < least.streams.size ? other : least), first);
  }

  /** For what may go on any channel: the one that is known to work. */
  get lastHeard(): SessionChannel {
    if (this.#lastHeard.channel.attached) return this.#lastHeard;
    return this.attached[0] ?? this.first;
  }

  heard(channel: SessionChannel): void {
    this.#lastHeard = channel;
  }

  /** What one channel has under way may be lost with its transport, while others could go on. */
  get isStranded(): boolean {
    return this.attached.length > 0 && this.all.some(({ channel, streams }) => !channel.attached && streams.size > 0);
  }

  /** Whether DATA of the stream is of use now: not on a channel without a transport while others have one. */
  takesData(stream: MuxStream): boolean {
    const { channel } = this.of(stream);
    return channel.takesData && (channel.attached || this.attached.length === 0);
  }

  set batchBytes(bytes: number) {
    for (const { channel } of this.#channels.values()) channel.batchBytes = bytes;
  }

  attach(index: number, transport: Transport): void {
    if (index > 0 && !this.#isKnown) {
      this.#joining.set(index, transport);
      return;
    }
    this.#at(index).channel.attach(transport);
  }

  /** Phone: the edge said HELLO on a channel. */
  greeted(): void {
    if (this.#isKnown) return;
    this.#isKnown = true;
    for (const [index, transport] of this.#joining) this.#at(index).channel.attach(transport);
    this.#joining.clear();
  }

  resume(transport: Transport, hello: ChannelFrame & { type: "hello" }): void {
    const index = hello.channel ?? 0;
    const isNew = !this.#channels.has(index);
    if (index >= limits.channels || (isNew && (hello.received > 0 || hello.next > 0))) {
      const message = `Cannot resume channel ${index}: it is not known here, open a new session`;
      throw new RopewayError(ErrorCode.LINK_LOST, "session", "library", message);
    }
    this.#at(index).channel.resume(transport, hello);
  }

  adopt(index: number, transport: Transport): void {
    this.#at(index).channel.adopt(transport);
  }

  carriedBy(transport: Transport): Channel | undefined {
    return this.all.find(({ channel }) => channel.isAttachedTo(transport))?.channel;
  }

  detach(transport: Transport): boolean {
    for (const [index, joining] of this.#joining) {
      if (joining === transport) return this.#joining.delete(index);
    }
    return this.carriedBy(transport)?.detach(transport) ?? false;
  }

  fail(error: RopewayError): void {
    for (const transport of this.#joining.values()) transport.close(1000, "the session is over");
    this.#joining.clear();
    for (const { channel } of this.all) channel.fail(error);
  }

  get traffic(): Traffic {
    const sum = { messagesUp: 0, bytesUp: 0, bytesDown: 0, replayedFrames: 0 };
    for (const { channel } of this.all) {
      sum.messagesUp += channel.traffic.messagesUp;
      sum.bytesUp += channel.traffic.bytesUp;
      sum.bytesDown += channel.traffic.bytesDown;
      sum.replayedFrames += channel.traffic.replayedFrames;
    }
    return sum;
  }

  get status(): ChannelStatus[] {
    return this.all.map(({ index, channel, streams }) => ({
      ...channel.traffic,
      index,
      isAttached: channel.attached,
      openStreams: streams.size,
    }));
  }

  snapshot(): Pick<SessionSnapshot, keyof ReturnType<SessionChannel["snapshot"]> | "more"> {
    const more = this.all.filter((channel) => channel !== this.first);
    return {
      ...this.first.snapshot(),
      more: more.map((channel) => ({ index: channel.index, ...channel.snapshot() })),
    };
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
      ...(defer ? { defer } : {}),
      ...(snapshot ? { snapshot } : {}),
    });
    this.#channels.set(index, channel);
    return channel;
  }
}
