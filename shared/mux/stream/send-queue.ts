/**
 * Which stream sends next: strict between urgencies (RFC 9218 section 10). Within one urgency, streams that are of use
 * only whole go one after the other in the order of their requests, so that the first is whole soonest; streams that are
 * of use in parts share, piece by piece. The two kinds take turns. A body that turns out large shares too: nothing waits
 * for a download.
 */
import * as limits from "../../limits.ts";
import type { Priority } from "../../wire/frame.ts";

/** A stream's next sending if the session had credit. An end alone takes none; blocked data waits for the stream's credit. */
export type Ready = "nothing" | "blocked" | "data" | "end";

export interface Sender {
  readonly priority: Priority;
  /** Streams that came later have larger ones. */
  readonly order: number;
  /** Body bytes sent so far. */
  readonly sentBytes: number;
  readonly ready: Ready;
}

const URGENCIES = 8;

export class SendQueue<S extends Sender> {
  #rings: Ring<S>[] = Array.from({ length: URGENCIES }, () => new Ring());

  /** Adds a stream; does nothing if it is there. */
  add(sender: S): void {
    this.#rings[sender.priority.urgency]?.add(sender);
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
      const { ready } = sender;
      if (ready === "nothing" || ready === "blocked") this.#senders.delete(sender);
      else if (ready === "data" && !hasCredit(sender)) continue;
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
  return sender.priority.incremental || sender.sentBytes >= limits.orderedBodyBytes;
}
