import { limits } from "../limits.ts";

interface Credit {
  readonly send: number;
  readonly receive: number;
}

/** What each side may send and receive at first, in bytes: PROTOCOL.md section 6. */
export function initialCredit(role: "phone" | "edge"): { session: Credit; stream: Credit } {
  const session = { up: limits.uploadSessionCreditBytes, down: limits.sessionCreditBytes };
  const stream = { up: limits.uploadStreamCreditBytes, down: limits.streamCreditBytes };
  return role === "phone"
    ? { session: { send: session.up, receive: session.down }, stream: { send: stream.up, receive: stream.down } }
    : { session: { send: session.down, receive: session.up }, stream: { send: stream.down, receive: stream.up } };
}
