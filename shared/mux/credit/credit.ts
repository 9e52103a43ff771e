import { ErrorCode, type ErrorScope, RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";

// Credit-based flow control as arithmetic: PROTOCOL.md section 6, after RFC 9113 section 5.2. Only DATA payload
// counts. The receiver gives credit back when bytes were consumed, not when they arrived, and in batches.

/** How much this side may still send. */
export class SendWindow {
  #available: number;
  readonly #scope: ErrorScope;

  constructor(initial: number, scope: ErrorScope) {
    this.#available = initial;
    this.#scope = scope;
  }

  /** May be negative after the peer lowered its initial credit (RFC 9113 section 6.9.2). */
  get available(): number {
    return this.#available;
  }

  take(bytes: number): void {
    this.#available -= bytes;
  }

  /** @throws RopewayError FLOW_CONTROL_ERROR when the window would pass limits.creditBytes, or nothing is granted. */
  grant(bytes: number): void {
    if (bytes === 0) {
      throw new RopewayError(ErrorCode.PROTOCOL_ERROR, this.#scope, "peer", "Cannot use a credit of 0 bytes");
    }
    if (this.#available + bytes > limits.creditBytes) throw tooMuchCredit(this.#scope);
    this.#available += bytes;
  }

  /**
   * Moves the window by the change of the peer's initial credit.
   *
   * @throws RopewayError FLOW_CONTROL_ERROR of scope "session" when it would pass limits.creditBytes.
   */
  shift(delta: number): void {
    if (this.#available + delta > limits.creditBytes) throw tooMuchCredit("session");
    this.#available += delta;
  }
}

function tooMuchCredit(scope: ErrorScope): RopewayError {
  return new RopewayError(
    ErrorCode.FLOW_CONTROL_ERROR,
    scope,
    "peer",
    `Cannot hold more than ${limits.creditBytes} bytes of credit`,
  );
}

/** How much the peer may still send to us on one stream, and what it is owed. The session's: session-window.ts. */
export class ReceiveWindow {
  #size: number;
  #outstanding: number;
  #owed = 0;

  /** @param size bytes that may be unconsumed at any time. */
  constructor(size: number) {
    this.#size = size;
    this.#outstanding = size;
  }

  /** Bytes that may be unconsumed at any time. */
  get size(): number {
    return this.#size;
  }

  /** @throws RopewayError FLOW_CONTROL_ERROR when the peer sent more than it had credit for. */
  receive(bytes: number): void {
    if (bytes > this.#outstanding) {
      throw new RopewayError(
        ErrorCode.FLOW_CONTROL_ERROR,
        "stream",
        "peer",
        `Cannot take ${bytes} bytes: the peer has credit for ${this.#outstanding}`,
      );
    }
    this.#outstanding -= bytes;
  }

  /** Lets so many more bytes be unconsumed from now on; they are owed. */
  grow(bytes: number): void {
    this.#owed += bytes;
    this.#size += bytes;
  }

  /** @returns the increment to send now, or 0 while the batch is below a quarter of the window. */
  consume(bytes: number): number {
    this.#owed += bytes;
    if (this.#owed < this.#size / 4) return 0;
    const increment = this.#owed;
    this.#owed = 0;
    this.#outstanding += increment;
    return increment;
  }
}

/**
 * Bytes that the streams of a session may have unread beyond the credit that each begins with: PROTOCOL.md section 6. No
 * stream gets more than a part of what the others leave. So streams that are read get what the link carries, and streams
 * that are not read can never hold the whole pool.
 */
export class CreditPool {
  #free: number;

  constructor(bytes: number) {
    this.#free = bytes;
  }

  /**
   * @param held bytes that the stream has already.
   * @param wanted bytes more.
   * @param part of what no other stream has, which this one may have at most.
   * @returns bytes that it has now in addition.
   */
  take(held: number, wanted: number, part: number): number {
    const most = Math.floor(part * (this.#free + held)) - held;
    const taken = Math.max(0, Math.min(wanted, most));
    this.#free -= taken;
    return taken;
  }

  giveBack(bytes: number): void {
    this.#free += bytes;
  }
}

interface Credit {
  readonly send: number;
  readonly receive: number;
}

/** Bytes that each side may send and receive at first: PROTOCOL.md section 6. */
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
    : { most: up, mostUnread: limits.uploadUnreadBytes, nearStream: limits.uploadStreamCreditBytes };
}

/** Bytes that the streams of a side may have unread beyond the credit that each begins with. */
export function pooledCredit(role: "phone" | "edge"): number {
  return role === "phone" ? limits.pooledCreditBytes : limits.pooledUploadCreditBytes;
}
