import type { CarriedPlace } from "../mux/pipe/channel-types.ts";
import { resumeChannel } from "../mux/pipe/edge-channels.ts";
import type { Session } from "../mux/session/session.ts";
import type { Transport } from "../transport.ts";
import { decodeMessage } from "../wire/frame.ts";

/** What an edge does with messages of channels that the phone has put on the first one's link. */
export function carriedReceiver(edge: () => Session): (from: CarriedPlace, message: Uint8Array) => void {
  const transports = new Map<string, Transport>();
  return (from, message) => {
    const key = `${from.channel} ${from.link}`;
    const [first] = decodeMessage(message);
    if (first?.type === "hello") {
      const transport = edge().channel.carrier(from);
      transports.set(key, transport);
      resumeChannel(edge().channels, transport, first, true);
    }
    const transport = transports.get(key);
    if (transport !== undefined) edge().channels.receive(message, transport);
  };
}
