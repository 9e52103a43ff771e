import type { SessionHandler, SessionOptions } from "../../mux/session/session.ts";
import type { HeaderField } from "../../wire/frame.ts";
import { Turns } from "../turns.ts";
import { type LinkedSessions, linkSessions } from "./linked-sessions.ts";
import { StreamLog } from "./stream-log.ts";

export const GET: readonly HeaderField[] = [[":method", "GET"]];
export const OK: readonly HeaderField[] = [[":status", "200"]];

export interface SessionRig extends LinkedSessions {
  /** Streams that the edge was given, in order. */
  readonly accepted: StreamLog[];
  /** Lets everything flow until nothing is under way. */
  flow(): void;
}

/** Two sessions that are linked, and whose streams are written down. */
export function sessionRig(
  options: { consume?: boolean; phone?: Partial<SessionHandler>; setTimer?: SessionOptions["setTimer"] } = {},
): SessionRig {
  const turns = new Turns();
  const accepted: StreamLog[] = [];
  const linked = linkSessions({
    defer: turns.defer,
    ...(options.phone ? { phone: options.phone } : {}),
    ...(options.setTimer ? { setTimer: options.setTimer } : {}),
    edge: { onStream: (stream) => accepted.push(new StreamLog(stream, options.consume ?? true)) },
  });
  const flow = (): void => {
    do turns.run();
    while (linked.link.deliver("up") || linked.link.deliver("down"));
  };
  flow();
  return Object.assign(linked, { accepted, flow });
}

/** A request whose stream both sides have, the phone's side ended. */
export function request(rig: SessionRig, end = true, consume = false): { phone: StreamLog; edge: StreamLog } {
  const phone = new StreamLog(rig.phone.streams.openNow(), consume);
  phone.stream.sendHead(GET, end);
  rig.flow();
  return { phone, edge: rig.accepted.at(-1) as StreamLog };
}
