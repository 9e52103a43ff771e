/** One session at the edge: its sockets, its exchanges, and what of it survives hibernation. Runtime neutral. */
import type { Clock } from "../../shared/clock.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { ACCEPT_PUSH, parseAcceptPush, type SlotScheme } from "../../shared/http/push.ts";
import { type RequestHandler, type ServerRequest, serveExchange } from "../../shared/http/server-exchange.ts";
import * as limits from "../../shared/limits.ts";
import type { CarriedPlace, Defer } from "../../shared/mux/pipe/channel-types.ts";
import { confirmRetirement, resumeChannel } from "../../shared/mux/pipe/edge-channels.ts";
import { Session, type SessionSnapshot } from "../../shared/mux/session/session.ts";
import { snapshotOf } from "../../shared/mux/session/session-snapshot.ts";
import { CLOSED_NORMALLY } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import { type AcceptTable, fieldsToAccept } from "../../shared/web/default-accept.ts";
import { type ChannelFrame, decodeMessage } from "../../shared/wire/frame.ts";
import type { DeliveredSnapshot } from "../delivery/push/delivered-resources.ts";
import { SessionDelivery } from "../delivery/session-delivery.ts";
import type { ArrivalProof, PhoneProofs } from "./arrival-proof.ts";
import { RestedConnection } from "./rested-connection.ts";

/** Bytes: Cloudflare's limit on what a hibernated socket may carry. */
export const ATTACHMENT_BYTES = 16_384;

/** What is constant for a session; sent once by the phone. */
export interface SessionConstants {
  readonly userAgent: string;
  readonly acceptLanguage: string;
  /** Where the phone takes pushes: scheme of the hosts that its pages are on. */
  readonly slotScheme?: SlotScheme;
  /** What its browser says of itself, as far as it was announced. */
  readonly accept?: AcceptTable;
}

/** Where a hibernated socket's session goes on. Plain data; each fits ATTACHMENT_BYTES. */
export type ConnectionSnapshot = FirstSnapshot | FurtherSnapshot;

/** Of the socket that carries channel 0. */
export interface FirstSnapshot {
  readonly sessionId: Uint8Array;
  readonly constants: SessionConstants;
  readonly isRepeat: boolean;
  /** Without its further channels. */
  readonly session: SessionSnapshot;
  /** Number of the newest link of each channel, -1 where there was none. */
  readonly links: readonly number[];
  readonly delivered: DeliveredSnapshot;
  /** When the phone was last heard. */
  readonly heardAt: number;
  /** Of what was sent on the socket, bytes that are not known to have been read. */
  readonly unproved?: number;
}

/** Of one that carries another. */
export interface FurtherSnapshot {
  readonly sessionId: Uint8Array;
  readonly unproved?: number;
  readonly further: SessionSnapshot["more"][number];
}

