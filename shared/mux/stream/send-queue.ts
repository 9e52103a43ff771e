/**
 * Which stream sends next: strict between urgencies (RFC 9218 section 10). Within one urgency, streams that are of use
 * only whole go one after the other in the order of their requests, so that the first is whole soonest; streams that are
 * of use in parts share, piece by piece. The two kinds take turns. A body that turns out large shares too: nothing waits
 * for a download.
 */
import * as limits from "../../limits.ts";

export interface Sender {
  readonly urgency: number;
  /** Parts of the body are of use (RFC 9218 section 4.2). */
  readonly incremental: boolean;
  /** Streams that came later have larger ones. */
  readonly order: number;
  /** Body bytes sent so far. */
  readonly sentBytes: number;
  /** Whether the stream could send now if the session had credit. */
  readonly sendable: boolean;
  /** Whether what it sends next takes credit; an end alone does not. */
  readonly needsCredit: boolean;
}

const URGENCIES = 8;

export class SendQueue<S extends Sender> {
  #rings: Ring<S>[] = Array.from({ length: URGENCIES }, () => new Ring());

  /** Adds a stream; does nothing if it is there. */
  add(sender: S): void {
    this.#rings[sender.urgency]?.add(sender);
  }

  remove(sender: S): void {
    for (const ring of this.#rings) ring.remove(sender);
  }

  /**
   * The next stream to send; streams that cannot send drop out until added again.
   *
   * @param hasCredit whether a stream that needs credit gets some; if not, it keeps its place.
   */
  next(hasCredit: (sender: S) => boolean): S | undefined {
    for (const ring of this.#rings) {
      const sender = ring.next(hasCredit);
      if (sender !== undefined) return sender;
    }
    return undefined;
  }
}

/** The streams of one urgency. */
class Ring<S extends Sender> {
  /** In the order of turns. */
  #senders = new Set<S>();
  #lastWasOrdered = false;

  add(sender: S): void {
    this.#senders.add(sender);
  }

  remove(sender: S): void {
    this.#senders.delete(sender);
  }

  next(hasCredit: (sender: S) => boolean): S | undefined {
    let ordered: S | undefined;
    let sharing: S | undefined;
    for (const sender of this.#senders) {
      if (!sender.sendable) this.#senders.delete(sender);
      else if (sender.needsCredit && !hasCredit(sender)) continue;
      else if (shares(sender)) sharing ??= sender;
      else if (ordered === undefined || sender.order < ordered.order) ordered = sender;
    }
    const next = sharing === undefined || (ordered !== undefined && !this.#lastWasOrdered) ? ordered : sharing;
    if (next === undefined) return next;
    this.#lastWasOrdered = next === ordered;
    if (next === ordered) return next;
    this.#senders.delete(next);
    this.#senders.add(next);
    return next;
  }
}

function shares(sender: Sender): boolean {
  return sender.incremental || sender.sentBytes >= limits.orderedBodyBytes;
}
