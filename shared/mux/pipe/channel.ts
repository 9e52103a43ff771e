/**
 * One ordered, resumable pipe of frames over whatever transport is attached at the moment: PROTOCOL.md section 4.
 *
 * Sequenced frames are numbered implicitly from 0 in each direction, kept until the peer acknowledges them, and sent
 * again after a reconnect from where the peer left off. So what is built on a channel (streams, HPACK tables, credit)
 * never sees a cut: no frame is lost and none is delivered twice.
 *
 * ```
 *             attach(transport)            onClose / detach
 *  detached ───────────────────► attached ───────────────────► detached
 *      │                            │
 *      └────────── fail() ──────────┴──► failed (final: a peer broke the protocol, or cannot resume)
 * ```
 */
import { ErrorCode, RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";
import type { Transport } from "../../transport.ts";
import {
  type ChannelFrame,
  concat,
  decodeFrame,
  encodeFrame,
  isHello,
  isSequenced,
  readerOf,
  type SequencedFrame,
  takeSection,
} from "../../wire/frame.ts";
import { ArrivedFrames, type ArrivedSnapshot } from "./arrived-frames.ts";
import { Outbox } from "./outbox.ts";
import { RetainedFrames, type RetainedSnapshot, type RetainedTotal } from "./retained-frames.ts";

export interface ChannelHandler {
  /** A sequenced frame of the peer, exactly once and in order. May throw a RopewayError of scope "session". */
  onFrame(frame: SequencedFrame): void;
  /** All frames of one message were handled. */
  onMessageEnd(): void;
  /** A fresh transport carries the channel now; HELLO and all that was not acknowledged is queued on it. */
  onAttached?(): void;
  /** The transport is gone, and no other has taken its place. */
  onDetached?(): void;
  /** A message, or a part of one, of another channel, which goes over this one's link. May throw as onFrame. */
  onCarried?(from: CarriedPlace, message: Uint8Array): void;
  /** The peer's HELLO: after it, what was lost with the last transport is on its way again. */
  onHello?(): void;
  onPong?(token: number): void;
  /** The channel cannot go on. Called once. */
  onFail(error: RopewayError): void;
}

/** Which channel goes over the first one's link, and the number of the link that this is to it. */
export interface CarriedPlace {
  readonly channel: number;
  readonly link: number;
}

/** What survives hibernation. Plain data, for structured clone. */
export interface ChannelSnapshot extends RetainedSnapshot, ArrivedSnapshot {}

/** Defers work to the end of the current turn; `queueMicrotask` outside tests. */
export type Defer = (task: () => void) => void;

export interface ChannelOptions {
  readonly sessionId: Uint8Array;
  /** Which of the session's channels it is; 0 by default. */
  readonly index?: number;
  /** Phone: the number of a fresh link among all of the session; counted here where it is left out. */
  readonly nextLink?: () => number;
  readonly handler: ChannelHandler;
  readonly defer?: Defer;
  readonly snapshot?: ChannelSnapshot;
  /** Of the session, for limits.retainedBytes; what this channel keeps is all where it is left out. */
  readonly retained?: RetainedTotal;
}

export class Channel {
  readonly sessionId: Uint8Array;
  readonly index: number;
  /** Messages handed to transports, and their bytes; replays count again. */
  readonly traffic = { messagesUp: 0, bytesUp: 0, bytesDown: 0, replayedFrames: 0 };

  #handler: ChannelHandler;
  #defer: Defer;
  #transport: Transport | null = null;
  /** The first frame on a fresh transport must be HELLO, and no later one may be. */
  #helloDue = false;
  /** Whether a transport was attached before: all that was sent on it may have been acted on, heard of or not. */
  #attachedBefore = false;
  /** Whether that was so when the present one was attached. */
  #isResumed = false;
  /** Whether the peer has said HELLO on any. */
  #wasGreeted = false;
  #failed = false;

  #nextLink: () => number;
  #retained: RetainedFrames;
  readonly #total: RetainedTotal;
  /** What waits for the next flush. */
  #outbox = new Outbox();
  #flushScheduled = false;

  #arrived: ArrivedFrames;

  constructor(options: ChannelOptions) {
    this.sessionId = options.sessionId;
    this.index = options.index ?? 0;
    this.#handler = options.handler;
    let links = 0;
    this.#nextLink = options.nextLink ?? (() => links++);
    this.#defer = options.defer ?? ((task) => queueMicrotask(task));
    this.#total = options.retained ?? { bytes: 0, replayed: 0, acknowledged: 0 };
    this.#retained = new RetainedFrames(options.snapshot, this.#total);
    this.#arrived = new ArrivedFrames(options.snapshot);
  }

  get attached(): boolean {
    return this.#transport !== null;
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** Phone: nothing was heard yet on a transport that took the place of a lost one, and may never open. */
  get isResuming(): boolean {
    return this.#transport !== null && this.#isResumed && this.#helloDue;
  }

  /** Phone: not the session's first channel, and the edge was not heard on it: nothing that is numbered may be sent. */
  get isNew(): boolean {
    return this.index > 0 && !this.#wasGreeted;
  }

  isAttachedTo(transport: Transport): boolean {
    return this.#transport === transport;
  }

  /** Bytes at which DATA and messages are cut, so that an urgent frame does not wait behind a long one. */
  get batchBytes(): number {
    return this.#outbox.batchBytes;
  }

  set batchBytes(bytes: number) {
    this.#outbox.batchBytes = bytes;
  }

  get received(): number {
    return this.#arrived.received;
  }

  /** Bytes after which an ACK goes out alone; null for the usual number. */
  set ackBytes(bytes: number | null) {
    this.#arrived.ackBytes = bytes;
  }

  /** Sequenced frames, in all. */
  get sent(): number {
    return this.#retained.sent;
  }

  /** Whether DATA may be sent: the session does not keep so much that it could crowd out frames that must not wait. */
  get takesData(): boolean {
    return this.#total.bytes < limits.retainedDataBytes;
  }

  /** Frames that are kept because the peer has not acknowledged them, and what they count against retainedBytes. */
  get unacknowledged(): { frames: number; bytes: number } {
    return { frames: this.#retained.count, bytes: this.#retained.bytes };
  }

  /** What is not acknowledged, in round trips of what the transport carries. */
  get load(): number {
    return this.#retained.load;
  }

  snapshot(): ChannelSnapshot {
    const { sent, flight } = this.#retained;
    return { sent, flight, ...this.#arrived.snapshot };
  }

  /**
   * Phone side: takes a fresh transport, says HELLO on it and sends everything that is not acknowledged. Nothing is
   * waited for; the edge skips what it already has.
   *
   * @param link its number, if that is known already.
   */
  attach(transport: Transport, link = this.#nextLink()): void {
    if (this.#failed) return;
    // One that comes from a live transport is open, and nothing was lost with the other.
    this.#isResumed = this.#attachedBefore && this.#transport === null;
    this.#takeFreshTransport(transport);
    // A further channel has sent nothing that could be acted on twice before the edge was heard on it.
    const resume = this.index === 0 ? this.#attachedBefore : this.#wasGreeted;
    this.#sendHello({ link, resume, ...(this.#wasGreeted ? { isGreeted: true } : {}) });
    this.#attachedBefore = true;
    this.#replay();
    this.#handler.onAttached?.();
  }

  /**
   * Edge side: goes on with the channel on a fresh transport, given the phone's HELLO. The whole message that
   * began with it is then passed to `receive`.
   *
   * @param isCarried the transport is a `carrier`.
   * @throws RopewayError LINK_LOST when frames that the phone lacks are no longer kept, or it skips frames.
   */
  resume(transport: Transport, hello: ChannelFrame & { type: "hello" }, isCarried = false): void {
    const { first, sent } = this.#retained;
    const gap = hello.received < first || hello.received > sent || hello.next > this.received;
    if (gap || this.#failed) {
      throw new RopewayError(
        ErrorCode.LINK_LOST,
        "session",
        "library",
        "Cannot resume the session: frames in between are gone, open a new one",
      );
    }
    this.#takeFreshTransport(transport);
    this.#wasGreeted = true;
    this.#arrived.restart(hello.next);
    this.#release(hello.received);
    this.#sendHello({ link: hello.link, resume: false });
    this.#replay();
    if (isCarried) this.#total.replayed += this.#retained.bytes;
    this.#handler.onAttached?.();
  }

  /** Takes a transport that already carried this channel (a hibernated socket): no HELLO, nothing to replay. */
  adopt(transport: Transport): void {
    this.#wasGreeted = true;
    this.#takeTransport(transport);
  }

  /**
   * The transport is gone: frames sent from now on are kept for the next one.
   *
   * @returns false when another transport has taken its place meanwhile, and nothing changed.
   */
  detach(transport: Transport): boolean {
    if (transport !== this.#transport) return false;
    this.#transport = null;
    this.#outbox.clear();
    this.#handler.onDetached?.();
    return true;
  }

  /** Queues a frame for the end of this turn. It is encoded at once: its payload may be written to afterwards. */
  send(frame: SequencedFrame): void {
    if (this.#failed) return;
    const bytes = this.#retained.add(frame);
    if (this.#total.bytes > limits.retainedBytes) {
      this.fail(
        new RopewayError(
          ErrorCode.ENHANCE_YOUR_CALM,
          "session",
          "peer",
          `Cannot keep more than ${limits.retainedBytes} unacknowledged bytes: the peer does not acknowledge`,
        ),
      );
      return;
    }
    if (this.#transport !== null) this.#queue(bytes);
  }

  ping(token: number): void {
    this.#queue(encodeFrame({ type: "ping", token }));
  }

  /** Bytes of memory that are kept for frames to come. */
  get spareBytes(): number {
    return this.#retained.spareBytes;
  }

  /** Nothing is to be sent for a while: keeps no memory for it. An edge has thousands of sessions that rest. */
  rest(): void {
    this.#retained.dropSpare();
  }

  /** Says how much has arrived, if that was not said. */
  acknowledge(): void {
    const ack = this.#arrived.ack();
    if (ack !== null) this.#queue(ack);
  }

  /** Whether anything has arrived that was not acknowledged. */
  get hasUnsaid(): boolean {
    return this.#arrived.isUntold;
  }

  /** Sends everything queued now instead of at the end of the turn. */
  flush(): void {
    this.#flushScheduled = false;
    const transport = this.#transport;
    if (transport === null) return;
    this.#outbox.addPongs();
    if (this.#outbox.isEmpty) return;
    const ack = this.#arrived.ackAlong();
    if (ack !== null) this.#outbox.add(ack);
    for (const message of this.#outbox.takeMessages()) {
      this.traffic.messagesUp += 1;
      this.traffic.bytesUp += message.length;
      transport.send(message);
    }
  }

  /** A transport for another channel, which lasts as long as the present one of this does. */
  carrier(place: CarriedPlace): Transport {
    const over = this.#transport;
    const marker = encodeFrame({ ...place, type: "carry" });
    return {
      send: (message) => {
        if (over === null || over !== this.#transport) return false;
        // HELLO is first, and what waited before stays before.
        this.flush();
        this.traffic.bytesUp += marker.length;
        return over.send(concat(marker, message));
      },
      close() {},
    };
  }

  /**
   * One message of the peer. Never throws: what the peer did wrong ends in `onFail`.
   *
   * @param from where it came from: a transport that was replaced may still deliver, and its frames must not be counted.
   * @param isCounted its bytes are not those of another channel's message already.
   */
  receive(message: Uint8Array, from: Transport | null = this.#transport, isCounted = true): void {
    if (this.#failed || from === null || from !== this.#transport) return;
    if (isCounted) this.traffic.bytesDown += message.length;
    this.#arrived.count(message.length);
    try {
      const reader = readerOf(message);
      const begun = new Set<number>();
      while (reader.remaining > 0) {
        const frame = decodeFrame(reader);
        if (frame.type === "carry") this.#receiveCarried(frame, takeSection(reader), begun);
        else if (isSequenced(frame)) this.#receiveSequenced(frame as SequencedFrame);
        else this.#receiveChannelFrame(frame as ChannelFrame);
        // Frames of a transport that a handler replaced or let go are not counted: the peer sends them again.
        if (this.#failed || from !== this.#transport) return;
      }
      this.#handler.onMessageEnd();
    } catch (error) {
      this.fail(toSessionError(error));
      return;
    }
    const ack = this.#arrived.ackAlone();
    if (ack !== null) this.#queue(ack);
  }

  /** Ends the channel for good: says GO_AWAY with the code if a transport is there, then closes it. */
  fail(error: RopewayError): void {
    if (this.#failed) return;
    this.#failed = true;
    const transport = this.#transport;
    this.#transport = null;
    if (transport !== null) {
      const goAway = encodeFrame({ type: "go-away", lastStreamId: 0, code: error.code, message: error.message });
      transport.send(goAway);
      transport.close(error.code === ErrorCode.NO_ERROR ? 1000 : 4000 + error.code, "");
    }
    this.#retained.clear();
    this.#outbox.clear();
    this.#handler.onFail(error);
  }

  /** Ends the channel without a word to the peer, who has ended it too. Nothing is told to the handler. */
  retire(): void {
    this.#failed = true;
    this.#transport?.close(1000, "replaced");
    this.#transport = null;
    this.#retained.clear();
    this.#outbox.clear();
  }

  #takeTransport(transport: Transport): void {
    const previous = this.#transport;
    this.#transport = transport;
    this.#helloDue = false;
    this.#outbox.clear();
    if (previous !== transport) previous?.close(1000, "replaced");
  }

  #takeFreshTransport(transport: Transport): void {
    this.#takeTransport(transport);
    this.#arrived.restart(this.received);
    this.#helloDue = true;
    if (this.index === 0) this.#total.replayed = 0;
    this.#retained.restartFlight();
  }

  #sendHello(said: { readonly link: number; readonly resume: boolean; readonly isGreeted?: true }): void {
    const { sessionId, index } = this;
    const channel = index > 0 ? { channel: index } : {};
    this.#outbox.addHello(
      encodeFrame({
        type: "hello",
        sessionId,
        ...channel,
        received: this.received,
        next: this.#retained.first,
        ...said,
      }),
    );
    this.#scheduleFlush();
    this.#arrived.told();
  }

  #replay(): void {
    this.traffic.replayedFrames += this.#retained.count;
    for (const bytes of this.#retained.all()) this.#queue(bytes);
  }

  #receiveSequenced(frame: SequencedFrame): void {
    // The last word on a transport, said whatever else was queued: acted on in any position.
    if (frame.type === "go-away") return this.#handler.onFrame(frame);
    if (this.#helloDue) throw violation("its first frame is not HELLO");
    if (!this.#arrived.take()) return;
    if ((frame.type as string) !== "unknown") this.#handler.onFrame(frame);
  }

  /** @param begun channels that HELLO was said of in this message: each makes all be sent again that is kept. */
  #receiveCarried(place: CarriedPlace, message: Uint8Array, begun: Set<number>): void {
    if (this.index !== 0 || place.channel === 0 || this.#helloDue)
      throw violation("only the first channel carries others");
    this.#arrived.count(-message.length);
    if (isHello(message)) {
      if (begun.has(place.channel)) throw violation("it says HELLO of a channel twice in a message");
      begun.add(place.channel);
      if (this.#total.replayed > 2 * limits.retainedBytes) throw tooMuchCarried();
    }
    this.#handler.onCarried?.(place, message);
  }

  #receiveChannelFrame(frame: ChannelFrame): void {
    if (this.#helloDue !== (frame.type === "hello"))
      throw violation("HELLO is the first frame of a socket, and only that");
    switch (frame.type) {
      case "ack":
        this.#release(frame.received);
        return;
      case "ping":
        this.#outbox.answer(frame.token);
        this.#scheduleFlush();
        return;
      case "pong":
        this.#handler.onPong?.(frame.token);
        return;
      case "hello":
        if (!sameBytes(frame.sessionId, this.sessionId)) throw violation("its HELLO names another session");
        if ((frame.channel ?? 0) !== this.index) throw violation("its HELLO names another channel");
        this.#helloDue = false;
        this.#wasGreeted = true;
        this.#release(frame.received);
        if (frame.next > this.received) throw violation("its HELLO skips frames");
        this.#arrived.restart(frame.next);
        this.#handler.onHello?.();
        return;
    }
  }

  /** Forgets frames below `received`, which the peer says it has. */
  #release(received: number): void {
    if (received > this.sent) throw violation("it acknowledges frames that were never sent");
    // A replayed frame may still wait to be sent once more.
    this.#retained.release(received, this.#outbox.isEmpty);
  }

  #queue(bytes: Uint8Array): void {
    if (this.#transport === null) return;
    this.#outbox.add(bytes);
    this.#scheduleFlush();
  }

  #scheduleFlush(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    this.#defer(() => this.flush());
  }
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

function tooMuchCarried(): RopewayError {
  const message =
    "Cannot send again what channels keep: the peer does not acknowledge what was sent again on this link";
  return new RopewayError(ErrorCode.ENHANCE_YOUR_CALM, "session", "peer", message);
}

function violation(reason: string): RopewayError {
  return new RopewayError(ErrorCode.PROTOCOL_ERROR, "session", "peer", `Cannot go on with the peer: ${reason}`);
}

function toSessionError(error: unknown): RopewayError {
  if (error instanceof RopewayError) return error;
  return new RopewayError(ErrorCode.INTERNAL_ERROR, "session", "library", "Cannot handle a message: internal error", {
    cause: error,
  });
}
