import type { Clock, SetTimer } from "../../shared/clock.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { serveExchange } from "../../shared/http/exchange.ts";
import { type PhoneTraits, readPhoneTraits } from "../../shared/http/phone-traits.ts";
import * as limits from "../../shared/limits.ts";
import type { Attachment, CarriedPlace, Defer } from "../../shared/mux/pipe/channel.ts";
import { adoptChannel, confirmRetirement, resumeChannel } from "../../shared/mux/session/channel-set.ts";
import { Session, type SessionHandler, type SessionSnapshot, snapshotOf } from "../../shared/mux/session/session.ts";
import { CLOSED_NORMALLY } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import {
  type ChannelFrame,
  concat,
  decodeMessage,
  encodeFrame,
  encodePadding,
  isHello,
} from "../../shared/wire/frame.ts";
import { type AskOrigin, type PhoneParts, SessionDelivery } from "../delivery/session-delivery.ts";

/**
 * Count of the bytes handed to a socket that its phone has proved to have read. Credit and acknowledgements prove nothing: a
 * hostile phone gives both for what it leaves in its connection, and then it piles up here, where workerd does not say
 * how much it has queued. So from time to time a PING goes along whose token only a phone that reads it can know (PROTOCOL.md
 * section 3.9): its PONG proves all that went before.
 */
export class ArrivalProof {
  /**
   * Bytes that were handed to the socket so far, that are proved to have arrived, and that went before the last PING.
   */
  #sent: number;
  #proved = 0;
  #pinged = 0;
  /** Bytes that went before each PING that is not answered, by the PING's token, oldest first. */
  #pings = new Map<number, number>();

  /** @param unproved bytes that were not proved when the edge forgot everything else: it asks for proof anew. */
  constructor(unproved = 0) {
    this.#sent = unproved;
  }

  get unproved(): number {
    return this.#sent - this.#proved;
  }

  /** @returns what is to be sent in place of a message. */
  mark(message: Uint8Array): Uint8Array {
    const isDue = this.#sent - this.#pinged >= limits.proofStepBytes && !isHello(message);
    // In front: of several PINGs in a message a phone may answer the last only, and others measure the link.
    const marked = isDue ? concat(this.#ping(), message) : message;
    this.#sent += marked.length;
    return marked;
  }

  /** @returns false when the token is none of its own. */
  pong(token: number): boolean {
    const proved = this.#pings.get(token);
    if (proved === undefined) return false;
    this.#proved = proved;
    for (const [earlier, bytes] of this.#pings) if (bytes <= proved) this.#pings.delete(earlier);
    return true;
  }

  #ping(): Uint8Array {
    const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
    // 2^52 and above, below 2^53: all are integers of eight bytes, and far from those that are counted up.
    const token = 2 ** 52 + (high % 2 ** 20) * 2 ** 32 + low;
    this.#pinged = this.#sent;
    this.#pings.set(token, this.#sent);
    return encodeFrame({ type: "ping", token });
  }
}

/**
 * The proofs of all sockets of a phone, until the sockets end: one that was given up still holds what is queued on it.
 */
export class PhoneProofs {
  #proofs = new Map<Transport, ArrivalProof>();

