/** A transport whose link is still being opened: what is sent meanwhile waits in order, and may begin the handshake. */
import type { Transport } from "./transport.ts";
import { concat, decodeFrame, isCarry } from "./wire/frame.ts";
import { ByteReader } from "./wire/varint.ts";

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
