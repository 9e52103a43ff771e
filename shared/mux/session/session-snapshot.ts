/** What survives an edge's hibernation. */
import type { Session } from "./session.ts";
import type { SessionSnapshot } from "./session-types.ts";

/** Only an idle session has a snapshot: open streams do not survive. */
export function snapshotOf({ channels, sender, receiver, peer }: Session): SessionSnapshot {
  // A channel that the phone has closed begins anew, if ever.
  const more = channels.choice.attached.filter((channel) => channel !== channels.first);
  return {
    ...channels.first.snapshot(),
    more: more.map((channel) => ({ index: channel.index, ...channel.snapshot() })),
    sendCredit: sender.credit,
    grantedCredit: receiver.window.outstanding,
    peerStreamCredit: peer.streamCredit,
    peerSessionCredit: peer.sessionCredit,
    peerConcurrentStreams: peer.concurrentStreams,
  };
}