  /** Bytes that may be queued for the phone. */
  get unproved(): number {
    let sum = 0;
    for (const proof of this.#proofs.values()) sum += proof.unproved;
    return sum;
  }

  of(transport: Transport): ArrivalProof {
    const known = this.#proofs.get(transport);
    if (known !== undefined) return known;
    return this.adopt(transport, 0);
  }

  /** For a socket that outlived the edge's memory of what was sent on it. */
  adopt(transport: Transport, unproved: number): ArrivalProof {
    const proof = new ArrivalProof(unproved);
    this.#proofs.set(transport, proof);
    return proof;
  }

  /** The socket has ended. */
  delete(transport: Transport): void {
    this.#proofs.delete(transport);
  }
}

/** How a HELLO of a channel on the first one's socket is refused (PROTOCOL.md section 4.5). */
function misplacedHello(): RopewayError {
  const message = "Cannot take a channel over: its HELLO names another channel";
  return new RopewayError(ErrorCode.PROTOCOL_ERROR, "session", "peer", message);
}

function tooManyHellos(): RopewayError {
  const message = `Cannot carry channels more than ${limits.carriedHellos} times on a link: open another`;
  return new RopewayError(ErrorCode.ENHANCE_YOUR_CALM, "session", "peer", message);
}

/** A stream that is reset makes room at once, and its request ends a little later: that costs no more than this. */
const MOST_ANSWERING = 2 * limits.concurrentStreams;

function tooManyAnswering(): RopewayError {
  const message = `Cannot begin a request: ${MOST_ANSWERING} others have no answer yet; ask again later`;
  return new RopewayError(ErrorCode.REFUSED_STREAM, "stream", "peer", message);
}

// Snapshots outlive the memory of a session, kept with its hibernated sockets.

/** Bytes: Cloudflare's limit on what a hibernated socket may carry. */
export const ATTACHMENT_BYTES = 16_384;

/** Where a hibernated socket's session goes on. Plain data; each fits ATTACHMENT_BYTES. */
export type ConnectionSnapshot = FirstSnapshot | FurtherSnapshot;

/** Snapshot of the socket that carries channel 0. */
export interface FirstSnapshot {
  readonly sessionId: Uint8Array;
  readonly constants: PhoneTraits;
  readonly isRepeat: boolean;
  /** Without its further channels. */
  readonly session: SessionSnapshot;
  /** Number of the newest link of each channel, -1 where there was none. */
  readonly links: readonly number[];
  /** When the phone was last heard. */
  readonly heardAt: number;
  /** Bytes sent on the socket that are not known to have been read. */
  readonly unproved?: number;
}

/** Snapshot of a socket that carries another channel. */
interface FurtherSnapshot {
  readonly sessionId: Uint8Array;
  readonly unproved?: number;
  readonly further: SessionSnapshot["more"][number];
}

/** Milliseconds without a message: round trips of nearly all links, after which nothing is under way. */
const REST_TIME = 1_000;
/** Milliseconds: what comes later is no part of the page. */
const PAGE_TIME = 5_000;
/** With the headers of WebSocket and TLS it fills a segment of 1,460 bytes, which is the longest on Ethernet. */
export const FILLED_BYTES = 1_436;

/**
 * A connection that rested, as while a person reads, and is about to carry a page. BBR (draft-cardwell-iccrg-bbr-
 * congestion-control, section 4.3.4.4, and Linux since 4.9) measures its round trip anew every ten seconds, with four
 * segments under way for a round trip. It does not after a rest, if what comes first measures the round trip. The
 * acknowledgement of a single short segment does not, since the other side may have delayed it. So on a link of 600 ms
 * a page whose head comes first and alone is 600 ms late. Therefore the first message is filled up to a segment.
 */
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

/** A socket, and how the channel sees it. */
export interface ServedLink {
  readonly transport: Transport;
  readonly observed: Transport;
  readonly rested: RestedConnection;
  /** Null where it goes over the first channel's socket. */
  readonly proof: ArrivalProof | null;
  /** The number of its HELLO where it goes over the first channel's socket, else null. */
  readonly carriedAs: number | null;
  /** Attachment to the session; null until it has been attached. */
  attachment: Attachment | null;
  /** Whether its first message has come. */
  isHeard: boolean;
  /** Whether the last that `onSnapshot` was told of it is a snapshot. */
  hasSnapshot: boolean;
}

/** A socket of a session, from its HELLO to its close. A socket that was replaced may still deliver: that is ignored. */
export interface ServedConnection {
  receive(message: Uint8Array): void;
  /** A keep-alive came that the runtime has not answered by itself. */
  keptAlive(): void;
  /** The phone asked for the end of the link. */
  finish(): void;
  /** @param isOrderly the peer confirmed the close. */
  closed(isOrderly: boolean): void;
}

type ChannelState =
  | { readonly kind: "idle" }
  | { readonly kind: "linked"; readonly link: ServedLink }
  | { readonly kind: "lost" }
  | { readonly kind: "finishing"; readonly link: ServedLink; readonly isAwaited: boolean };

/**
 * A channel of a session at the edge. `take` leads from any state to `linked`:
 *
 *     idle ◂── unlink ── linked ── finish ──▸ finishing   the phone asked for its end; the socket is being closed
 *       │                                        │
 *       └──── expect ──▸ lost ◂── unlink ────────┘        without a socket, the phone is waited for
 *       ┌──── giveUp ─────┘
 *       ▾
 *     idle
 *
 * While it is `finishing` the phone is waited for too, until it confirms the end or is given up.
 */
export class ServedChannel {
  readonly index: number;
  #state: ChannelState = { kind: "idle" };
  /** Number of the newest link, also of a retired channel; -1 before the first. What comes later of an older one is of no use. */
  #newest: number;
  /**
   * Number of the newest link on which more than its first message came, or -1: what the phone says first may be under way
   * on two roads, and it says more only on the one that it has chosen.
   */
  #chosen = -1;

