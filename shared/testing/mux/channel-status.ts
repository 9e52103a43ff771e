import { isCarried } from "../../mux/pipe/channel.ts";
import type { Traffic } from "../../mux/session/channel-set.ts";
import type { Session } from "../../mux/session/session.ts";

export interface ChannelStatus extends Traffic {
  readonly index: number;
  readonly isAttached: boolean;
  readonly isCarried: boolean;
  readonly openStreams: number;
}

/** What can be seen of each of a session's channels. */
export function statusOf(session: Session): ChannelStatus[] {
  return session.channels.all.map(({ index, channel, streams }) => ({
    ...channel.traffic,
    index,
    isAttached: channel.attached,
    isCarried: isCarried(channel.state),
    openStreams: streams.size,
  }));
}
