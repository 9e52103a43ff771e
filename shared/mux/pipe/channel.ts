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
import {
  ArrivedFrames,
  type ArrivedSnapshot,
  Outbox,
  RetainedFrames,
  type RetainedSnapshot,
  type RetainedTotal,
  SETTLED,
} from "./frame-log.ts";

/** LINK_LOST: the phone's next request begins a session of its own. */
export function cannotResume(reason: string): RopewayError {
  const message = `Cannot resume the session: ${reason}, open a new one`;
  return new RopewayError(ErrorCode.LINK_LOST, "session", "library", message);
}

/** The error of streams whose channel the phone has retired. */
export function begunAnew(): RopewayError {
  return new RopewayError(ErrorCode.LINK_LOST, "stream", "peer", "Cannot go on: the peer began the channel anew");
}

function keepsTooMuch(): RopewayError {
  const message = `Cannot keep more than ${limits.retainedBytes} unacknowledged bytes: the peer does not acknowledge`;
  return new RopewayError(ErrorCode.ENHANCE_YOUR_CALM, "session", "peer", message);
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

/** The calls by which a transport's owner tells the channel about the transport. */
export interface Attachment {
  /**
   * A message of the peer. Ignored once another transport has taken this one's place.
   *
   * @param isCounted its bytes are not those of another channel's message already.
   */
  receive(message: Uint8Array, isCounted?: boolean): void;
  /** The transport is gone. @returns false when it carried the channel no more. */
  detach(): boolean;
}

// The parts that a channel is made from, and its events.

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
  /** The peer says by a frame of its own that frames of ours are there. */
  onAck?(): void;
  /** The channel cannot go on. Called once. */
  onFail(error: RopewayError): void;
}

/** The channel that goes over the first one's link, and the number of the link that this is to it. */
export interface CarriedPlace {
  readonly channel: number;
  readonly link: number;
}

/** The state of a channel that survives hibernation. Plain data, for structured clone. */
export interface ChannelSnapshot extends RetainedSnapshot, ArrivedSnapshot {}

/** Defers work to the end of the current turn; `queueMicrotask` outside tests. */
export type Defer = (task: () => void) => void;

export interface ChannelOptions {
  readonly sessionId: Uint8Array;
  /** The channel's number in its session. */
  readonly index: number;
  /** Phone: the number of a fresh link among all of the session. */
  readonly nextLink: () => number;
  readonly handler: ChannelHandler;
  /** `queueMicrotask` where it is left out. */
  readonly defer: Defer | undefined;
  readonly snapshot: ChannelSnapshot | undefined;
  /** The total that all channels of the session keep, for limits.retainedBytes. */
  readonly retained: RetainedTotal;
}

/** The link that a channel goes over. */
export type ChannelLink = OwnLink | CarriedLink | SettlingLink;

interface OwnLink {
  readonly kind: "own";
  readonly transport: Transport;
}

/** The first channel's link, which is to this one the link of that number (PROTOCOL.md section 4.5). */
interface CarriedLink {
  readonly kind: "carried";
  readonly transport: Transport;
  readonly number: number;
}

/**
 * Phone: the same, while what the edge sends again is under way. It would all come once more on a transport of its own,
 * so that waits.
 */
interface SettlingLink {
  readonly kind: "settling";
  readonly transport: Transport;
  readonly number: number;
  readonly next: Transport | null;
}

export type ChannelState = LastingState | EndedState;

type LastingState = DetachedState | AttachedState;

interface EndedState {
  readonly name: "ended";
  readonly link: null;
}

interface DetachedState {
  readonly name: "new" | "missed" | "lost";
  readonly link: null;
}

interface AttachedState {
  readonly name: "joining" | "rejoining" | "live" | "moving" | "resuming";
  readonly link: ChannelLink;
}

/** How far a further channel is on its way out: its transport is closed in an orderly way, since it does not pay any more. */
type Retirement =
  | { readonly name: "none" }
  /** Until the peer confirms it: if no more frames are sent than these, both have all of them. */
  | { readonly name: "begun"; readonly sent: number }
  /** Edge: kept until the phone begins the channel anew, or resumes it, as it does if it has missed the end. */
  | { readonly name: "confirmed" };

