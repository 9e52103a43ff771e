/**
 * What came of a stream's body and its owner has not consumed. It counts against three bounds: the stream's credit, the
 * session's credit, and the session's count of pieces. What was read gives the peer credit anew.
 */
import * as limits from "../../limits.ts";
import { ReceiveWindow } from "../credit/credit.ts";
import type { CreditPool } from "../credit/credit-pool.ts";
import { type PieceCount, UnreadPieces } from "./unread-pieces.ts";

/** Part of the pooled credit that no other stream has, which a stream may have once it is read... */
const READ_PART = 1 / 4;
/** ...and before that, when nobody knows whether it will be read: a page asks for dozens at once. */
const ASKED_PART = 1 / 16;

/** What it needs of the session. */
export interface UnreadBounds {
  readonly receiver: {
    consume(bytes: number): void;
    /** Bytes that one stream may have unread, so that its credit does not hold back what the link carries. */
    readonly streamWindow: number;
  };
  /** What streams may have unread beyond what they begin with. */
  readonly creditPool: CreditPool;
  /** How many pieces of bodies are unread. */
  readonly unread: PieceCount;
}

export class UnreadBody {
  readonly #bounds: UnreadBounds;
  readonly #window: ReceiveWindow;
  readonly #pieces: UnreadPieces;
  #bytes = 0;
  /** What it has of the session's pool. */
  #pooled = 0;
  /** Whether somebody has asked for what it carries. */
  #isWanted: boolean;

  /** @param credit bytes that the peer may send at first. */
  constructor(bounds: UnreadBounds, credit: number, isWanted: boolean) {
    this.#bounds = bounds;
    this.#window = new ReceiveWindow(credit);
    this.#pieces = new UnreadPieces(bounds.unread);
    this.#isWanted = isWanted;
  }

  /** Bytes arrived, for which the session's credit was taken: they are given back when they are consumed, or dropped. */
  arrive(bytes: number): void {
    this.#bytes += bytes;
  }

  /** A piece that arrived is kept for the owner. @throws RopewayError where the peer had no credit for it. */
  keep(bytes: number): void {
    this.#window.receive(bytes);
    this.#pieces.add(bytes);
  }

  /**
   * The owner is done with `bytes`.
   *
   * @param isOver whether nothing more is to come.
   * @returns the credit to send to the peer now, or 0.
   */
  consume(bytes: number, isOver: boolean): number {
    const counted = Math.min(bytes, this.#bytes);
    this.#bytes -= counted;
    if (counted === 0) return 0;
    this.#pieces.consume(counted);
    this.#bounds.receiver.consume(counted);
    if (isOver) {
      this.over();
      return 0;
    }
    if (this.#isWanted) this.#grow(this.#bounds.receiver.streamWindow, READ_PART);
    return this.#window.consume(counted);
  }

  /** It was asked for. */
  want(): void {
    this.#isWanted = true;
  }

  /** Gets what the link may carry before it is read, as far as other streams leave that. @returns as `consume`. */
  widen(): number {
    this.#grow(Math.min(limits.streamCreditBytes, this.#bounds.receiver.streamWindow), ASKED_PART);
    return this.#window.consume(0);
  }

  /** Nothing more is to come: only what is still unread counts. */
  over(): void {
    const kept = Math.min(this.#pooled, this.#bytes);
    this.#bounds.creditPool.giveBack(this.#pooled - kept);
    this.#pooled = kept;
  }

  /** Nobody is going to consume the rest. Idempotent. */
  drop(): void {
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#pieces.clear();
    this.over();
    this.#bounds.receiver.consume(bytes);
  }

  #grow(size: number, part: number): void {
    const more = this.#bounds.creditPool.take(this.#pooled, size - this.#window.size, part);
    this.#pooled += more;
    this.#window.grow(more);
  }
}
