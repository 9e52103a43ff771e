/** What the channels of a session have carried and keep, all together. */
import * as limits from "../../limits.ts";
import type { SessionChannel } from "../session/session-channel.ts";
import type { RetainedTotal } from "./retained-frames.ts";

export interface Traffic {
  readonly messagesUp: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly replayedFrames: number;
}

export class ChannelTotals {
  /** What all of them keep for a resume. */
  readonly retained: RetainedTotal = { bytes: 0, replayed: 0, acknowledged: 0 };
  #channels: { readonly all: readonly SessionChannel[] };
  /** Traffic of channels that were retired. */
  #past = { messagesUp: 0, bytesUp: 0, bytesDown: 0, replayedFrames: 0 };

  constructor(channels: { readonly all: readonly SessionChannel[] }) {
    this.#channels = channels;
  }

  get traffic(): Traffic {
    const sum = { ...this.#past };
    for (const { channel } of this.#channels.all) add(sum, channel.traffic);
    return sum;
  }

  /** Bytes of frames that the peer has not acknowledged. */
  get unacknowledgedBytes(): number {
    const kept = this.#channels.all.map(({ channel }) => channel.retained);
    return kept.reduce((sum, { count, bytes }) => sum + bytes - count * limits.retainedFrameBytes, 0);
  }

  /** Whether frames were sent that the peer may lack: what came before an end that it has confirmed, it has. */
  get isUnacknowledged(): boolean {
    return this.#channels.all.some(
      ({ channel }) => channel.retained.count > 0 && channel.retirement.name !== "confirmed",
    );
  }

  /** The channel is about to be forgotten. */
  keep({ channel }: SessionChannel): void {
    add(this.#past, channel.traffic);
  }
}

function add(sum: Record<keyof Traffic, number>, more: Traffic): void {
  for (const key of Object.keys(sum) as (keyof Traffic)[]) sum[key] += more[key];
}