const AFTER_ATTACH: Record<LastingState["name"], AttachedState["name"]> = {
  new: "joining",
  joining: "joining",
  missed: "rejoining",
  rejoining: "joining",
  live: "moving",
  moving: "moving",
  lost: "resuming",
  resuming: "moving",
};

/** Phone: takes a fresh transport. */
export function attached(state: LastingState, link: ChannelLink): AttachedState {
  return { name: AFTER_ATTACH[state.name], link };
}

/** The peer said HELLO. */
export function greeted({ link }: AttachedState): AttachedState {
  return { name: "live", link };
}

/** The transport is gone. */
export function detached(state: AttachedState): DetachedState {
  return { name: wasHeard(state) ? "lost" : "missed", link: null };
}

/** A transport of its own is there before the channel has settled, or gone again. */
export function waitingFor(next: Transport | null, { name, link }: SettlingState): AttachedState {
  return { name, link: { ...link, next } };
}

/** All that the edge sent again has come. */
export function settled({ name, link }: SettlingState): AttachedState {
  return { name, link: { kind: "carried", transport: link.transport, number: link.number } };
}

type SettlingState = AttachedState & { readonly link: SettlingLink };

/**
 * The life of a channel. The peer was heard once it has said HELLO on any of the transports.
 *
 * ```
 *            phone's attach            HELLO             detach           attach
 *        new ──────────────► joining ─────────► live ─────────────► lost ────────► resuming
 *                              │ ▲               │ ▲                 ▲                │ │
 *                       detach │ │ attach attach │ │ HELLO           │ detach         │ │ HELLO: live
 *                              ▼ │               ▼ │                 │                │ │ detach: lost
 *     rejoining ◄─── attach ─ missed            moving ──────────────┘ ◄── attach ────┘
 *
 *     rejoining ── attach: joining, detach: missed, HELLO: live
 *     edge: any ── resume: moving;  new ── adopt: live          any ── end: ended
 * ```
 *
 * moving: it went straight from one transport to the next, so nothing is lost. resuming, rejoining: the last transport
 * was lost, and this one may never open. joining, missed, rejoining: the peer was not heard yet.
 *
 * A further channel has a second state beside this one, its `Retirement`:
 *
 * ```
 *          begin            phone closes it in order, all is quiet (edge)
 *     none ─────► begun ────────────────────────────────────────────────► confirmed
 *
 *     phone: begun ── its transport is closed: none; ended, too, if the edge confirmed that and all is quiet
 *     edge: begun, confirmed ── resume: none; ended first, if the phone begins the channel anew
 * ```
 */
export function isSettling(state: ChannelState): state is SettlingState {
  return state.link?.kind === "settling";
}

/** Whether its transport is the first channel's link. */
export function isCarried({ link }: ChannelState): boolean {
  return link !== null && link.kind !== "own";
}

/** Whether the peer has said HELLO on any transport. */
export function wasHeard({ name }: ChannelState): boolean {
  return name === "live" || name === "moving" || name === "lost" || name === "resuming";
}

/** The first frame on a fresh transport must be HELLO, and no later one may be. */
export function awaitsHello({ name }: ChannelState): boolean {
  return name !== "live";
}

/** Phone: nothing was heard yet on a transport that took the place of a lost one. */
export function isResuming({ name }: ChannelState): boolean {
  return name === "resuming" || name === "rejoining";
}

type Hello = ChannelFrame & { type: "hello" };
type HelloSaid = Pick<Hello, "link" | "resume" | "isGreeted">;

/**
 * One ordered, resumable pipe of frames over whatever transport is attached at the moment: PROTOCOL.md section 4.
 *
 * Sequenced frames are numbered implicitly from 0 in each direction, kept until the peer acknowledges them, and sent
 * again after a reconnect from where the peer left off. So what is built on a channel (streams, HPACK tables, credit)
 * never sees a cut: no frame is lost and none is delivered twice. Its states are drawn in channel-state.ts.
 */
