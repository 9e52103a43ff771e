import { toByteString } from "../../base-encodings.ts";
import { ErrorCode, RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { type EncodableField, fieldBytes, type HeaderField, type Priority } from "../../wire/frame.ts";
import { type CreditPool, ReceiveWindow, SendWindow } from "../credit/credit.ts";
import type { Ready } from "./send-queue.ts";

// Heads that this side sends: PROTOCOL.md section 5.1. The receiver's limits are those of its HPACK decoder.

/**
 * To be called before encoding: a block that was encoded and not sent would leave the peer's HPACK table behind. Errs on
 * the safe side, since no block is longer than what its lines count.
 *
 * @throws RopewayError ENHANCE_YOUR_CALM of scope "stream" when the peer would refuse the head.
 */
export function assertHeadFits(fields: readonly EncodableField[]): void {
  const bytes = fields.reduce((sum, [name, value]) => sum + fieldBytes(toByteString(name), toByteString(value)), 0);
  if (fields.length <= limits.headFields && bytes <= limits.headBytes) return;
  throw new RopewayError(
    ErrorCode.ENHANCE_YOUR_CALM,
    "stream",
    "user",
    `Cannot send a head of ${fields.length} lines and ${bytes} bytes: the limits are ${limits.headFields} and ${limits.headBytes}`,
  );
}

export type StreamState = "open" | "half-closed-local" | "half-closed-remote" | "closed";

export type StreamTransition = "end-sent" | "end-received" | "reset";

const TRANSITIONS: Record<StreamState, Partial<Record<StreamTransition, StreamState>>> = {
  open: { "end-sent": "half-closed-local", "end-received": "half-closed-remote", reset: "closed" },
  "half-closed-local": { "end-received": "closed", reset: "closed" },
  "half-closed-remote": { "end-sent": "closed", reset: "closed" },
  closed: { reset: "closed" },
};

/** @throws RopewayError STREAM_CLOSED of scope "stream" when the state knows no such transition. */
export function nextStreamState(state: StreamState, transition: StreamTransition): StreamState {
  const next = TRANSITIONS[state][transition];
  if (next === undefined) {
    throw new RopewayError(
      ErrorCode.STREAM_CLOSED,
      "stream",
      transition === "end-sent" ? "user" : "peer",
      `Cannot follow "${transition}" on a stream that is ${state}`,
    );
  }
  return next;
}

/**
 * The life of a stream, as in RFC 9113 section 5.1 without push reservations:
 *
 * ```
 *                 ┌── end sent ──► half-closed-local ── end received ──┐
 *   idle ─► open ─┤                                                    ├─► closed
 *                 └─ end received ► half-closed-remote ── end sent ────┘
 *   any ── reset sent or received ─────────────────────────────────────► closed
 * ```
 */
export function maySend(state: StreamState): boolean {
  return state === "open" || state === "half-closed-remote";
}

export function mayReceive(state: StreamState): boolean {
  return state === "open" || state === "half-closed-local";
}

interface BodyPiece {
  readonly bytes: Uint8Array;
  readonly end: boolean;
}

/**
 * A body whose pieces may come on several channels, and so in any order: PROTOCOL.md section 4.6. The peer's credit
 * bounds the bytes that the assembly holds.
 */
export class BodyAssembly {
  /** In order and without a gap, not taken yet. */
  #ready: BodyPiece[] = [];
  /** Pieces behind a gap, by their offset. */
  #early = new Map<number, BodyPiece>();
  #received = 0;
  #length: number | null = null;

  /** Bytes that have come without a gap from the first on. */
  get received(): number {
    return this.#received;
  }

  /**
   * @param offset bytes of the body before the piece.
   * @throws RopewayError of scope "stream": PROTOCOL_ERROR when it overlaps another or lies behind the end,
   *   ENHANCE_YOUR_CALM when too many wait for one before them.
   */
  add(offset: number, bytes: Uint8Array, end: boolean): void {
    if (bytes.length === 0 && !end) return;
    const behind = offset + bytes.length;
    if (offset < this.#received || this.#overlaps(offset, behind)) throw refusal("it came before");
    if (this.#length !== null && (end || behind > this.#length)) throw refusal("the body has ended");
    if (end && [...this.#early.keys()].some((other) => other >= behind)) throw refusal("more came behind its end");
    if (end) this.#length = behind;
    if (offset > this.#received) {
      if (this.#early.size >= limits.earlyPieces) {
        const message = `Cannot keep more than ${limits.earlyPieces} pieces of a body: one before them is missing`;
        throw new RopewayError(ErrorCode.ENHANCE_YOUR_CALM, "stream", "peer", message);
      }
      this.#early.set(offset, { bytes, end });
      return;
    }
    let next: BodyPiece | undefined = { bytes, end };
    while (next !== undefined) {
      this.#ready.push(next);
      this.#received += next.bytes.length;
      const following: BodyPiece | undefined = next.end ? undefined : this.#early.get(this.#received);
      this.#early.delete(this.#received);
      next = following;
    }
  }

  /** The next piece in order, or null if it has not come. */
  take(): BodyPiece | null {
    return this.#ready.shift() ?? null;
  }

  clear(): void {
    this.#ready = [];
    this.#early.clear();
  }

  #overlaps(offset: number, behind: number): boolean {
    for (const [other, { bytes }] of this.#early) {
      if (other === offset || (other < behind && offset < other + bytes.length)) return true;
    }
    return false;
  }
}

function refusal(reason: string): RopewayError {
  return new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", `Cannot take a piece of a body: ${reason}`);
}

/** Count for all streams of a session. */
interface PieceCount {
  pieces: number;
}

/** A body may have this many times as many pieces as are left. */
const MOST_OF_LEFT = 3;

/**
 * How many pieces of a body came and were not consumed. Credit bounds their bytes; but each is an object that costs more
 * than a hundred, however short it is.
 */
export class UnreadPieces {
  #all: PieceCount;
  /** Lengths in order; those before `#first` are consumed, and so many bytes of that one. */
  #lengths: number[] = [];
  #first = 0;
  #consumed = 0;

  constructor(all: PieceCount) {
    this.#all = all;
  }

  /**
   * @throws RopewayError ENHANCE_YOUR_CALM of scope "stream" when the session has limits.unreadPieces of them, or this body has
   *   three times as many as are left: it ends before a body that is read.
   */
  add(length: number): void {
    if (length === 0) return;
    const left = limits.unreadPieces - this.#all.pieces;
    if (this.#lengths.length - this.#first >= MOST_OF_LEFT * left) {
      const message = `Cannot keep more than ${limits.unreadPieces} pieces of bodies that nobody reads`;
      throw new RopewayError(ErrorCode.ENHANCE_YOUR_CALM, "stream", "peer", message);
    }
    this.#all.pieces += 1;
    this.#lengths.push(length);
  }

  /** @param bytes of the oldest. */
  consume(bytes: number): void {
    this.#consumed += bytes;
    const before = this.#first;
    for (let length = this.#lengths[this.#first]; length !== undefined && length <= this.#consumed; ) {
      this.#consumed -= length;
      this.#first += 1;
      length = this.#lengths[this.#first];
    }
    this.#all.pieces -= this.#first - before;
    if (2 * this.#first < this.#lengths.length) return;
    this.#lengths.splice(0, this.#first);
    this.#first = 0;
  }

  clear(): void {
    this.#all.pieces -= this.#lengths.length - this.#first;
    this.#lengths = [];
    this.#first = 0;
    this.#consumed = 0;
  }
}

/** Bytes that may wait unread. A view keeps its whole message in memory, and credit counts the view alone: so one that is not most of its message is copied. */
export function toKeep(bytes: Uint8Array): Uint8Array {
  return bytes.length < MOST_OF_MESSAGE * bytes.buffer.byteLength ? bytes.slice() : bytes;
}

/** Share of a message. All that a full message has beside its one piece is far less than the rest. */
const MOST_OF_MESSAGE = 7 / 8;

/** Part of the pooled credit that no other stream has, which a stream may have once it is read... */
const READ_PART = 1 / 4;
/** ...and before that, when nobody knows whether it will be read: a page asks for dozens at once. */
const ASKED_PART = 1 / 16;

/** The parts of the session that bound an unread body. */
interface UnreadBounds {
  readonly receiver: {
    consume(bytes: number): void;
    /** Bytes that one stream may have unread, so that its credit does not hold back what the link carries. */
    readonly streamWindow: number;
  };
  /** Bytes that streams may have unread beyond the credit that they begin with. */
  readonly creditPool: CreditPool;
  /** How many pieces of bodies are unread. */
  readonly unread: PieceCount;
}

/**
 * The bytes of a stream's body that came and that its owner has not consumed. They count against three bounds: the
 * stream's credit, the session's credit, and the session's count of pieces. Bytes that were read give the peer credit anew.
 */
class UnreadBody {
  readonly #bounds: UnreadBounds;
  readonly #window: ReceiveWindow;
  readonly #pieces: UnreadPieces;
  #bytes = 0;
  /** Bytes that the body has of the session's pool. */
  #pooled = 0;
  /** Whether somebody has asked for the body. */
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

  /** Somebody asked for the body. */
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

interface Chunk {
  bytes: Uint8Array;
  readonly sent: () => void;
  readonly failed: (error: RopewayError) => void;
}

/** Bytes that the owner of a stream wrote and that have not left, and the credit that they may leave within. */
class UnsentBody {
  readonly #window: SendWindow;
  #chunks: Chunk[] = [];
  #isEnded = false;
  #sentBytes = 0;

  /** @param credit bytes that the peer takes at first. */
  constructor(credit: number) {
    this.#window = new SendWindow(credit, "stream");
  }

  get sentBytes(): number {
    return this.#sentBytes;
  }

  /** Whether nothing may be added: the end is behind what is left. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  get ready(): Ready {
    if (this.isEmpty) return this.#isEnded ? "end" : "nothing";
    return this.#window.available > 0 ? "data" : "blocked";
  }

  /** @returns resolves when the bytes have left; rejects as `fail` says. */
  add(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#chunks.push({ bytes, sent: resolve, failed: reject });
    });
  }

  end(): void {
    this.#isEnded = true;
  }

  /** Takes up to `room` bytes of the first chunk, within the credit, or the end alone. */
  take(room: number): { readonly bytes: Uint8Array; readonly end: boolean } {
    const [chunk] = this.#chunks;
    if (chunk === undefined) return { bytes: NOTHING, end: true };
    const length = Math.min(room, this.#window.available, chunk.bytes.length);
    const bytes = chunk.bytes.subarray(0, length);
    this.#window.take(length);
    this.#sentBytes += length;
    if (length < chunk.bytes.length) {
      chunk.bytes = chunk.bytes.subarray(length);
      return { bytes, end: false };
    }
    this.#chunks.shift();
    chunk.sent();
    return { bytes, end: this.#isEnded && this.isEmpty };
  }

  grant(credit: number): void {
    this.#window.grant(credit);
  }

  /** The peer changed the credit that streams begin with. */
  shift(delta: number): void {
    this.#window.shift(delta);
  }

  /** Takes all that is left out. @returns tells those who wrote it. */
  drop(): (error: RopewayError) => void {
    const chunks = this.#chunks;
    this.#chunks = [];
    return (error) => {
      for (const chunk of chunks) chunk.failed(error);
    };
  }
}

const NOTHING = new Uint8Array(0);

/** The events that a stream tells its owner. Nothing follows `onReset` or, if this side has ended too, `onEnd`. */
interface StreamHandler {
  /** @param end no body follows; `onEnd` is called next. */
  onHead(fields: readonly HeaderField[], end: boolean): void;
  /** Body bytes, a view that is valid to keep. They count against credit until `stream.consumed` is called. */
  onData(chunk: Uint8Array): void;
  onEnd(): void;
  /** Edge: the phone said anew how urgent the response is. */
  onPriority?(): void;
  /** The stream failed: reset by the peer, or its session ended. */
  onReset(error: RopewayError): void;
}

/** The parts of a channel that a stream on it uses. */
export interface StreamCarrier {
  /** The number of the channel. */
  readonly index: number;
  sendHead(streamId: number, fields: readonly EncodableField[], end: boolean, priority: Priority): void;
  /** @param reason for the people at the other end, or "". */
  sendReset(streamId: number, code: ErrorCode, reason: string): void;
  sendCredit(streamId: number, increment: number): void;
  sendPriority(streamId: number, priority: Priority): void;
}

export interface StreamPlace {
  readonly id: number;
  readonly carrier: StreamCarrier;
}

/** The parts of a session that a stream uses. */
export interface StreamHost extends UnreadBounds {
  readonly sender: {
    /** The stream has something to send. */
    wake(stream: MuxStream): void;
    /** The stream may have something to send when the session sends next. */
    queue(stream: MuxStream): void;
    /** The stream's urgency changed. */
    requeue(stream: MuxStream): void;
  };
  /**
   * Larger than any before of its kind. Requests and pushes are counted apart and take turns: what a page asks for beside
   * what is pushed, as pictures that its styles name, is not to wait for all of that.
   */
  nextOrder(isPush: boolean): number;
  /** Where a stream of this side goes, whose first head is about to leave: so heads leave in the order of their ids. */
  begin(stream: MuxStream): StreamPlace;
  closed(stream: MuxStream): void;
}

interface StreamPiece {
  readonly bytes: Uint8Array;
  readonly end: boolean;
  /** Where in the body it belongs; null for behind all that came before. */
  readonly offset: number | null;
}

interface MuxStreamOptions {
  readonly host: StreamHost;
  readonly credit: { readonly send: number; readonly receive: number };
  readonly priority: Priority;
  readonly kind: StreamKind;
  /** Null for a stream of our own until its first head leaves. */
  readonly place: StreamPlace | null;
}

/**
 * An exchange has a head and a body each way. A push has one direction only, and two heads before its body: the request
 * that it answers, and the response (PROTOCOL.md section 5.6).
 */
export type StreamKind = "exchange" | "push-sent" | "push-received";

const FIRST_STATE: Record<StreamKind, StreamState> = {
  exchange: "open",
  "push-sent": "half-closed-remote",
  "push-received": "half-closed-local",
};
const HEADS_TO_SEND: Record<StreamKind, number> = { exchange: 1, "push-sent": 2, "push-received": 0 };
const HEADS_TO_RECEIVE: Record<StreamKind, number> = { exchange: 1, "push-sent": 0, "push-received": 2 };

/**
 * One stream of a session: heads and data both ways, with credit. Created by the session; used by the http layer.
 */
export class MuxStream {
  handler: StreamHandler | null = null;
  readonly isPush: boolean;
  /** Larger for the later of two exchanges, or of two pushes. Ids do not tell that, since each channel has its own. */
  readonly order: number;
  /** Phone: whether what is sent before this is over is to arrive behind it. It does as long as its channel has a link. */
  leads = false;

  #place: StreamPlace | null;
  /** Before data may be sent. */
  #headsToSend: number;
  /** Before data may come. */
  #headsToReceive: number;
  readonly #host: StreamHost;
  #state: StreamState;
  #priority: Priority;
  readonly #unsent: UnsentBody;
  readonly #unread: UnreadBody;
  readonly #assembly = new BodyAssembly();
  /** Whether pieces of its body went on other channels than its own: from then on all say where they belong. */
  #isStriped = false;

  constructor({ host, credit, priority, kind, place }: MuxStreamOptions) {
    this.#host = host;
    this.#place = place;
    this.#priority = priority;
    this.isPush = kind !== "exchange";
    this.order = host.nextOrder(this.isPush);
    this.#state = FIRST_STATE[kind];
    this.#headsToSend = HEADS_TO_SEND[kind];
    this.#headsToReceive = HEADS_TO_RECEIVE[kind];
    this.#unsent = new UnsentBody(credit.send);
    this.#unread = new UnreadBody(host, credit.receive, !this.isPush);
  }

  /** 0 until the first head was sent, on the side that opens the stream. */
  get id(): number {
    return this.#place?.id ?? 0;
  }

  /** The session's channel that carries it. */
  get channelIndex(): number {
    return this.#place?.carrier.index ?? 0;
  }

  get state(): StreamState {
    return this.#state;
  }

  /** Body bytes handed to the channel. */
  get sentBytes(): number {
    return this.#unsent.sentBytes;
  }

  get priority(): Priority {
    return this.#priority;
  }

  /** The stream's next sending if the session had credit. */
  get ready(): Ready {
    if (!maySend(this.#state)) return "nothing";
    if (this.#headsToSend === 0) return this.#unsent.ready;
    return this.#unsent.isEmpty ? "nothing" : "blocked";
  }

  /**
   * Sends a field section: a request or response head (of a push, first the one, then the other), or with `end` after
   * the data was handed over, trailers.
   *
   * @throws RopewayError of scope "stream" when it is above the limits on heads, or would overtake queued data.
   */
  sendHead(fields: readonly EncodableField[], end: boolean): void {
    if (!maySend(this.#state)) return;
    if (this.#headsToSend === 0 && (!end || this.#unsent.isEnded || !this.#unsent.isEmpty)) {
      throw new RopewayError(ErrorCode.INTERNAL_ERROR, "stream", "user", "Cannot send trailers: data is to go first");
    }
    // Behind pieces on other channels a head would come too early, and nobody reads trailers.
    if (this.#isStriped) return this.end();
    assertHeadFits(fields);
    const isFresh = this.#place === null;
    this.#place ??= this.#host.begin(this);
    this.#place.carrier.sendHead(this.#place.id, fields, end, this.#priority);
    this.#headsToSend = Math.max(0, this.#headsToSend - 1);
    // The session may have ended over it.
    if (!maySend(this.#state)) return;
    if (isFresh && !this.isPush) this.widen();
    if (end) this.#transition("end-sent");
    else this.#host.sender.wake(this);
  }

  /**
   * Queues body bytes; they leave after the head. Takes ownership of `bytes` until it resolves.
   *
   * @returns resolves when the bytes were handed to the channel; rejects with a RopewayError when the stream fails first.
   */
  write(bytes: Uint8Array): Promise<void> {
    if (!maySend(this.#state) || this.#unsent.isEnded) {
      return Promise.reject(
        new RopewayError(ErrorCode.STREAM_CLOSED, "stream", "user", "Cannot write: this side of the stream has ended"),
      );
    }
    if (bytes.length === 0) return Promise.resolve();
    const sent = this.#unsent.add(bytes);
    this.#host.sender.wake(this);
    return sent;
  }

  /** Ends this side after what is queued. Idempotent. */
  end(): void {
    if (!maySend(this.#state) || this.#unsent.isEnded) return;
    this.#unsent.end();
    this.#host.sender.wake(this);
  }

  /**
   * Gives the stream up in both directions and tells the peer, who never hears of a stream without a head. Bytes
   * that came and were not consumed count as consumed, also when the stream has ended already. Idempotent.
   *
   * @param reason the message of the error that the peer's owner gets; cut where it is long (PROTOCOL.md section 3.3).
   */
  reset(code: ErrorCode, reason = ""): void {
    if (this.#state === "closed") return this.#unread.drop();
    this.#place?.carrier.sendReset(this.#place.id, code, reason);
    this.fail(new RopewayError(code, "stream", "user", reason || "Cannot go on: the stream was given up"), false);
  }

  /** The owner is done with `bytes` of what it got from `onData`: credit goes back to the peer. */
  consumed(bytes: number): void {
    this.#giveCredit(this.#unread.consume(bytes, !mayReceive(this.#state)));
  }

  /** Somebody asked for the body. Its credit grows to what the link may carry, as far as other streams leave that. */
  widen(): void {
    this.#unread.want();
    if (mayReceive(this.#state)) this.#giveCredit(this.#unread.widen());
  }

  #giveCredit(increment: number): void {
    if (increment > 0) this.#place?.carrier.sendCredit(this.#place.id, increment);
  }

  /** Changes the order in which the peer answers (RFC 9218 section 7). */
  reprioritize(priority: Priority): void {
    if (this.#state === "closed") return;
    this.#priority = priority;
    this.#place?.carrier.sendPriority(this.#place.id, priority);
  }

  /** Sends by another priority than the peer has said, who is not told (RFC 9218 section 10). */
  schedule(priority: Priority): void {
    this.#priority = priority;
    this.#host.sender.requeue(this);
  }

  /**
   * For the session: takes up to `room` bytes off the queue, within the stream's credit.
   *
   * @param strays whether they go on another channel than the stream's own.
   */
  takePiece(room: number, strays: boolean): StreamPiece {
    if (strays) this.#isStriped = true;
    const offset = this.#isStriped ? this.#unsent.sentBytes : null;
    const { bytes, end } = this.#unsent.take(room);
    if (end) this.#transition("end-sent");
    return { bytes, end, offset };
  }

  /** For the session. */
  receiveHead(fields: readonly HeaderField[], end: boolean): void {
    if (!mayReceive(this.#state)) throw this.#late();
    if (this.#headsToReceive === 0 && !end) {
      throw new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", "Cannot take a second head");
    }
    if (this.#headsToReceive > 1 && end) {
      throw new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", "Cannot take a push without its response");
    }
    // A field section beyond the heads is trailers, which no caller of ours reads (Fetch has no trailers).
    const isHead = this.#headsToReceive > 0;
    if (isHead) this.#headsToReceive -= 1;
    if (isHead) this.#tell((handler) => handler.onHead(fields, end));
    if (end && mayReceive(this.#state)) this.#receiveEnd();
    else if (isHead && mayReceive(this.#state)) this.#deliver();
  }

  /**
   * For the session. Session credit was taken already; if this throws, failing the stream gives it back. A piece
   * with an offset may come before the head.
   */
  receivePiece({ bytes, end, offset }: StreamPiece): void {
    this.#unread.arrive(bytes.length);
    if (offset === null && this.#headsToReceive > 0) {
      throw new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", "Cannot take data before a head");
    }
    if (!mayReceive(this.#state)) throw this.#late();
    this.#unread.keep(bytes.length);
    this.#assembly.add(offset ?? this.#assembly.received, toKeep(bytes), end);
    this.#deliver();
  }

  #deliver(): void {
    if (this.#headsToReceive > 0) return;
    for (let next = this.#assembly.take(); next !== null; next = this.#assembly.take()) {
      const { bytes, end } = next;
      if (bytes.length > 0) this.#tell((handler) => handler.onData(bytes));
      if (!mayReceive(this.#state)) return;
      if (end) return this.#receiveEnd();
    }
  }

  /** For the session. */
  receiveCredit(increment: number): void {
    this.#unsent.grant(increment);
    this.#host.sender.wake(this);
  }

  /** For the session: the peer changed the initial credit of streams. Sends nothing yet. */
  shiftCredit(delta: number): void {
    this.#unsent.shift(delta);
    this.#host.sender.queue(this);
  }

  /** For the session: ends the stream without telling the peer. */
  fail(error: RopewayError, tellHandler = true): void {
    if (this.#state === "closed") return;
    const tellWriters = this.#unsent.drop();
    this.#assembly.clear();
    this.#transition("reset");
    tellWriters(error);
    this.#unread.drop();
    if (tellHandler) this.handler?.onReset(error);
  }

  #receiveEnd(): void {
    this.#transition("end-received");
    this.#unread.over();
    this.#tell((handler) => handler.onEnd());
  }

  /** An owner's fault ends its stream, not everybody's session. */
  #tell(event: (handler: StreamHandler) => void): void {
    try {
      if (this.handler !== null) event(this.handler);
    } catch (error) {
      if (error instanceof RopewayError) throw error;
      throw new RopewayError(ErrorCode.INTERNAL_ERROR, "stream", "user", "Cannot handle the stream: internal error", {
        cause: error,
      });
    }
  }

  #transition(transition: "end-sent" | "end-received" | "reset"): void {
    this.#state = nextStreamState(this.#state, transition);
    if (this.#state === "closed") this.#host.closed(this);
  }

  #late(): RopewayError {
    return new RopewayError(ErrorCode.STREAM_CLOSED, "stream", "peer", "Cannot take more: the peer's side has ended");
  }
}
