import * as limits from "../../limits.ts";

interface Credit {
  readonly send: number;
  readonly receive: number;
}

/** What each side may send and receive at first, in bytes: PROTOCOL.md section 6. */
export function initialStreamCredit(role: "phone" | "edge"): Credit {
  const up = limits.uploadStreamCreditBytes;
  // The phone's first words tell the edge of its own choice.
  return role === "phone"
    ? { send: up, receive: limits.firstStreamCreditBytes }
    : { send: limits.streamCreditBytes, receive: up };
}

/** How much a side lets be on its way to it and unread: see SessionWindowOptions. */
export function mostSessionCredit(role: "phone" | "edge") {
  const up = limits.uploadSessionCreditBytes;
  return role === "phone"
    ? { most: limits.sessionCreditBytes, mostUnread: limits.unreadBytes, nearStream: limits.streamCreditBytes }
    : { most: up, mostUnread: up, nearStream: limits.uploadStreamCreditBytes };
}

/** What the streams of a side may have unread beyond what each begins with. The edge's are bounded all together. */
export function pooledCredit(role: "phone" | "edge"): number {
  return role === "phone" ? limits.pooledCreditBytes : 4 * limits.uploadSessionCreditBytes;
}