/** Its clock counts milliseconds since the epoch. */
export interface ServedSessionOptions extends Clock {
  /** Answers a request of the phone. */
  readonly handle: (request: ServerRequest, constants: SessionConstants) => ReturnType<RequestHandler>;
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

const DEFAULT_CONSTANTS: SessionConstants = { userAgent: "", acceptLanguage: "" };

export class ServedSession {
  readonly session: Session;
  #options: ServedSessionOptions;
  #constants: SessionConstants;
  #isRepeat: boolean;
  #delivery: SessionDelivery;
  #links = new Map<Transport, Link>();
  #proofs: PhoneProofs;
  /** HELLOs of carried channels on the first one's present socket. */
  #carriedHellos = 0;
  #saveScheduled = false;
  #cancelLinger: (() => void) | null = null;
  /** All exchanges are over, but the phone has not acknowledged all frames: it may have to get them again. */
  #cancelVigil: (() => void) | null = null;
  #isVigilOver = false;
  #wasBusy = false;
  /** Channels that lost their socket, and are waited for. */
  #loose = new Set<number>();
  /** Number of the newest link of each channel, of retired ones too: what comes later of an older one is of no use. */
  #newest: number[];
  /**
   * Number of the newest link of each channel on which more than its first message came, -1 where none is known: what the
   * phone says first may be under way on two roads, and it says more only on the one that it has chosen.
   */
  #chosen = Array.from({ length: limits.channels }, () => -1);
  #heardAt: number;
  #onChanged: () => void;
  #onSent: () => void;

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
    parent: { ended: () => void; changed: () => void; sent: () => void; proofs: PhoneProofs },
  ) {
    this.#options = options;
    this.#proofs = parent.proofs;
    this.#onSent = parent.sent;
    this.#onChanged = parent.changed;
    this.#constants = snapshot?.constants ?? DEFAULT_CONSTANTS;
    this.#isRepeat = isRepeat;
    this.#heardAt = snapshot?.heardAt ?? options.now();
    this.#newest = snapshot ? [...snapshot.links] : Array.from({ length: limits.channels }, () => -1);
    this.#delivery = new SessionDelivery({
      openPush: (priority) => this.session.streams.openPush(priority),
      handle: (request) => this.#handle(request),
      slotScheme: () => this.#constants.slotScheme ?? null,
      accept: () => this.#constants.accept ?? {},
      now: options.now,
      setTimer: options.setTimer,
      snapshot: snapshot?.delivered,
    });
    this.session = new Session({
      role: "edge",
      sessionId,
      ...(options.createDefer ? { defer: options.createDefer() } : {}),
      ...(snapshot ? { snapshot: snapshot.session } : {}),
      takesData: () => this.#takesData(),
      handler: {
        onStream: (stream) =>
          serveExchange(stream, (request) => {
            if (request.head.destination === "document") this.#expectPage();
            return this.#delivery.answer(request, stream);
          }),
        onSessionHead: (fields) => {
          const field = (name: string): string => fields.find((line) => line[0] === name)?.[1].slice(0, 1024) ?? "";
          const slotScheme = parseAcceptPush(field(ACCEPT_PUSH));
          this.#constants = {
            userAgent: field("user-agent"),
            acceptLanguage: field("accept-language"),
            accept: fieldsToAccept(fields),
            ...(slotScheme === null ? {} : { slotScheme }),
          };
        },
        onCarried: (from, message) => this.#receiveCarried(from, message),
        onPong: (token) => {
          for (const { proof } of this.#links.values()) proof?.pong(token);
        },
        onStreamsChanged: () => {
          parent.changed();
          this.#delivery.streamsChanged();
          this.#scheduleSave();
        },
        onEnd: () => {
          this.#cancelLinger?.();
          this.#cancelVigil?.();
          this.#loose.clear();
          parent.ended();
        },
      },
    });
  }

  /** Whether anything would be lost if the memory of it were. */
  get isBusy(): boolean {
    const { channels, streams } = this.session;
    const hasStrays = channels.all.some((channel) => channel.hasStrays);
    const isKept = channels.totals.isUnacknowledged && !this.#isVigilOver;
    // What a carried channel comes to is kept with no socket.
    return (
      streams.count > 0 ||
      hasStrays ||
      isKept ||
      this.#carried.length > 0 ||
      (channels.choice.attached.length > 0 && this.#loose.size > 0)
    );
  }

  /** When the phone was last heard, on any of its sockets. */
  get heardAt(): number {
    const { keptAliveAt } = this.#options;
    return Math.max(this.#heardAt, ...[...this.#links.keys()].map((transport) => keptAliveAt?.(transport) ?? 0));
  }

  /**
   * @throws RopewayError LINK_LOST when the phone cannot go on where it was; the session has ended then.
   */
  attach(transport: Transport, hello: ChannelFrame & { type: "hello" }, isCarried = false): void {
    const link = this.#observe(transport, hello.channel ?? 0, this.#options.now(), isCarried ? hello.link : null);
    const { index } = link;
    const isOvertaken = hello.link < (this.#newest[index] ?? -1) || hello.link <= (this.#chosen[index] ?? -1);
    if (isOvertaken) return transport.close(CLOSED_NORMALLY, "replaced");
    try {
      resumeChannel(this.session.channels, link.observed, hello, isCarried);
    } catch (error) {
      this.end();
      throw error;
    }
    this.#newest[index] = hello.link;
    this.#take(link);
  }

  /** A socket that outlived the memory of the session it carries. */
  adopt(transport: Transport, index: number): void {
    const link = this.#observe(transport, index, Number.NEGATIVE_INFINITY);
    link.hasSnapshot = true;
    link.isHeard = true;
    this.session.channels.at(index).channel.adopt(link.observed);
    this.#take(link);
  }

  receive(transport: Transport, message: Uint8Array): void {
    const link = this.#links.get(transport);
    // A socket that was replaced may still deliver.
    if (link === undefined) return;
    this.#heardAt = this.#options.now();
    if (link.isHeard) this.#chosen[link.index] = this.#newest[link.index] ?? -1;
    link.isHeard = true;
    this.session.channels.receive(message, link.observed);
    this.#save();
  }

  /** A keep-alive came that the runtime has not answered by itself. */
  keptAlive(): void {
    this.#heardAt = this.#options.now();
  }

  finish(transport: Transport): void {
    const link = this.#links.get(transport);
    // The first channel is never retired.
    if (link === undefined || link.isFinishing || link.index === 0) return;
    link.isFinishing = true;
    this.session.channels.beginRetirement(link.index);
    this.#loosen(link);
    transport.close(CLOSED_NORMALLY, "");
  }

  detach(transport: Transport, isOrderly: boolean): void {
    const link = this.#links.get(transport);
    if (link === undefined) return;
    this.#links.delete(transport);
    if (link.index === 0) this.#dropCarried();
    if (!link.isFinishing) return this.#loosen(link);
    if (!isOrderly || link.index === 0 || !confirmRetirement(this.session, link.index)) return;
    this.#waitNoMoreFor(link.index);
    this.#onChanged();
    this.#scheduleSave();
  }

  end(): void {
    this.session.end(new RopewayError(ErrorCode.LINK_LOST, "session", "peer", "The phone did not come back"));
  }

  #takesData(): boolean {
    // What is put together for the end of a turn, which may be all that credit allows, counts once it is sent.
    if (this.#unproved + limits.sessionCreditBytes >= limits.unprovedBytes) this.session.channels.flush();
    return this.#unproved < limits.unprovedBytes;
  }

  /** Bytes that are on the way to the phone, for all that it has proved. */
  get #unproved(): number {
    let sum = 0;
    for (const { proof } of this.#links.values()) sum += proof?.unproved ?? 0;
    return sum;
  }

  #handle(request: ServerRequest): ReturnType<RequestHandler> {
    const { head } = request;
    if (!this.#isRepeat) return this.#options.handle(request, this.#constants);
    const delivery = { id: null, continuation: null, ...head.delivery, isRepeat: true };
    return this.#options.handle({ ...request, head: { ...head, delivery } }, this.#constants);
  }

  /** A channel is without a socket from now on. */
  #loosen(link: Link): void {
    if (!this.session.channels.detach(link.observed)) return;
    if (link.hasSnapshot) this.#options.onSnapshot?.(link.transport, null);
    link.hasSnapshot = false;
    this.#loose.add(link.index);
    this.#cancelLinger?.();
    this.#cancelLinger = this.#options.setTimer(() => this.#giveUp(), limits.sessionLinger);
    this.#onChanged();
    this.#scheduleSave();
  }

  #take(link: Link): void {
    if (link.index === 0) {
      this.#dropCarried();
      this.#carriedHellos = 0;
    }
    this.#waitNoMoreFor(link.index);
    for (const replaced of this.#links.values()) {
      if (replaced.index !== link.index) continue;
      this.#links.delete(replaced.transport);
      if (replaced.hasSnapshot) this.#options.onSnapshot?.(replaced.transport, null);
    }
    this.#links.set(link.transport, link);
    this.#onChanged();
  }

  /** The phone has put a channel that lost its socket on the first one's. */
  #receiveCarried(from: CarriedPlace, message: Uint8Array): void {
    const [first] = decodeMessage(message);
    if (first?.type === "hello") {
      if (first.channel !== from.channel || first.link !== from.link) throw misplacedHello();
      // Each makes all be sent again that is kept.
      this.#carriedHellos += 1;
      if (this.#carriedHellos > limits.carriedHellos) throw tooManyHellos();
      this.attach(this.session.channel.carrier(from), first, true);
    }
    const link = this.#carried.find(({ index, carriedAs }) => index === from.channel && carriedAs === from.link);
    if (link !== undefined) this.session.channels.receive(message, link.observed, false);
  }

  /** Channels that go over the first one's socket. */
  get #carried(): Link[] {
    return [...this.#links.values()].filter(({ carriedAs }) => carriedAs !== null);
  }

  /** The socket that carried them is gone. */
  #dropCarried(): void {
    for (const { transport } of this.#carried) this.detach(transport, false);
  }

  #waitNoMoreFor(index: number): void {
    this.#loose.delete(index);
    if (this.#loose.size > 0) return;
    this.#cancelLinger?.();
    this.#cancelLinger = null;
  }

  /** The phone did not come back for some channels. Without the first no session is restored. */
  #giveUp(): void {
    if (this.session.channels.choice.attached.length === 0 || this.#loose.has(0)) return this.end();
    this.#loose.clear();
    this.#onChanged();
    this.#scheduleSave();
  }

  /**
   * All that a snapshot holds changes with a message received or sent, so both lead to a save.
   *
   * @param usedAt when something was last sent on it.
   */
  #observe(transport: Transport, index: number, usedAt: number, carriedAs: number | null = null): Link {
    const rested = new RestedConnection(usedAt);
    // What is carried counts on the socket that carries it.
    const proof = carriedAs === null ? this.#proofs.of(transport) : null;
    const observed: Transport = {
      send: (message) => {
        this.#scheduleSave();
        const filled = rested.fill(message, this.#options.now());
        const isTaken = transport.send(proof?.mark(filled) ?? filled);
        if (proof !== null) this.#onSent();
        return isTaken;
      },
      close: (code, reason) => transport.close(code, reason),
    };
    const state = { isHeard: false, hasSnapshot: false, isFinishing: false };
    return { transport, observed, rested, proof, index, carriedAs, ...state };
  }

  /** Much may follow, on all channels. On a link that is known to be slow, what fills a segment costs more than it saves. */
  #expectPage(): void {
    if (this.session.sender.credit < limits.filledLinkBytes) return;
    for (const { rested, carriedAs } of this.#links.values()) {
      if (carriedAs === null) rested.expectPage(this.#options.now());
    }
  }

  /** Later, since a stream is closed before its last frame is handed to the channel. */
  #scheduleSave(): void {
    if (this.#saveScheduled) return;
    this.#saveScheduled = true;
    queueMicrotask(() => this.#save());
  }

  /** A phone at rest acknowledges all; one that does not is gone, or does not mean to. */
  #watchUnacknowledged(): void {
    const { channels, streams, ended } = this.session;
    if (streams.count > 0 || !channels.totals.isUnacknowledged || ended !== null) {
      this.#cancelVigil?.();
      this.#cancelVigil = null;
      this.#isVigilOver = false;
    } else if (!this.#isVigilOver) {
      this.#cancelVigil ??= this.#options.setTimer(() => {
        this.#cancelVigil = null;
        this.#isVigilOver = true;
        this.#scheduleSave();
      }, limits.sessionLinger);
    }
  }

  #save(): void {
    const { onSnapshot } = this.#options;
    const { session } = this;
    this.#watchUnacknowledged();
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
    for (const link of this.#links.values()) {
      if (!isIdle && !link.hasSnapshot) continue;
      link.hasSnapshot = isIdle;
      onSnapshot(link.transport, snapshot && this.#snapshotOf(link, snapshot));
    }
  }

  #snapshotOf({ index, proof }: Link, { more, ...first }: SessionSnapshot): ConnectionSnapshot | null {
    const { sessionId } = this.session.channel;
    if (index === 0) {
      return {
        sessionId,
        constants: this.#constants,
        isRepeat: this.#isRepeat,
        session: { ...first, more: [] },
        links: [...this.#newest],
        delivered: this.#delivery.snapshot(),
        heardAt: this.#heardAt,
        unproved: proof?.unproved ?? 0,
      };
    }
    const further = more.find((channel) => channel.index === index);
    return further === undefined ? null : { sessionId, further, unproved: proof?.unproved ?? 0 };
  }
}

function misplacedHello(): RopewayError {
  const message = "Cannot take a channel over: its HELLO names another channel";
  return new RopewayError(ErrorCode.PROTOCOL_ERROR, "session", "peer", message);
}

function tooManyHellos(): RopewayError {
  const message = `Cannot carry channels more than ${limits.carriedHellos} times on a link: open another`;
  return new RopewayError(ErrorCode.ENHANCE_YOUR_CALM, "session", "peer", message);
}

/** A socket, and how the channel sees it. */
interface Link {
  readonly transport: Transport;
  readonly observed: Transport;
  readonly rested: RestedConnection;
  /** Null where it goes over the first channel's socket. */
  readonly proof: ArrivalProof | null;
  /** Number of its channel. */
  readonly index: number;
  /** The number of its HELLO where it goes over the first channel's socket, else null. */
  readonly carriedAs: number | null;
  /** Whether its first message has come. */
  isHeard: boolean;
  /** Whether the last that `onSnapshot` was told of it is a snapshot. */
  hasSnapshot: boolean;
  /** Whether it is being closed because the phone asked for that. */
  isFinishing: boolean;
}
