/**
 * Which stream sends next: strict between urgencies, and within one urgency round-robin among streams, so that a large
 * body never holds a small one back (RFC 9218 section 10).
 */
export interface Sender {
  readonly urgency: number;
  /** Whether the stream could send now if the session had credit. */
  readonly sendable: boolean;
  /** Whether what it sends next takes credit of the session; an end alone does not. */
  readonly needsCredit: boolean;
}

const URGENCIES = 8;

export class SendQueue<S extends Sender> {
  #rings: Set<S>[] = Array.from({ length: URGENCIES }, () => new Set());

  /** Adds a stream at the end of its urgency's ring; does nothing if it is there. */
  add(sender: S): void {
    this.#rings[sender.urgency]?.add(sender);
  }

  remove(sender: S): void {
    for (const ring of this.#rings) ring.delete(sender);
  }

  /**
   * The next stream to send, moved to the end of its ring; streams that cannot send drop out until added again. Without
   * credit of the session, streams that need it keep their places.
   */
  next(hasCredit: boolean): S | undefined {
    for (const ring of this.#rings) {
      for (const sender of ring) {
        if (sender.sendable && sender.needsCredit && !hasCredit) continue;
        ring.delete(sender);
        if (!sender.sendable) continue;
        ring.add(sender);
        return sender;
      }
    }
    return undefined;
  }
}