  constructor(index: number, newest = -1) {
    this.index = index;
    this.#newest = newest;
  }

  get newest(): number {
    return this.#newest;
  }

  get link(): ServedLink | null {
    return "link" in this.#state ? this.#state.link : null;
  }

  get isFinishing(): boolean {
    return this.#state.kind === "finishing";
  }

  /** Whether it has no socket that works, and the phone is waited for. */
  get isAwaited(): boolean {
    return this.#state.kind === "lost" || (this.#state.kind === "finishing" && this.#state.isAwaited);
  }

  isOvertaken(linkNumber: number): boolean {
    return linkNumber < this.#newest || linkNumber <= this.#chosen;
  }

  take(link: ServedLink, linkNumber: number): void {
    this.#newest = linkNumber;
    this.#state = { kind: "linked", link };
  }

  /** A message came on its link. */
  heard(): void {
    if (this.link === null) throw new Error("Cannot take a message: the channel has no link");
    if (this.link.isHeard) this.#chosen = this.#newest;
    this.link.isHeard = true;
  }

  /** The phone asked for its end. */
  finish(): void {
    if (this.#state.kind !== "linked") throw new Error("Cannot finish a channel: it has no link");
    this.#state = { kind: "finishing", link: this.#state.link, isAwaited: false };
  }

  /** Its socket has closed. */
  unlink(): void {
    this.#state = { kind: this.#state.kind === "finishing" && this.#state.isAwaited ? "lost" : "idle" };
  }

  /** The session's channel was on the socket that is gone, or is going. */
  expect(): void {
    this.#state = this.#state.kind === "finishing" ? { ...this.#state, isAwaited: true } : { kind: "lost" };
  }

  /** The phone is waited for no more. */
  giveUp(): void {
    if (this.#state.kind === "lost") this.#state = { kind: "idle" };
    else if (this.#state.kind === "finishing") this.#state = { ...this.#state, isAwaited: false };
  }
}

type State = { readonly kind: "off" | "over" } | { readonly kind: "on"; readonly cancel: () => void };

/** How long something is kept for the phone while nothing else is: after `time` ms in a row it is over. */
export class Vigil {
  #state: State = { kind: "off" };
  #setTimer: SetTimer;
  #time: number;
  #onOver: () => void;

  constructor(setTimer: SetTimer, time: number, onOver: () => void) {
    this.#setTimer = setTimer;
    this.#time = time;
    this.#onOver = onOver;
  }

  get isOver(): boolean {
    return this.#state.kind === "over";
  }

  keep(isNeeded: boolean): void {
    if (!isNeeded) {
      if (this.#state.kind === "on") this.#state.cancel();
      this.#state = { kind: "off" };
    } else if (this.#state.kind === "off") {
      const cancel = this.#setTimer(() => {
        this.#state = { kind: "over" };
        this.#onOver();
      }, this.#time);
      this.#state = { kind: "on", cancel };
    }
  }
}

/** Its clock counts milliseconds since the epoch. */
export interface ServedSessionOptions extends Clock, Partial<PhoneParts> {
  /** Answers a request of the phone. */
  readonly handle: AskOrigin;
  /**
   * Snapshot that a session restored on this socket goes on from; null once an exchange is under way, since those are not
   * restored. Whoever keeps snapshots must forget the former one at once: it no longer is what the phone has.
   */
  readonly onSnapshot?: (transport: Transport, snapshot: ConnectionSnapshot | null) => void;
  /** When the runtime last answered a keep-alive of that socket by itself; null where it never has. */
  readonly keptAliveAt?: (transport: Transport) => number | null;
  /** Frames of a session in quick succession go out in one message, not with each turn. */
  readonly gathers?: boolean;
}

/** A session at the edge: its sockets, its exchanges, and its part that survives hibernation. Runtime neutral. */
export class ServedSession {
  readonly session: Session;
  #options: ServedSessionOptions;
  #constants: PhoneTraits;
  /** Whether an edge that has forgotten the session may have acted on requests of it. Over once the phone acknowledges. */
  #isRepeat: boolean;
  #delivery: SessionDelivery;
  /** Channels by number. */
  #channels: readonly ServedChannel[];
  #proofs: PhoneProofs;
  /** HELLOs of carried channels on the first one's present socket. */
  #carriedHellos = 0;
  #saveScheduled = false;
  #cancelLinger: (() => void) | null = null;
  /** All exchanges are over, but the phone has not acknowledged all frames: it may have to get them again. */
  #vigil: Vigil;
  #wasBusy = false;
  /** Requests without an answer yet, those that the phone has given up among them. */
  #answering = 0;
  #heardAt: number;
  #onChanged: () => void;
  #onSent: (bytes: number) => void;

  constructor(
    {
      sessionId,
      snapshot,
      isRepeat,
    }: {
      readonly sessionId: Uint8Array;
      readonly snapshot: FirstSnapshot | null;
      readonly isRepeat: boolean;
    },
    options: ServedSessionOptions,
    parent: { ended: () => void; changed: () => void; sent: (bytes: number) => void; proofs: PhoneProofs },
  ) {
    this.#options = options;
    this.#proofs = parent.proofs;
    this.#onSent = parent.sent;
    this.#onChanged = parent.changed;
    this.#constants = snapshot?.constants ?? readPhoneTraits([]);
    this.#isRepeat = isRepeat;
    this.#heardAt = snapshot?.heardAt ?? options.now();
    this.#channels = Array.from({ length: limits.channels }, (_, i) => new ServedChannel(i, snapshot?.links[i]));
    this.#vigil = new Vigil(options.setTimer, limits.sessionLinger, () => this.#scheduleSave());
    this.#delivery = new SessionDelivery({
      ...options,
      openPush: (priority) => this.session.streams.openPush(priority),
      phone: () => this.#constants,
      isRepeat: () => this.#isRepeat,
    });
    this.session = new Session({
      role: "edge",
      sessionId,
      ...(options.gathers ? { defer: gathering(options.setTimer) } : {}),
      ...(snapshot ? { snapshot: snapshot.session } : {}),
      takesData: () => this.#takesData(),
      handler: this.#handler(parent.ended),
    });
  }

  /** Events of the session. */
  #handler(onEnded: () => void): SessionHandler {
    return {
      onStream: (stream) =>
        serveExchange(stream, async (request) => {
          if (this.#answering >= MOST_ANSWERING) throw tooManyAnswering();
          if (request.head.destination === "document") this.#expectPage();
          this.#answering += 1;
          try {
            return await this.#delivery.answer(request, stream);
          } finally {
            this.#answering -= 1;
          }
        }),
      onSessionHead: (fields) => {
        this.#constants = readPhoneTraits(fields);
      },
      onCarried: (from, message) => this.#receiveCarried(from, message),
      onAcknowledged: () => {
        this.#isRepeat = false;
      },
      onPong: (token) => {
        for (const { proof } of this.#links) proof?.pong(token);
      },
      onStreamsChanged: () => {
        this.#onChanged();
        this.#delivery.streamsChanged();
        this.#scheduleSave();
      },
      onEnd: () => {
        this.#cancelLinger?.();
        this.#vigil.keep(false);
        for (const channel of this.#channels) channel.giveUp();
        onEnded();
      },
    };
  }

  /** Whether anything would be lost with the memory of the session. */
  get isBusy(): boolean {
    const { channels, streams } = this.session;
    const hasStrays = channels.all.some((channel) => channel.hasStrays);
    const isKept = channels.isUnacknowledged && !this.#vigil.isOver;
    // The state of a carried channel is kept with no socket, so it would be lost.
    return streams.count > 0 || hasStrays || isKept || this.#isCarrying || (this.#isAttached && this.#isAwaiting);
  }

  /** When the phone was last heard, on any of its sockets. */
  get heardAt(): number {
    const { keptAliveAt } = this.#options;
    return Math.max(this.#heardAt, ...this.#links.map(({ transport }) => keptAliveAt?.(transport) ?? 0));
  }

  /**
   * @throws RopewayError LINK_LOST when the phone cannot go on where it was; the session has ended then.
   */
  attach(transport: Transport, hello: ChannelFrame & { type: "hello" }, isCarried = false): ServedConnection {
    const index = hello.channel ?? 0;
    // The session refuses a number that is no channel's.
    const channel = this.#channels[index] ?? new ServedChannel(index);
    const link = this.#observe(transport, this.#options.now(), isCarried ? hello.link : null);
    if (channel.isOvertaken(hello.link)) {
      transport.close(CLOSED_NORMALLY, "replaced");
      return this.#connection(channel, link);
    }
    try {
      link.attachment = resumeChannel(this.session.channels, link.observed, hello, isCarried);
    } catch (error) {
      this.end();
      throw error;
    }
    this.#take(channel, link, hello.link);
    return this.#connection(channel, link);
  }

  /** A socket that outlived the memory of the session it carries. */
  adopt(transport: Transport, index: number): ServedConnection {
    const channel = this.#channels[index] ?? new ServedChannel(index);
    const link = this.#observe(transport, Number.NEGATIVE_INFINITY);
    link.hasSnapshot = true;
    link.isHeard = true;
    link.attachment = adoptChannel(this.session.channels, index, link.observed);
    this.#take(channel, link, channel.newest);
    return this.#connection(channel, link);
  }

  #connection(channel: ServedChannel, link: ServedLink): ServedConnection {
    const whileCurrent = (task: () => void): void => {
      if (channel.link === link) task();
    };
    return {
      receive: (message) => whileCurrent(() => this.#receive(channel, link, message)),
      keptAlive: () => {
        this.#heardAt = this.#options.now();
      },
      finish: () => whileCurrent(() => this.#finish(channel, link)),
      closed: (isOrderly) => whileCurrent(() => this.#closed(channel, link, isOrderly)),
    };
  }

  #receive(channel: ServedChannel, { attachment }: ServedLink, message: Uint8Array): void {
    this.#heardAt = this.#options.now();
    channel.heard();
    attachment?.receive(message);
    this.#save();
  }

  #finish(channel: ServedChannel, link: ServedLink): void {
    // The first channel is never retired.
    if (channel.isFinishing || channel.index === 0) return;
    this.session.channels.beginRetirement(channel.index);
    channel.finish();
    this.#loosen(channel, link);
    link.transport.close(CLOSED_NORMALLY, "");
  }

  #closed(channel: ServedChannel, link: ServedLink, isOrderly: boolean): void {
    const { index, isFinishing } = channel;
    channel.unlink();
    if (index === 0) this.#dropCarried();
    if (!isFinishing) return this.#loosen(channel, link);
    if (!isOrderly || !confirmRetirement(this.session, index)) return;
    channel.giveUp();
    this.#stopLinger();
    this.#onChanged();
    this.#scheduleSave();
  }

  end(): void {
    this.session.end(new RopewayError(ErrorCode.LINK_LOST, "session", "peer", "The phone did not come back"));
  }

  #takesData(): boolean {
    // A frame that waits for the end of a turn, which may be all that credit allows, counts only when it is sent. So it is sent
    // first.
    if (this.#unproved + limits.sessionCreditBytes >= limits.unprovedBytes) this.session.channels.flush();
    return this.#unproved < limits.unprovedBytes;
  }

  /** Bytes that are on the way to the phone, for all that it has proved. */
  get #unproved(): number {
    let sum = 0;
    for (const { proof } of this.#links) sum += proof?.unproved ?? 0;
    return sum;
  }

  get #links(): ServedLink[] {
    return this.#channels.flatMap(({ link }) => link ?? []);
  }

  /** A channel is without a socket from now on. */
  #loosen(channel: ServedChannel, link: ServedLink): void {
    if (!link.attachment?.detach()) return;
    if (link.hasSnapshot) this.#options.onSnapshot?.(link.transport, null);
    link.hasSnapshot = false;
    channel.expect();
    this.#cancelLinger?.();
    this.#cancelLinger = this.#options.setTimer(() => this.#giveUp(), limits.sessionLinger);
    this.#onChanged();
    this.#scheduleSave();
  }

  #take(channel: ServedChannel, link: ServedLink, linkNumber: number): void {
    if (channel.index === 0) {
      this.#dropCarried();
      this.#carriedHellos = 0;
    }
    const replaced = channel.link;
    channel.take(link, linkNumber);
    this.#stopLinger();
    if (replaced?.hasSnapshot) this.#options.onSnapshot?.(replaced.transport, null);
    this.#onChanged();
  }

