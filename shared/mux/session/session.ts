import { type Clock, monotonicClock, type SetTimer } from "../../clock.ts";
import { ErrorCode, RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { DEFAULT_PRIORITY, type EncodableField, type HeaderField, type Priority } from "../../wire/frame.ts";
import { CreditPool, initialStreamCredit, mostSessionCredit, pooledCredit, SendWindow } from "../credit/credit.ts";
import { SessionWindow } from "../credit/session-window.ts";
import type { CarriedPlace, Channel, Defer } from "../pipe/channel.ts";
import { SendQueue } from "../stream/send-queue.ts";
import { assertHeadFits, MuxStream, type StreamHost, type StreamKind, type StreamPlace } from "../stream/stream.ts";
import { ChannelSet, type ChannelsSnapshot, wantedChannels } from "./channel-set.ts";
import type { ChannelOwner, SessionChannel, StripeFrame } from "./session-channel.ts";

// Parts that a session is made from, and its events.

export interface SessionHandler {
  /** Edge: the phone opened a stream; its head follows at once. The callee sets `stream.handler`. */
  onStream?(stream: MuxStream): void;
  /**
   * Phone: the edge opened a stream for a push; the head of the request that it answers follows at once. The callee sets
   * `stream.handler`. Without it pushes are a violation of the protocol.
   */
  onPush?(stream: MuxStream): void;
  /** Edge: fields that hold for all requests of the session (a HEAD on stream 0). */
  onSessionHead?(fields: readonly HeaderField[]): void;
  /** The session is over; all streams have failed. Called once. */
  onEnd(error: RopewayError): void;
  /** A stream was opened or closed. */
  onStreamsChanged?(): void;
  onPong?(token: number): void;
  /**
   * The peer acknowledged frames on channel 0. All that an earlier link carried comes right behind HELLO, so what comes behind
   * this was first said after the peer had heard this side.
   */
  onAcknowledged?(): void;
  /** Edge: a message of a channel that the phone has put on the first one's link. May throw a RopewayError. */
  onCarried?(from: CarriedPlace, message: Uint8Array): void;
  /** A channel goes on after a reconnect. */
  onResumed?(): void;
}

/** An idle session as it outlives hibernation, its channel 0 first. Plain data, for structured clone. */
export interface SessionSnapshot extends ChannelsSnapshot, PeerSettingsSnapshot {
  readonly sendCredit: number;
  /** Credit that the peer has of us. */
  readonly grantedCredit: number;
}

/** The one hook of tests and the bench: what a session takes for granted, whatever is measured. Empty in the product. */
export interface Experiment {
  /** Bytes of credit that the peer has from the start. */
  readonly credit?: number;
  /** How many channels are worth having. */
  readonly channels?: number;
  /** Whether the phone names what it has learned that pages ask for; it does by default. */
  readonly namesLearned?: boolean;
  /** Whether the edge may push, if the person wants that; it may by default. */
  readonly takesPushes?: boolean;
  /** Whether the phone names bodies that it has stored, as references and dictionaries; it does by default. */
  readonly namesBodies?: boolean;
}

/** Its clock never goes back. */
export interface SessionOptions extends Partial<Clock> {
  readonly role: "phone" | "edge";
  readonly sessionId: Uint8Array;
  readonly handler: SessionHandler;
  readonly defer?: Defer;
  readonly snapshot?: SessionSnapshot;
  /** Whether the owner takes DATA now, besides what credit allows. Asked again after each message of the peer. */
  readonly takesData?: () => boolean;
  /** The credit that an earlier session on this link came to, instead of limits.initialSessionCreditBytes. */
  readonly initialCredit?: number;
  readonly experiment?: Experiment;
}

// The session as it outlives an edge's hibernation.

/** Only an idle session has a snapshot: open streams do not survive. */
export function snapshotOf({ channels, sender, receiver, peer }: Session): SessionSnapshot {
  // A channel that the phone has closed begins anew, if ever.
  const more = channels.choice.attached.filter((channel) => channel !== channels.first);
  return {
    ...channels.first.snapshot(),
    more: more.map((channel) => ({ index: channel.index, ...channel.snapshot() })),
    sendCredit: sender.credit,
    grantedCredit: receiver.window.outstanding,
    peerStreamCredit: peer.streamCredit,
    peerSessionCredit: peer.sessionCredit,
    peerConcurrentStreams: peer.concurrentStreams,
  };
}

/** Ids that are not here are ignored. */
const Setting = { INITIAL_STREAM_CREDIT: 1, CONCURRENT_STREAMS: 2, SESSION_CREDIT: 3 } as const;

/** For structured clone. */
interface PeerSettingsSnapshot {
  readonly peerStreamCredit: number;
  readonly peerSessionCredit: number;
  readonly peerConcurrentStreams: number;
}

/** By how much credit moves because of a setting, in bytes. */
interface CreditShift {
  readonly streams: number;
  readonly session: number;
}

/** The peer's limits, as its SETTINGS give them: PROTOCOL.md section 3.5. */
class PeerSettings {
  #streamCredit: number;
  #sessionCredit: number;
  #concurrentStreams: number;

  constructor(streamCredit: number, snapshot?: PeerSettingsSnapshot) {
    this.#streamCredit = snapshot?.peerStreamCredit ?? streamCredit;
    this.#sessionCredit = snapshot?.peerSessionCredit ?? limits.initialSessionCreditBytes;
    this.#concurrentStreams = snapshot?.peerConcurrentStreams ?? limits.concurrentStreams;
  }

  /** Bytes of credit that a fresh stream has. */
  get streamCredit(): number {
    return this.#streamCredit;
  }

  /** Credit that the session began with. */
  get sessionCredit(): number {
    return this.#sessionCredit;
  }

  get concurrentStreams(): number {
    return this.#concurrentStreams;
  }

  /** @throws RopewayError FLOW_CONTROL_ERROR of scope "session" for a credit that no window may have. */
  apply(id: number, value: number): CreditShift {
    const before = { streams: this.#streamCredit, session: this.#sessionCredit };
    if (id === Setting.INITIAL_STREAM_CREDIT) this.#streamCredit = credit(value);
    else if (id === Setting.SESSION_CREDIT) this.#sessionCredit = credit(value);
    else if (id === Setting.CONCURRENT_STREAMS) {
      this.#concurrentStreams = Math.max(1, Math.min(value, limits.concurrentStreams));
    }
    return { streams: this.#streamCredit - before.streams, session: this.#sessionCredit - before.session };
  }
}

function credit(value: number): number {
  if (value <= limits.creditBytes) return value;
  const message = "Cannot use an initial credit so large";
  throw new RopewayError(ErrorCode.FLOW_CONTROL_ERROR, "session", "peer", message);
}

/** The sending side of a session: bodies of all streams go out as credit allows, the most urgent first. */
class SessionSender {
  #queue = new SendQueue<MuxStream>();
  #window: SendWindow;
  #channels: ChannelSet;
  #mayStray: boolean;
  #takesData: () => boolean;
  #isPumping = false;
  #isStopped = false;

  /**
   * @param credit bytes that may be sent at first.
   * @param mayStray pieces of bodies may go on other channels than their stream's.
   * @param takesData as of SessionOptions.
   */
  constructor(channels: ChannelSet, credit: number, mayStray: boolean, takesData = () => true) {
    this.#channels = channels;
    this.#window = new SendWindow(credit, "session");
    this.#mayStray = mayStray;
    this.#takesData = takesData;
  }

  /** Bytes that may be sent now. */
  get credit(): number {
    return this.#window.available;
  }

  /** The peer gives credit in small parts, and messages are no longer than a part: it would only wait for their ends. */
  grant(bytes: number): void {
    this.#window.grant(bytes);
    this.#channels.batchBytes = bytes;
  }

  /** The peer changed what there was at first. */
  shift(bytes: number): void {
    this.#window.shift(bytes);
  }

  /** The stream has something to send. */
  wake(stream: MuxStream): void {
    this.#queue.add(stream);
    this.pump();
  }

  /** The stream may have something to send when `pump` is called next. */
  queue(stream: MuxStream): void {
    this.#queue.add(stream);
  }

  /** Its place among the others has changed. */
  requeue(stream: MuxStream): void {
    this.#queue.remove(stream);
    this.wake(stream);
  }

  remove(stream: MuxStream): void {
    this.#queue.remove(stream);
  }

  /** The session is over. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Sends what credit allows, most urgent first. */
  pump(): void {
    if (this.#isPumping || this.#isStopped) return;
    this.#isPumping = true;
    try {
      for (;;) {
        const available = this.#takesData() ? this.#window.available : 0;
        const stream = this.#queue.next((sender) => available > 0 && this.#carrierOf(sender) !== null);
        if (stream === undefined) return;
        this.#sendPiece(stream, available);
      }
    } finally {
      this.#isPumping = false;
    }
  }

  #sendPiece(stream: MuxStream, available: number): void {
    const home = this.#channels.of(stream);
    const carrier = this.#carrierOf(stream) ?? home;
    const room = Math.min(carrier.channel.outbox.batchBytes, available);
    const { bytes: payload, end, offset } = stream.takePiece(room, carrier !== home);
    this.#window.take(payload.length);
    const { id: streamId } = stream;
    carrier.channel.send(
      offset === null
        ? { type: "data", streamId, end, payload }
        : { type: "stripe", home: home.index, streamId, offset, end, payload },
    );
  }

  #carrierOf(stream: MuxStream): SessionChannel | null {
    return this.#channels.choice.forPiece(this.#channels.of(stream), this.#mayStray);
  }
}

/**
 * The receiving side of a session: counts what comes on all channels, gives credit for it on the channel that works, and
 * measures round trips along with frames that are sent anyway. PROTOCOL.md sections 4.6 and 6.
 */
class SessionReceiver {
  readonly window: SessionWindow;
  #channels: ChannelSet;

  constructor(channels: ChannelSet, window: SessionWindow) {
    this.#channels = channels;
    this.window = window;
  }

  /** Bytes that one stream may have unread, so that its credit does not hold back what the link carries. */
  get streamWindow(): number {
    return this.window.streamSize;
  }

  /** A piece of a stream that may be on another channel. */
  receivePiece(piece: StripeFrame): void {
    this.window.receive(piece.payload.length);
    const home = this.#channels.by(piece.home);
    // Pieces of a channel that was retired may still have been under way on others.
    if (home === undefined && piece.home < limits.channels) return this.consume(piece.payload.length);
    if (home === undefined) {
      const message = `Cannot take a piece: there is no channel ${piece.home}`;
      throw new RopewayError(ErrorCode.PROTOCOL_ERROR, "session", "peer", message);
    }
    home.receivePiece(piece);
  }

  /** Somebody has read what came, or nobody will. */
  consume(bytes: number): void {
    if (bytes === 0) return;
    this.window.consume(bytes);
    this.#giveCredit();
  }

  /** All frames of a message were handled. */
  messageEnd(from: SessionChannel): void {
    this.#channels.choice.heard(from);
    const ackBytes = Math.floor(this.window.size / ACKS_PER_WINDOW);
    this.#channels.ackBytes = Math.min(MOST_ACK_BYTES, Math.max(LEAST_ACK_BYTES, ackBytes));
    this.#giveCredit();
  }

  /** The channel has a fresh transport. */
  attached(channel: SessionChannel): void {
    // Where it came from another transport, its answer is lost with that.
    this.window.forgetPing(channel.index);
    if (this.#channels.choice.attached.length === 1) this.window.restart();
    else if (channel.channel.isNew) this.window.joined();
    this.strand();
  }

  detached(channel: SessionChannel): void {
    this.window.forgetPing(channel.index);
    this.strand();
  }

  /** Bytes on a channel that lost its link count as under way no more. Called whenever other channels than before can go on. */
  strand(): void {
    const part = this.#channels.choice.strandedPart;
    if (part !== null) this.window.strand(part);
  }

  /**
   * Pings along with a frame that is sent anyway, and on the other channels that bytes may be under way on: only when all
   * have answered it is clear what the edge had left to send.
   *
   * @param increment credit that goes with it.
   */
  measure(carrier: SessionChannel, increment = 0): void {
    if (!carrier.channel.attached) return;
    const others = this.#channels.choice.live.filter((other) => other !== carrier && other.streams.size > 0);
    const pinged = [carrier, ...others];
    const token = this.window.takePing(
      increment,
      pinged.map(({ index }) => index),
    );
    if (token !== null) for (const { channel } of pinged) channel.ping(token);
  }

  #giveCredit(): void {
    const channels = this.#channels.choice.attached.length;
    const increments = this.window.takeIncrements(Math.max(1, channels));
    if (increments.length === 0) return;
    const carrier = this.#channels.choice.forCredit;
    for (const increment of increments) carrier.channel.send({ type: "credit", streamId: 0, increment });
    const given = increments.reduce((sum, each) => sum + each, 0);
    this.measure(carrier, given);
  }
}

/** With several channels an acknowledgement goes out whenever this part of what may be under way has come... */
const ACKS_PER_WINDOW = 24;
/** ...and in no smaller ones, in bytes: three segments. */
const LEAST_ACK_BYTES = 4_200;
/** ...nor in larger ones, or the peer would not see what a channel carries. */
const MOST_ACK_BYTES = 16_384;

/** The parts of a session that its streams use. */
interface StreamsOwner {
  readonly role: "phone" | "edge";
  readonly handler: SessionHandler;
  readonly channels: ChannelSet;
  readonly sender: SessionSender;
  readonly receiver: SessionReceiver;
  readonly peer: PeerSettings;
  /** How many channels new exchanges go on. */
  readonly wantedChannels: number;
}

/**
 * An asker may have this many times as many streams as are left: at most three quarters of what others leave, and never all.
 * So a page that asks without end waits for itself, and the next asker finds room. Large pages have 100 to 200 under way.
 */
const MOST_OF_LEFT = 3;

/** The streams of a session: how many there are and may be, the order in which they came, and what they share. */
class SessionStreams implements StreamHost {
  /** Encoded bytes of request heads sent or received, frame headers included; for statistics. */
  readonly headBytes = { sent: 0, received: 0 };
  readonly creditPool: CreditPool;
  readonly unread = { pieces: 0 };
  readonly sender: SessionSender;
  readonly receiver: SessionReceiver;

  #owner: StreamsOwner;
  #onClosed: () => void;
  /** Streams that were opened here and have sent no head yet: the peer knows nothing of them. */
  #headless = new Set<MuxStream>();
  /** Streams whose head was sent or received. */
  #begun = { exchanges: 0, pushes: 0 };
  #made = { exchanges: 0, pushes: 0 };
  /** Open streams, by who asked for them. */
  readonly #held = new Map<string, Set<MuxStream>>();
  /** Waiters for a stream, by asker, in the order of asking. The asker that was not served for longest comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #ended: RopewayError | null = null;

  constructor(owner: StreamsOwner, onClosed: () => void) {
    this.#owner = owner;
    this.#onClosed = onClosed;
    this.sender = owner.sender;
    this.receiver = owner.receiver;
    this.creditPool = new CreditPool(pooledCredit(owner.role));
  }

  /** Streams that are open, pushes included. */
  get count(): number {
    return this.#begun.exchanges + this.#begun.pushes + this.#headless.size;
  }

  /** Phone: whether the peer takes one more. @param asker whose share of them it would be; "" for none. */
  hasRoom(asker = ""): boolean {
    const left = this.#owner.peer.concurrentStreams - this.#begun.exchanges - this.#headless.size;
    return left * MOST_OF_LEFT > (this.#held.get(asker)?.size ?? 0);
  }

  /**
   * Phone: a new stream. Resolves at once while the peer takes more streams, else when one ends.
   *
   * @param asker as of `hasRoom`.
   * @throws RopewayError of scope "session" when the session is over.
   */
  async open(priority: Priority = DEFAULT_PRIORITY, asker = ""): Promise<MuxStream> {
    while (this.#ended === null && !this.hasRoom(asker)) {
      const waiting = this.#waiting.get(asker) ?? [];
      this.#waiting.set(asker, waiting);
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    const stream = this.openNow(priority, asker);
    this.#wakeNext();
    return stream;
  }

  /** As `open`, for callers that know there is room. */
  openNow(priority: Priority = DEFAULT_PRIORITY, asker = ""): MuxStream {
    if (this.#ended !== null) throw this.#ended;
    const stream = this.#open("exchange", priority);
    if (asker !== "") this.#held.set(asker, (this.#held.get(asker) ?? new Set()).add(stream));
    return stream;
  }

  /** Edge: a stream for a push, or null while there are as many as there may be. Its first head is the request's. */
  openPush(priority: Priority): MuxStream | null {
    const isFull = this.#begun.pushes + this.#headless.size >= limits.concurrentPushes;
    if (this.#ended !== null || isFull) return null;
    return this.#open("push-sent", priority);
  }

  create(kind: StreamKind, priority: Priority, place: StreamPlace | null = null): MuxStream {
    return new MuxStream({ host: this, credit: this.#creditOf(kind), priority, kind, place });
  }

  /** Whether the peer may open one more. */
  hasRoomFor(kind: StreamKind): boolean {
    return kind === "exchange"
      ? this.#begun.exchanges < limits.concurrentStreams
      : this.#begun.pushes < limits.concurrentPushes;
  }

  /** The peer opened it; its head follows. */
  accepted(stream: MuxStream): void {
    const { handler } = this.#owner;
    this.#count(stream, 1);
    if (stream.isPush) handler.onPush?.(stream);
    else handler.onStream?.(stream);
    handler.onStreamsChanged?.();
  }

  /** One of the peer's SETTINGS. */
  setting(id: number, value: number): void {
    const { streams, session } = this.#owner.peer.apply(id, value);
    this.sender.shift(session);
    // The streams send at the end of the message, since one message may have many of these.
    if (streams !== 0)
      for (const stream of this.#owner.channels.streams()) if (!stream.isPush) stream.shiftCredit(streams);
    this.#wakeNext();
  }

  /** The session is over. */
  fail(error: RopewayError): void {
    this.#ended = error;
    for (const stream of [...this.#owner.channels.streams(), ...this.#headless]) stream.fail(error);
    for (const waiting of this.#waiting.values()) for (const resume of waiting) resume();
  }

  // StreamHost

  nextOrder(isPush: boolean): number {
    return isPush ? 2 * ++this.#made.pushes : 2 * this.#made.exchanges++ + 1;
  }

  begin(stream: MuxStream): StreamPlace {
    // The phone knows how many channels are worth having: pushes go on all that it has opened.
    const channel = this.#owner.channels.choice.forStream(stream.isPush ? limits.channels : this.#owner.wantedChannels);
    this.#headless.delete(stream);
    this.#count(stream, 1);
    return { id: channel.number(stream), carrier: channel };
  }

  closed(stream: MuxStream): void {
    const { channels, handler } = this.#owner;
    if (channels.of(stream).forget(stream)) this.#count(stream, -1);
    this.#headless.delete(stream);
    for (const [asker, held] of this.#held) if (held.delete(stream) && held.size === 0) this.#held.delete(asker);
    this.sender.remove(stream);
    this.#onClosed();
    this.#wakeNext();
    handler.onStreamsChanged?.();
  }

  #open(kind: StreamKind, priority: Priority): MuxStream {
    const stream = this.create(kind, priority);
    this.#headless.add(stream);
    return stream;
  }

  #creditOf(kind: StreamKind): { readonly send: number; readonly receive: number } {
    if (kind === "push-sent") return { send: limits.pushCreditBytes, receive: 0 };
    if (kind === "push-received") return { send: 0, receive: limits.pushCreditBytes };
    return { send: this.#owner.peer.streamCredit, receive: initialStreamCredit(this.#owner.role).receive };
  }

  #count(stream: MuxStream, change: 1 | -1): void {
    this.#begun[stream.isPush ? "pushes" : "exchanges"] += change;
  }

  /** The first waiter, which wakes the next if there is room for more: to wake all each time would cost the square of their number. */
  #wakeNext(): void {
    for (const [asker, waiting] of this.#waiting) {
      if (!this.hasRoom(asker)) continue;
      this.#waiting.delete(asker);
      const resume = waiting.shift();
      if (resume === undefined) continue;
      this.#waiting.set(asker, waiting);
      return resume();
    }
  }
}

/**
 * A session without streams. The edge keeps what is not acknowledged, and does not hibernate meanwhile: so the phone
 * acknowledges all once it is quiet. Nothing is to be sent for a while then, so no memory is kept for it: an edge has
 * thousands of sessions that rest.
 */
class SessionRest {
  #channels: ChannelSet;
  #streams: SessionStreams;
  /** Null on the edge, which acknowledges nothing by itself. */
  #setTimer: SetTimer | null;
  #cancel: (() => void) | null = null;

  constructor(channels: ChannelSet, streams: SessionStreams, setTimer: SetTimer | null) {
    this.#channels = channels;
    this.#streams = streams;
    this.#setTimer = setTimer;
  }

  /** To be called when a stream was closed, and after each message. */
  check(): void {
    if (this.#streams.count > 0) return;
    const channels = this.#channels;
    if (!channels.isUnacknowledged) for (const { channel } of channels.all) channel.retained.dropSpare();
    const isDue = channels.choice.attached.some(({ channel }) => channel.arrived.isUntold);
    if (!isDue || this.#setTimer === null || this.#cancel !== null) return;
    this.#cancel = this.#setTimer(() => {
      this.#cancel = null;
      if (this.#streams.count === 0) for (const { channel } of channels.choice.attached) channel.acknowledge();
    }, limits.restTime);
  }

  stop(): void {
    this.#setTimer = null;
    this.#cancel?.();
  }
}

/**
 * All streams of one phone over one channel or several: PROTOCOL.md sections 4.5, 5 and 6. Symmetric but for who opens
 * streams (the phone) and the limits on credit. Knows no HTTP: heads are field lists, bodies are bytes.
 *
 * A session puts its parts together and passes between them what happens on its channels. Frames, header tables and stream
 * ids are each channel's; a stream stays on the channel that its first head went on.
 */
export class Session implements ChannelOwner {
  /** May change at any time. */
  experiment: Experiment;
  readonly role: "phone" | "edge";
  readonly handler: SessionHandler;
  readonly channels: ChannelSet;
  readonly streams: SessionStreams;
  readonly sender: SessionSender;
  readonly receiver: SessionReceiver;
  readonly peer: PeerSettings;

  /** Round trip of the link in ms, guessed, as long as none was measured. */
  #roundTripGuess: number | null = null;
  #rest: SessionRest;
  #ended: RopewayError | null = null;

  constructor(options: SessionOptions) {
    const { role, handler, snapshot, now, setTimer } = { ...monotonicClock, ...options };
    this.role = role;
    this.handler = handler;
    this.experiment = options.experiment ?? {};
    this.peer = new PeerSettings(initialStreamCredit(role).send, snapshot);
    const initial = this.experiment.credit ?? options.initialCredit ?? limits.initialSessionCreditBytes;
    const window = new SessionWindow({
      initial,
      isFixed: this.experiment.credit !== undefined,
      ...mostSessionCredit(role),
      now,
      ...(snapshot ? { outstanding: snapshot.grantedCredit } : {}),
    });
    this.channels = new ChannelSet({ sessionId: options.sessionId, owner: this, defer: options.defer, snapshot });
    this.receiver = new SessionReceiver(this.channels, window);
    // The edge spreads what it sends over all channels that the phone has opened; an upload stays on its own.
    const credit = snapshot?.sendCredit ?? limits.initialSessionCreditBytes;
    this.sender = new SessionSender(this.channels, credit, role === "edge", options.takesData);
    this.streams = new SessionStreams(this, () => {
      if (this.streams.count === 0) window.rest();
      this.#rest.check();
    });
    this.#rest = new SessionRest(this.channels, this.streams, role === "phone" ? setTimer : null);
    if (snapshot === undefined) this.#set(initial);
  }

  /** The first channel, which is always there. */
  get channel(): Channel {
    return this.channels.first.channel;
  }

  get ended(): RopewayError | null {
    return this.#ended;
  }

  /** How many channels are worth having now. New streams go on no more than that; opening and closing their transports is the owner's. */
  get wantedChannels(): number {
    const { estimate } = this.receiver.window;
    return wantedChannels({
      ...estimate,
      fixed: this.experiment.channels ?? null,
      attached: this.channels.choice.attached.length,
      minRtt: estimate.minRtt ?? this.#roundTripGuess,
    });
  }

  /** @param time milliseconds, as opening the link lets one think. */
  guessRoundTrip(time: number): void {
    this.#roundTripGuess = time;
  }

  /**
   * Phone: fields that hold for all requests of the session, sent once before the first request.
   *
   * @throws RopewayError ENHANCE_YOUR_CALM of scope "stream" when they are above the limits on heads.
   */
  sendSessionHead(fields: readonly EncodableField[]): void {
    assertHeadFits(fields);
    this.channels.first.sendSessionHead(fields);
  }

  /** Ends the session and all its streams; tells the peer why. */
  end(error: RopewayError): void {
    this.channel.fail(error);
  }

  // ChannelOwner

  messageEnd(from: SessionChannel): void {
    this.receiver.messageEnd(from);
    this.sender.pump();
    this.#rest.check();
  }

  channelAttached(channel: SessionChannel): void {
    this.receiver.attached(channel);
    if (this.streams.count > 0) this.receiver.measure(channel);
    this.sender.pump();
  }

  channelGreeted(channel: SessionChannel): void {
    this.channels.greeted();
    this.receiver.strand();
    this.channels.choice.heard(channel);
    // How far the edge is decides how many channels are worth having: better known before there is much to fetch.
    if (this.role === "phone") this.receiver.measure(channel);
    this.handler.onResumed?.();
  }

  carried(from: CarriedPlace, message: Uint8Array): void {
    if (this.role === "edge") this.handler.onCarried?.(from, message);
    else this.channels.receiveCarried(from, message);
  }

  pong(from: SessionChannel, token: number): void {
    if (!this.receiver.window.pong(token, from.index)) this.handler.onPong?.(token);
  }

  acknowledged(from: SessionChannel): void {
    if (from.index === 0) this.handler.onAcknowledged?.();
  }

  failed(error: RopewayError): void {
    if (this.#ended !== null) return;
    this.#ended = error;
    this.#rest.stop();
    this.sender.stop();
    this.channels.fail(error);
    this.streams.fail(error);
    this.handler.onEnd(error);
  }

  /** Tells the peer what its credit is at first, where that is not what it takes it to be. */
  #set(sessionCredit: number): void {
    const entries: [number, number][] = [];
    if (this.role === "phone") entries.push([Setting.INITIAL_STREAM_CREDIT, limits.firstStreamCreditBytes]);
    if (sessionCredit !== limits.initialSessionCreditBytes) entries.push([Setting.SESSION_CREDIT, sessionCredit]);
    if (entries.length > 0) this.channel.send({ type: "settings", entries });
  }
}
