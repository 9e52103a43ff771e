/**
 * Which channel of a session carries what, of those that have a transport: streams and pieces of bodies go over all that
 * work, what is about the session over the one that is known to.
 */
import type { SessionChannel } from "../session/session-channel.ts";
import { isCarried, isResuming } from "./channel-state.ts";

interface Channels {
  readonly all: readonly SessionChannel[];
  /** Which is always there. */
  readonly first: SessionChannel;
}

export class ChannelChoice {
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
   * The channel for a new stream: that of a stream which leads, else, of the first `most` with a transport of their
   * own, that with the fewest streams.
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
