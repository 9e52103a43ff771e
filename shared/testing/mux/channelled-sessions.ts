import { TEST_SESSION_ID } from "./linked-sessions.ts";
import { GET } from "./session-rig.ts";
import { SessionSockets } from "./session-sockets.ts";
import { StreamLog } from "./stream-log.ts";

/** With so many channels, all open. */
export function connected(channels: number): SessionSockets {
  const sockets = new SessionSockets({ experiment: { channels: channels } });
  for (let index = 0; index < channels; index += 1) sockets.connect(index);
  sockets.flow();
  return sockets;
}

/** A request of the phone; its name is its last field. */
export function request(sockets: SessionSockets, name = ""): StreamLog {
  const log = new StreamLog(sockets.phone.streams.openNow(), true);
  log.stream.sendHead([...GET, ["x-name", name]], true);
  return log;
}

export function hello(channel: number, received = 0, next = 0, resume = false) {
  return { type: "hello", sessionId: TEST_SESSION_ID, channel, received, next, link: 0, resume } as const;
}
