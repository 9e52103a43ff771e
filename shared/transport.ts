import { ByteReader, concat, decodeFrame, isCarry } from "./wire/frame.ts";

/**
 * The narrowest thing a session needs from a link: ordered, reliable, message-based, both ways.
 * A WebSocket is such a link; a streaming fetch with batched POSTs is another; tests script a third.
 */
export interface Transport {
  /**
   * Hands one message to the link. The bytes stay as they are until the peer has acknowledged them and are used again
   * afterwards: a transport that keeps a message longer than it takes to send it copies it.
   *
   * @returns false when the link is closed and the message was not taken.
   */
  send(message: Uint8Array): boolean;
  /** Closes the link with a WebSocket close code (RFC 6455 section 7.4) and a reason of at most 123 bytes. Idempotent. */
  close(code: number, reason: string): void;
}

/** A transport whose link is still being opened: messages wait meanwhile in order, and may begin the handshake. */
export class PendingTransport implements Transport {
  #waiting: Uint8Array[] = [];
  #open: Transport | null = null;
  #closed: { readonly code: number; readonly reason: string } | null = null;

  send(message: Uint8Array): boolean {
    if (this.#closed !== null) return false;
    if (this.#open !== null) return this.#open.send(message);
    this.#waiting.push(message);
    return true;
  }

  close(code: number, reason: string): void {
    if (this.#closed !== null) return;
    this.#closed = { code, reason };
    this.#open?.close(code, reason);
  }

  /**
   * Takes the frames that were sent first, as many as fit, to travel with the handshake (PROTOCOL.md section 1.1): those
   * of the first message, and messages of other channels behind it.
   *
   * @param limit bytes.
   * @returns null when nothing waits, or its first frame does not fit.
   */
  takeOpening(limit: number): Uint8Array | null {
    const first = this.#waiting[0];
    if (first === undefined) return null;
    const length = wholeFrames(first, limit);
    if (length === 0) return null;
    if (length < first.length) {
      this.#waiting[0] = first.subarray(length);
      return first.subarray(0, length);
    }
    const parts = [first];
    let size = length;
    for (const more of this.#waiting.slice(1)) {
      size += more.length;
      if (!isCarry(more) || size > limit) break;
      parts.push(more);
    }
    this.#waiting.splice(0, parts.length);
    return concat(...parts);
  }

  /** The link is there: all that waits goes out on it, a close that was asked for meanwhile too. */
  open(link: Transport): void {
    this.#open = link;
    for (const message of this.#waiting.splice(0)) link.send(message);
    if (this.#closed !== null) link.close(this.#closed.code, this.#closed.reason);
  }
}

/** Bytes of the frames at the start of a message that fit into `limit`. */
function wholeFrames(message: Uint8Array, limit: number): number {
  if (message.length <= limit) return message.length;
  const reader = new ByteReader(message);
  let length = 0;
  while (reader.remaining > 0) {
    decodeFrame(reader);
    const end = message.length - reader.remaining;
    if (end > limit) break;
    length = end;
  }
  return length;
}
