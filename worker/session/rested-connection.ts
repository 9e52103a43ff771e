/**
 * A connection that rested, as while a person reads, and is about to carry a page. BBR (draft-cardwell-iccrg-bbr-
 * congestion-control, section 4.3.4.4, and Linux since 4.9) measures its round trip anew every ten seconds, with four
 * segments under way for a round trip. It does not after a rest, if what comes first measures the round trip. The
 * acknowledgement of a single short segment does not, since the other side may have delayed it. So on a link of 600 ms
 * a page whose head comes first and alone is 600 ms late. Therefore the first message is filled up to a segment.
 */
import { concat, encodePadding } from "../../shared/wire/frame.ts";

/** Milliseconds without a message: round trips of nearly all links, after which nothing is under way. */
const REST_TIME = 1_000;
/** Milliseconds: what comes later is no part of the page. */
const PAGE_TIME = 5_000;
/** With the headers of WebSocket and TLS it fills a segment of 1,460 bytes, which is the longest on Ethernet. */
export const FILLED_BYTES = 1_436;

export class RestedConnection {
  #sentAt: number;
  #fillUntil = Number.NEGATIVE_INFINITY;

  /** @param sentAt ms of the clock that `now` is of: when something was last sent. */
  constructor(sentAt: number) {
    this.#sentAt = sentAt;
  }

  /** A page was asked for, which this connection is to bring. */
  expectPage(now: number): void {
    if (now - this.#sentAt >= REST_TIME) this.#fillUntil = now + PAGE_TIME;
  }

  /** @returns what is to be sent in place of a message. */
  fill(message: Uint8Array, now: number): Uint8Array {
    const isFirst = now <= this.#fillUntil;
    this.#fillUntil = Number.NEGATIVE_INFINITY;
    this.#sentAt = now;
    return isFirst ? concat(message, encodePadding(FILLED_BYTES - message.length)) : message;
  }
}