export class Channel {
  readonly sessionId: Uint8Array;
  readonly index: number;
  /** Messages handed to transports, and their bytes; replays count again. */
  readonly traffic = { messagesUp: 0, bytesUp: 0, bytesDown: 0, replayedFrames: 0 };

  /** Whether its transport is being closed because it does not pay any more. */
  retirement: Retirement = { name: "none" };
  /** Frames that were sent and are kept for the next transport. */
  readonly retained: RetainedFrames;
  readonly arrived: ArrivedFrames;
  /** Frames that wait for the next flush. */
  readonly outbox = new Outbox();

  #handler: ChannelHandler;
  #defer: Defer;
  #nextLink: () => number;
  #total: RetainedTotal;
  #state: ChannelState = { name: "new", link: null };
  #flushScheduled = false;
  /** It may say again what an edge has acted on and forgotten. */
  #isRepeating = false;

  constructor(options: ChannelOptions) {
    this.sessionId = options.sessionId;
    this.index = options.index;
    this.#handler = options.handler;
    this.#nextLink = options.nextLink;
    this.#defer = options.defer ?? ((task) => queueMicrotask(task));
    this.#total = options.retained;
    this.retained = new RetainedFrames(options.snapshot, this.#total);
    this.arrived = new ArrivedFrames(options.snapshot);
  }

  get state(): ChannelState {
    return this.#state;
  }

  get attached(): boolean {
    return this.#state.link !== null;
  }

  /** Phone: not the session's first channel, and the edge was not heard on it: nothing that is numbered may be sent. */
  get isNew(): boolean {
    return this.index > 0 && !wasHeard(this.#state);
  }

  snapshot(): ChannelSnapshot {
    const { sent, flight } = this.retained;
    return { sent, flight, ...this.arrived.snapshot };
  }

  /**
   * Phone side: takes a fresh transport, says HELLO on it and sends everything that is not acknowledged. Nothing is
   * waited for; the edge skips what it already has. While it settles on the first channel's link, the transport waits.
   */
  attach(transport: Transport): void {
    const state = this.#state;
    if (state.name === "ended") return;
    if (isSettling(state)) this.#state = waitingFor(transport, state);
    else this.#attach(state, { kind: "own", transport }, this.#nextLink());
  }

  /** Phone side: the same with the first channel's link, as long as that lasts. */
  attachTo(first: Channel): void {
    const state = this.#state;
    if (state.name === "ended") return;
    const number = this.#nextLink();
    const transport = first.carrier({ channel: this.index, link: number });
    this.#attach(state, { kind: "settling", transport, number, next: null }, number);
    // The edge's answer is behind all that it sends again.
    this.ping(SETTLED);
  }

  /**
   * Edge side: goes on with the channel on a fresh transport, given the phone's HELLO. The whole message that
   * began with it is then passed to `receive`.
   *
   * @param isCarried the transport is the link of channel 0, made by `Channel.carrier`.
   * @throws RopewayError LINK_LOST when frames that the phone lacks are no longer kept, or it skips frames.
   */
  resume(transport: Transport, hello: Hello, isCarried = false): void {
    const { first, sent } = this.retained;
    const gap = hello.received < first || hello.received > sent || hello.next > this.arrived.received;
    if (gap || this.#state.name === "ended") throw cannotResume("frames in between are gone");
    const link: ChannelLink = isCarried
      ? { kind: "carried", transport, number: hello.link }
      : { kind: "own", transport };
    this.#begin({ name: "moving", link }, { link: hello.link, resume: false }, hello);
  }

  /** Takes a transport that already carried this channel (a hibernated socket): no HELLO, nothing to replay. */
  adopt(transport: Transport): void {
    this.#take({ name: "live", link: { kind: "own", transport } });
  }

  /**
   * The transport is gone, or one that waited: frames sent from now on are kept for the next one.
   *
   * @returns false when another transport has taken its place meanwhile, and nothing changed.
   */
  detach(transport: Transport): boolean {
    const state = this.#state;
    if (isSettling(state) && state.link.next === transport) {
      this.#state = waitingFor(null, state);
      return true;
    }
    if (state.link === null || state.link.transport !== transport) return false;
    this.#state = detached(state);
    this.outbox.clear();
    this.#handler.onDetached?.();
    return true;
  }

  /** Queues a frame for the end of this turn. The frame is encoded at once: its payload may be written to afterwards. */
  send(frame: SequencedFrame): void {
    if (this.#state.name === "ended") return;
    const bytes = this.retained.add(frame);
    if (this.#total.bytes > limits.retainedBytes) {
      return this.fail(keepsTooMuch());
    }
    this.#queue(bytes);
  }

  ping(token: number): void {
    this.#queue(encodeFrame({ type: "ping", token }));
  }

  /** Says how much has arrived, if that was not said. */
  acknowledge(): void {
    const ack = this.arrived.ack();
    if (ack !== null) this.#queue(ack);
  }

  /** Sends everything queued now instead of at the end of the turn. */
  flush(): void {
    this.#flushScheduled = false;
    const { link } = this.#state;
    if (link === null) return;
    this.outbox.addPongs();
    if (this.outbox.isEmpty) return;
    const ack = this.arrived.ackAlong();
    if (ack !== null) this.outbox.add(ack);
    for (const message of this.outbox.takeMessages()) {
      this.traffic.messagesUp += 1;
      this.traffic.bytesUp += message.length;
      link.transport.send(message);
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
  receive(message: Uint8Array, from = this.#transport, isCounted = true): void {
    if (from === null || from !== this.#transport) return;
    if (isCounted) this.traffic.bytesDown += message.length;
    this.arrived.count(message.length);
    try {
      const reader = readerOf(message);
      const begun = new Set<number>();
      while (reader.remaining > 0) {
        const frame = decodeFrame(reader);
        if (frame.type === "carry") this.#receiveCarried(frame, takeSection(reader), begun);
        else if (isSequenced(frame)) this.#receiveSequenced(frame as SequencedFrame);
        else this.#receiveChannelFrame(frame as ChannelFrame);
        // Frames of a transport that a handler replaced or let go are not counted: the peer sends them again.
        if (from !== this.#transport) return;
      }
      this.#handler.onMessageEnd();
    } catch (error) {
      this.fail(toSessionError(error));
      return;
    }
    const ack = this.#isRepeating ? this.arrived.ack() : this.arrived.ackAlone();
    if (ack === null) return;
    this.#isRepeating = false;
    this.#queue(ack);
  }

  /** Ends the channel for good: says GO_AWAY with the code if a transport is there, then closes it. */
  fail(error: RopewayError): void {
    if (this.#state.name === "ended") return;
    const { link } = this.#state;
    this.#end();
    if (link !== null) {
      const goAway = encodeFrame({ type: "go-away", lastStreamId: 0, code: error.code, message: error.message });
      link.transport.send(goAway);
      link.transport.close(error.code === ErrorCode.NO_ERROR ? 1000 : 4000 + error.code, "");
      if (link.kind === "settling") link.next?.close(1000, "the session is over");
    }
    this.#handler.onFail(error);
  }

  /** Ends the channel without a word to the peer, who has ended it too. Nothing is told to the handler. */
  retire(): void {
    const transport = this.#transport;
    this.#end();
    transport?.close(1000, "replaced");
  }

  get #transport(): Transport | null {
    return this.#state.link?.transport ?? null;
  }

  #end(): void {
    this.#state = { name: "ended", link: null };
    this.retained.clear();
    this.outbox.clear();
  }

  #attach(before: LastingState, link: ChannelLink, number: number): void {
    const isHeard = wasHeard(before);
    // Frames that were sent on a link may have been acted on, heard of or not. A further channel has sent nothing of the kind
    // before the edge was heard on it.
    const resume = this.index === 0 ? before.name !== "new" : isHeard;
    // Until it acknowledges, the edge takes its requests for repeats.
    this.#isRepeating = resume && !isHeard;
    this.#begin(attached(before, link), { link: number, resume, ...(isHeard ? { isGreeted: true } : {}) });
  }

  #take(state: AttachedState): void {
    const previous = this.#transport;
    this.#state = state;
    this.outbox.clear();
    if (previous !== this.#transport) previous?.close(1000, "replaced");
  }

  /** Says HELLO on a fresh transport, and all again that the peer may lack. @param heard its HELLO, where that came first. */
  #begin(state: AttachedState, said: HelloSaid, heard: Hello | null = null): void {
    this.#take(state);
    const { sessionId, index, arrived, retained } = this;
    arrived.restart(heard?.next ?? arrived.received);
    if (index === 0) this.#total.replayed = 0;
    retained.restartFlight();
    if (heard !== null) this.#release(heard.received);
    const channel = index > 0 ? { channel: index } : {};
    const { received } = arrived;
    this.outbox.addHello(
      encodeFrame({ type: "hello", sessionId, ...channel, received, next: retained.first, ...said }),
    );
    this.#scheduleFlush();
    arrived.told();
    this.traffic.replayedFrames += retained.count;
    for (const bytes of retained.all()) this.#queue(bytes);
    if (state.link.kind === "carried") this.#total.replayed += retained.bytes;
    this.#handler.onAttached?.();
  }

  #receiveSequenced(frame: SequencedFrame): void {
    // The last word on a transport, said whatever else was queued: acted on in any position.
    if (frame.type === "go-away") return this.#handler.onFrame(frame);
    if (awaitsHello(this.#state)) throw violation("its first frame is not HELLO");
    if (!this.arrived.take()) return;
    if ((frame.type as string) !== "unknown") this.#handler.onFrame(frame);
  }

  /** @param begun channels that HELLO was said of in this message: each makes all be sent again that is kept. */
  #receiveCarried(place: CarriedPlace, message: Uint8Array, begun: Set<number>): void {
    if (this.index !== 0 || place.channel === 0 || awaitsHello(this.#state))
      throw violation("only the first channel carries others");
    this.arrived.count(-message.length);
    if (isHello(message)) {
      if (begun.has(place.channel)) throw violation("it says HELLO of a channel twice in a message");
      begun.add(place.channel);
      if (this.#total.replayed > 2 * limits.retainedBytes) throw tooMuchCarried();
    }
    this.#handler.onCarried?.(place, message);
  }

  #receiveChannelFrame(frame: ChannelFrame): void {
    const state = this.#state;
    if (state.link === null || awaitsHello(state) !== (frame.type === "hello"))
      throw violation("HELLO is the first frame of a socket, and only that");
    switch (frame.type) {
      case "ack":
        this.#release(frame.received);
        this.#handler.onAck?.();
        return;
      case "ping":
        this.outbox.answer(frame.token);
        this.#scheduleFlush();
        return;
      case "pong":
        if (frame.token === SETTLED) this.#settle();
        else this.#handler.onPong?.(frame.token);
        return;
      case "hello":
        if (!sameBytes(frame.sessionId, this.sessionId)) throw violation("its HELLO names another session");
        if ((frame.channel ?? 0) !== this.index) throw violation("its HELLO names another channel");
        this.#state = greeted(state);
        this.#release(frame.received);
        if (frame.next > this.arrived.received) throw violation("its HELLO skips frames");
        this.arrived.restart(frame.next);
        this.#handler.onHello?.();
        return;
    }
  }

  /** All that the edge sent again over the first channel's link has come: a transport of its own may take its place. */
  #settle(): void {
    const state = this.#state;
    if (!isSettling(state)) return;
    this.#state = settled(state);
    if (state.link.next !== null) this.attach(state.link.next);
  }

  /** Forgets frames below `received`, which the peer says it has. */
  #release(received: number): void {
    if (received > this.retained.sent) throw violation("it acknowledges frames that were never sent");
    // A replayed frame may still wait to be sent once more.
    this.retained.release(received, this.outbox.isEmpty);
  }

  #queue(bytes: Uint8Array): void {
    if (this.#state.link === null) return;
    this.outbox.add(bytes);
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
