/**
 * A session without streams. The edge keeps what is not acknowledged, and does not hibernate meanwhile: so the phone
 * acknowledges all once it is quiet. Nothing is to be sent for a while then, so no memory is kept for it: an edge has
 * thousands of sessions that rest.
 */
import type { SetTimer } from "../../clock.ts";
import * as limits from "../../limits.ts";
import type { ChannelSet } from "../pipe/channel-set.ts";
import type { SessionStreams } from "./session-streams.ts";

export class SessionRest {
  #channels: ChannelSet;
  #streams: SessionStreams;
  /** Null on the edge, which acknowledges nothing by itself. */
  #setTimer: SetTimer | null;
  #cancel: (() => void) | null = null;

  constructor(channels: ChannelSet, streams: SessionStreams, setTimer: SetTimer | null) {
    this.#channels = channels;
    this.#streams = streams;
    this.#setTimer = setTimer;
  }

  /** To be called when a stream was closed, and after each message. */
  check(): void {
    if (this.#streams.count > 0) return;
    const channels = this.#channels;
    if (!channels.totals.isUnacknowledged) for (const { channel } of channels.all) channel.retained.dropSpare();
    const isDue = channels.choice.attached.some(({ channel }) => channel.arrived.isUntold);
    if (!isDue || this.#setTimer === null || this.#cancel !== null) return;
    this.#cancel = this.#setTimer(() => {
      this.#cancel = null;
      if (this.#streams.count === 0) for (const { channel } of channels.choice.attached) channel.acknowledge();
    }, limits.restTime);
  }

  stop(): void {
    this.#setTimer = null;
    this.#cancel?.();
  }
}
