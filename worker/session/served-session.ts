/** One session at the edge: its sockets, its exchanges, and what of it survives hibernation. Runtime neutral. */
import type { Clock } from "../../shared/clock.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { type ServerRequest, serveExchange } from "../../shared/http/server-exchange.ts";
import * as limits from "../../shared/limits.ts";
import type { CarriedPlace, Defer } from "../../shared/mux/pipe/channel.ts";
import { adoptChannel, confirmRetirement, resumeChannel } from "../../shared/mux/session/channel-set.ts";
import { Session, type SessionHandler, type SessionSnapshot, snapshotOf } from "../../shared/mux/session/session.ts";
import { CLOSED_NORMALLY } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import { type ChannelFrame, decodeMessage } from "../../shared/wire/frame.ts";
import { type AskOrigin, type PhoneParts, SessionDelivery } from "../delivery/session-delivery.ts";
import type { PhoneProofs } from "./arrival-proof.ts";
import { misplacedHello, tooManyHellos } from "./carried-hello.ts";
import {
  type ConnectionSnapshot,
  type FirstSnapshot,
  type SessionConstants,
  sessionConstants,
} from "./connection-snapshot.ts";
import { RestedConnection } from "./rested-connection.ts";
import { ServedChannel, type ServedConnection, type ServedLink } from "./served-channel.ts";
import { Vigil } from "./vigil.ts";

/** Its clock counts milliseconds since the epoch. */
export interface ServedSessionOptions extends Clock, Partial<PhoneParts> {
  /** Answers a request of the phone. */
  readonly handle: (request: ServerRequest, constants: SessionConstants) => ReturnType<AskOrigin>;
  /**
   * What a session restored on this socket goes on from; null once an exchange is under way, since those are not
   * restored. Whoever keeps snapshots must forget the former one at once: it no longer is what the phone has.
   */
  readonly onSnapshot?: (transport: Transport, snapshot: ConnectionSnapshot | null) => void;
  /** When the runtime last answered a keep-alive of that socket by itself; null where it never has. */
  readonly keptAliveAt?: (transport: Transport) => number | null;
  /** When a session's frames go out; at the end of the turn if it is left out. */
  readonly createDefer?: () => Defer;
}

export class ServedSession {
  readonly session: Session;
  #options: ServedSessionOptions;
  #constants: SessionConstants;
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
    this.#constants = snapshot?.constants ?? sessionConstants([]);
    this.#isRepeat = isRepeat;
    this.#heardAt = snapshot?.heardAt ?? options.now();
    this.#channels = Array.from({ length: limits.channels }, (_, i) => new ServedChannel(i, snapshot?.links[i]));
    this.#vigil = new Vigil(options.setTimer, limits.sessionLinger, () => this.#scheduleSave());
    this.#delivery = new SessionDelivery({
      ...options,
      openPush: (priority) => this.session.streams.openPush(priority),
      handle: (request) => this.#handle(request),
      phone: () => this.#constants,
      snapshot: snapshot?.delivered,
    });
    this.session = new Session({
      role: "edge",
      sessionId,
      ...(options.createDefer ? { defer: options.createDefer() } : {}),
      ...(snapshot ? { snapshot: snapshot.session } : {}),
      takesData: () => this.#takesData(),
      handler: this.#handler(parent.ended),
    });
  }

  /** What the session tells of itself. */
  #handler(onEnded: () => void): SessionHandler {
    return {
      onStream: (stream) =>
        serveExchange(stream, (request) => {
          if (request.head.destination === "document") this.#expectPage();
          return this.#delivery.answer(request, stream);
        }),
      onSessionHead: (fields) => {
        this.#constants = sessionConstants(fields);
      },
      onCarried: (from, message) => this.#receiveCarried(from, message),
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
    const isKept = channels.totals.isUnacknowledged && !this.#vigil.isOver;
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
    // What is no number of a channel is refused by the session.
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
    // What waits for the end of a turn, which may be all that credit allows, counts only when it is sent. So it is sent
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

  #handle(request: ServerRequest): ReturnType<AskOrigin> {
    const { head } = request;
    if (!this.#isRepeat) return this.#options.handle(request, this.#constants);
    const delivery = { id: null, continuation: null, ...head.delivery, isRepeat: true };
    return this.#options.handle({ ...request, head: { ...head, delivery } }, this.#constants);
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
    return this.session.channels.choice.attached.length > 0;
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
    // What is carried counts on the socket that carries it.
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
    this.#vigil.keep(streams.count === 0 && channels.totals.isUnacknowledged && ended === null);
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
        delivered: this.#delivery.snapshot(),
        heardAt: this.#heardAt,
        unproved: proof?.unproved ?? 0,
      };
    }
    const further = more.find((channel) => channel.index === index);
    return further === undefined ? null : { sessionId, further, unproved: proof?.unproved ?? 0 };
  }
}