  /** The phone has put a channel that lost its socket on the first one's. */
  #receiveCarried(from: CarriedPlace, message: Uint8Array): void {
    const [first] = decodeMessage(message);
    if (first?.type === "hello") {
      if (first.channel !== from.channel || first.link !== from.link) throw misplacedHello();
      // Each HELLO makes the edge send again all that it keeps of the channel.
      this.#carriedHellos += 1;
      if (this.#carriedHellos > limits.carriedHellos) throw tooManyHellos();
      this.attach(this.session.channel.carrier(from), first, true);
    }
    const link = this.#channels[from.channel]?.link;
    if (link?.carriedAs === from.link) link.attachment?.receive(message, false);
  }

  /** Whether channels go over the first one's socket. */
  get #isCarrying(): boolean {
    return this.#links.some(({ carriedAs }) => carriedAs !== null);
  }

  /** The socket that carried them is gone. */
  #dropCarried(): void {
    for (const channel of this.#channels) {
      const { link } = channel;
      if (link !== null && link.carriedAs !== null) this.#closed(channel, link, false);
    }
  }

  get #isAttached(): boolean {
    return this.session.channels.attachedCount > 0;
  }

  /** Whether any channel lost its socket, and is waited for. */
  get #isAwaiting(): boolean {
    return this.#channels.some(({ isAwaited }) => isAwaited);
  }

  #stopLinger(): void {
    if (this.#isAwaiting) return;
    this.#cancelLinger?.();
    this.#cancelLinger = null;
  }

  /** The phone did not come back for some channels. Without the first no session is restored. */
  #giveUp(): void {
    if (!this.#isAttached || this.#channels[0]?.isAwaited) return this.end();
    for (const channel of this.#channels) channel.giveUp();
    this.#onChanged();
    this.#scheduleSave();
  }

  /**
   * All that a snapshot holds changes with a message received or sent, so both lead to a save.
   *
   * @param usedAt when something was last sent on it.
   */
  #observe(transport: Transport, usedAt: number, carriedAs: number | null = null): ServedLink {
    const rested = new RestedConnection(usedAt);
    // A carried channel counts on the socket that carries it.
    const proof = carriedAs === null ? this.#proofs.of(transport) : null;
    const observed: Transport = {
      send: (message) => {
        this.#scheduleSave();
        const filled = rested.fill(message, this.#options.now());
        const isTaken = transport.send(proof?.mark(filled) ?? filled);
        if (proof !== null) this.#onSent(message.length);
        return isTaken;
      },
      close: (code, reason) => transport.close(code, reason),
    };
    return { transport, observed, rested, proof, carriedAs, attachment: null, isHeard: false, hasSnapshot: false };
  }

  /** Much may follow, on all channels. On a link that is known to be slow, what fills a segment costs more than it saves. */
  #expectPage(): void {
    if (this.session.sender.credit < limits.filledLinkBytes) return;
    for (const { rested, carriedAs } of this.#links) {
      if (carriedAs === null) rested.expectPage(this.#options.now());
    }
  }

  /** Later, since a stream is closed before its last frame is handed to the channel. */
  #scheduleSave(): void {
    if (this.#saveScheduled) return;
    this.#saveScheduled = true;
    queueMicrotask(() => this.#save());
  }

  #save(): void {
    const { onSnapshot } = this.#options;
    const { session } = this;
    // A phone at rest acknowledges all; one that does not is gone, or does not mean to.
    const { channels, streams, ended } = session;
    this.#vigil.keep(streams.count === 0 && channels.isUnacknowledged && ended === null);
    if (this.isBusy !== this.#wasBusy) {
      this.#wasBusy = this.isBusy;
      this.#onChanged();
    }
    const isIdle = !this.isBusy && session.ended === null;
    // Frames that are still queued count as sent in the snapshot, so they must be on the socket first.
    if (isIdle && onSnapshot !== undefined) session.channels.flush();
    this.#saveScheduled = false;
    if (onSnapshot === undefined) return;
    const snapshot = isIdle ? snapshotOf(session) : null;
    for (const { index, link } of this.#channels) {
      if (link === null) continue;
      if (!isIdle && !link.hasSnapshot) continue;
      link.hasSnapshot = isIdle;
      onSnapshot(link.transport, snapshot && this.#snapshotOf(index, link, snapshot));
    }
  }

  #snapshotOf(index: number, { proof }: ServedLink, { more, ...first }: SessionSnapshot): ConnectionSnapshot | null {
    const { sessionId } = this.session.channel;
    if (index === 0) {
      return {
        sessionId,
        constants: this.#constants,
        isRepeat: this.#isRepeat,
        session: { ...first, more: [] },
        links: this.#channels.map(({ newest }) => newest),
        heardAt: this.#heardAt,
        unproved: proof?.unproved ?? 0,
      };
    }
    const further = more.find((channel) => channel.index === index);
    return further === undefined ? null : { sessionId, further, unproved: proof?.unproved ?? 0 };
  }
}

/** Milliseconds: frames of a session within it go in one message; each message costs a phone tasks in three processes. */
const GATHER_TIME = 3;

/** Runs a task at the end of the turn, and those that come within `time` milliseconds after it together at its end. */
export function gathering(setTimer: SetTimer, time = GATHER_TIME): Defer {
  let isResting = false;
  let waiting: (() => void)[] = [];
  const rest = (): void => {
    isResting = true;
    setTimer(() => {
      isResting = false;
      if (waiting.length === 0) return;
      const tasks = waiting;
      waiting = [];
      rest();
      for (const task of tasks) task();
    }, time);
  };
  return (task) => {
    if (isResting) {
      waiting.push(task);
      return;
    }
    queueMicrotask(task);
    rest();
  };
}
