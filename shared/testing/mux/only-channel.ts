import type { ChannelOptions, Defer } from "../../mux/pipe/channel.ts";
import { TEST_SESSION_ID } from "./linked-sessions.ts";

/** What the first channel of a session is made from, where it is the only one. */
export function onlyChannel(defer: Defer): Omit<ChannelOptions, "handler"> {
  let links = 0;
  return {
    sessionId: TEST_SESSION_ID,
    index: 0,
    nextLink: () => links++,
    defer,
    snapshot: undefined,
    retained: { bytes: 0, replayed: 0, acknowledged: 0 },
  };
}
