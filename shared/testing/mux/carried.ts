import type { Attachment, CarriedPlace } from "../../mux/pipe/channel.ts";
import { resumeChannel } from "../../mux/session/channel-set.ts";
import type { Session } from "../../mux/session/session.ts";
import { decodeMessage } from "../../wire/frame.ts";

/** What an edge does with messages of channels that the phone has put on the first one's link. */
export function carriedReceiver(edge: () => Session): (from: CarriedPlace, message: Uint8Array) => void {
  const attachments = new Map<string, Attachment>();
  return (from, message) => {
    const key = `${from.channel} ${from.link}`;
    const [first] = decodeMessage(message);
    if (first?.type === "hello") {
      attachments.set(key, resumeChannel(edge().channels, edge().channel.carrier(from), first, true));
    }
    attachments.get(key)?.receive(message);
  };
}
