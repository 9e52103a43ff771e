/**
 * One stream of a session: heads and data both ways, with credit. Created by the session; used by the http layer.
 */
import { ErrorCode, RopewayError } from "../../errors.ts";
import type { Priority } from "../../wire/frame.ts";
import type { EncodableField, HeaderField } from "../../wire/hpack/field.ts";
import { BodyAssembly } from "./body-assembly.ts";
import { assertHeadFits } from "./head-limits.ts";
import type { Ready } from "./send-queue.ts";
import { mayReceive, maySend, nextStreamState, type StreamState } from "./stream-state.ts";
import { UnreadBody, type UnreadBounds } from "./unread-body.ts";
import { toKeep } from "./unread-pieces.ts";
import { UnsentBody } from "./unsent-body.ts";

/** What the owner of a stream is told. Nothing follows `onReset` or, if this side has ended too, `onEnd`. */
export interface StreamHandler {
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

/** What a stream needs of the channel that it is on. */
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

/** What a stream needs of its session. */
export interface StreamHost extends UnreadBounds {
  readonly sender: {
    /** The stream has something to send. */
    wake(stream: MuxStream): void;
    /** It may have something to send when the session sends next. */
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

export interface StreamPiece {
  readonly bytes: Uint8Array;
  readonly end: boolean;
  /** Where in the body it belongs; null for behind all that came before. */
  readonly offset: number | null;
}

export interface MuxStreamOptions {
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

  /** Which of the session's channels carries it. */
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

  /** What it could send if the session had credit. */
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
   * Gives the stream up in both directions and tells the peer, who never hears of a stream without a head. What was
   * received and not consumed counts as consumed, also when the stream has ended already. Idempotent.
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

  /** It was asked for: gets what the link may carry before it is read, as far as other streams leave that. */
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
   * For the session. Session credit was taken already; if this throws, failing the stream gives it back. One that says
   * where it belongs may come before the head.
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

  /** What the owner does wrong ends its stream, not everybody's session. */
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
