import { limits } from "../limits.ts";

interface Credit {
  readonly send: number;
  readonly receive: number;
}

/** What each side may send and receive at first, in bytes: PROTOCOL.md section 6. */
export function initialStreamCredit(role: "phone" | "edge"): Credit {
  const [up, down] = [limits.uploadStreamCreditBytes, limits.streamCreditBytes];
  return role === "phone" ? { send: up, receive: down } : { send: down, receive: up };
}

/** The most that a side lets be unread and on its way to it, on all streams together. */
export function mostSessionCredit(role: "phone" | "edge"): number {
  return role === "phone" ? limits.sessionCreditBytes : limits.uploadSessionCreditBytes;
}
