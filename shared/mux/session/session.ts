/**
 * All streams of one phone over one channel or several: PROTOCOL.md sections 4.5, 5 and 6. Symmetric but for who opens
 * streams (the phone) and the limits on credit. Knows no HTTP: heads are field lists, bodies are bytes.
 *
 * Credit, the number of streams and the order of sending are the session's; frames, header tables and stream ids are each
 * channel's. A stream stays on the channel that its first head went on. Its `channel` is the first, which begins it.
 */
import { ErrorCode, RopewayError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { Transport } from "../../transport.ts";
import { type ChannelFrame, DEFAULT_PRIORITY, type Priority } from "../../wire/frame.ts";
import type { EncodableField, HeaderField } from "../../wire/hpack/field.ts";
import { CreditPool } from "../credit/credit-pool.ts";
import { initialStreamCredit, mostSessionCredit, pooledCredit } from "../credit/initial-credit.ts";
import type { LinkEstimate } from "../credit/link-estimate.ts";
import { SessionWindow } from "../credit/session-window.ts";
import type { CarriedPlace, Channel } from "../pipe/channel.ts";
import { wantedChannels } from "../pipe/channel-policy.ts";
import { ChannelSet, type ChannelStatus, type Traffic } from "../pipe/channel-set.ts";
import { assertHeadFits } from "../stream/head-limits.ts";
import { MuxStream } from "../stream/stream.ts";
import { PeerSettings, Setting } from "./peer-settings.ts";
import type { ChannelOwner, SessionChannel, StripeFrame } from "./session-channel.ts";
import { SessionReceiver } from "./session-receiver.ts";
import { SessionSender } from "./session-sender.ts";
import type { SessionHandler, SessionOptions, SessionSnapshot } from "./session-types.ts";

export type { SessionHandler, SessionOptions, SessionSnapshot } from "./session-types.ts";

export class Session implements ChannelOwner {
  readonly role: "phone" | "edge";
  /** Encoded bytes of request heads sent or received, frame headers included; for statistics. */
  readonly headBytes = { sent: 0, received: 0, count: 0 };
  readonly creditPool: CreditPool;
  readonly unread = { pieces: 0 };

  #handler: SessionHandler;
  #fixedChannels: number | null;
  /** Of the link, in ms, as long as no better one is known. */
  #roundTripGuess: number | null = null;
  #channels: ChannelSet;
  /** Streams that were opened here and have sent no head yet: the peer knows nothing of them. */
  #headless = new Set<MuxStream>();
  /** Streams whose head was sent or received, pushes included. */
  #openStreams = 0;
  #exchangesMade = 0;
  #pushesMade = 0;
  #pushes = 0;
  #sender: SessionSender;
  #receiver: SessionReceiver;
  #peer: PeerSettings;
  #ended: RopewayError | null = null;
  #setTimer: (task: () => void, delay: number) => () => void;
  /** Phone: of the acknowledgement that goes out at rest. */
  #cancelRest: (() => void) | null = null;
  #waiting: (() => void)[] = [];

  constructor(options: SessionOptions) {
    const { role, snapshot } = options;
    this.role = role;
    this.creditPool = new CreditPool(pooledCredit(role));
    this.#handler = options.handler;
    this.#setTimer = options.setTimer ?? startTimer;
    this.#fixedChannels = options.fixedChannels ?? null;
    this.#peer = new PeerSettings(initialStreamCredit(role).send, snapshot);
    const initial = options.fixedCredit ?? options.initialCredit ?? limits.initialSessionCreditBytes;
    const window = new SessionWindow({
      initial,
      isFixed: options.fixedCredit !== undefined,
      ...mostSessionCredit(role),
      now: options.now ?? (() => performance.now()),
      ...(snapshot ? { outstanding: snapshot.grantedCredit } : {}),
    });
    this.#channels = new ChannelSet({ sessionId: options.sessionId, owner: this, defer: options.defer, snapshot });
    this.#receiver = new SessionReceiver(this.#channels, window);
    // The edge spreads what it sends over all channels that the phone has opened; an upload stays on its own.
    const credit = snapshot?.sendCredit ?? limits.initialSessionCreditBytes;
    this.#sender = new SessionSender(this.#channels, credit, role === "edge", options.takesData);
    if (snapshot === undefined) this.#set(initial);
  }

  /** The first channel, which is always there. */
  get channel(): Channel {
    return this.#channels.first.channel;
  }

  get openStreams(): number {
    return this.#openStreams + this.#headless.size;
  }

  get ended(): RopewayError | null {
    return this.#ended;
  }

  /** What was measured of the link towards this side, and how much this side lets be on its way. */
  get link(): LinkEstimate & { readonly window: number; readonly unread: number } {
    const { estimate, size, unread } = this.#receiver.window;
    return { ...estimate, window: size, unread };
  }

  /** Of all channels together. */
  get traffic(): Traffic {
    return this.#channels.traffic;
  }

  get channels(): readonly ChannelStatus[] {
    return this.#channels.status;
  }

  /** How many channels pay now. New streams go on no more than that; opening and closing their transports is the owner's. */
  get wantedChannels(): number {
    const { minRtt, rate, fullRate, stallShare } = this.#receiver.window.estimate;
    const attached = this.#channels.attached.length;
    return wantedChannels({
      fixed: this.#fixedChannels,
      attached,
      minRtt: minRtt ?? this.#roundTripGuess,
      rate,
      fullRate,
      stallShare,
    });
  }

  /** @param count for experiments; null to let the policy decide again. */
  fixChannels(count: number | null): void {
    this.#fixedChannels = count;
  }

  /** @param time milliseconds, as opening the link lets one think. */
  guessRoundTrip(time: number): void {
    this.#roundTripGuess = time;
  }

  /** See ChannelSet.beginRetirement. */
  beginRetirement(index: number): void {
    this.#channels.beginRetirement(index);
  }

  /** Edge: see ChannelSet.confirmRetirement. */
  confirmRetirement(index: number): boolean {
    const isForgotten = this.#channels.confirmRetirement(index);
    this.#receiver.strand();
    return isForgotten;
  }

  /** Phone: see ChannelSet.retire. */
  retire(index: number, isConfirmed: boolean): boolean {
    const isForgotten = this.#channels.retire(index, isConfirmed);
    this.#receiver.strand();
    return isForgotten;
  }

  /** Only an idle session has a snapshot: open streams do not survive hibernation. */
  snapshot(): SessionSnapshot {
    return {
      ...this.#channels.snapshot(),
      sendCredit: this.#sender.credit,
      grantedCredit: this.#receiver.window.outstanding,
      ...this.#peer.snapshot(),
    };
  }

  /**
   * Phone: a transport for the channel of that number, 0 to limits.channels - 1. All but channel 0 wait for the edge to
   * have been heard: until then it does not know the session that they belong to.
   */
  attach(index: number, transport: Transport): void {
    if (this.#ended === null) this.#channels.attach(index, transport);
  }

  /**
   * Edge: the same, given the phone's HELLO.
   *
   * @param isCarried the transport is a `carrier`.
   * @throws RopewayError LINK_LOST as Channel.resume.
   */
  resume(transport: Transport, hello: ChannelFrame & { type: "hello" }, isCarried = false): void {
    this.#channels.resume(transport, hello, isCarried);
  }

  /** As Channel.adopt. */
  adopt(index: number, transport: Transport): void {
    this.#channels.adopt(index, transport);
  }

  /** A transport for a channel over the first one's link, as long as that lasts. */
  carrier(place: CarriedPlace): Transport {
    return this.channel.carrier(place);
  }

  /** Phone: channels that have lost their transports go on over the first one's link, until others are attached. */
  carryStranded(): void {
    if (this.#ended === null) this.#channels.carryStranded();
  }

  /**
   * A message of the peer. One from a transport that is not attached (any more) is ignored.
   *
   * @param isCounted its bytes are not those of another channel's message already.
   */
  receive(message: Uint8Array, from: Transport, isCounted = true): void {
    this.#channels.on(from)?.receive(message, from, isCounted);
  }

  /** The transport is gone. @returns false when it carried no channel any more. */
  detach(transport: Transport): boolean {
    return this.#channels.detach(transport);
  }

  /** Body bytes that the peer takes now. */
  get credit(): number {
    return this.#sender.credit;
  }

  /** Bytes of frames that the peer has not acknowledged, on all channels. */
  get unacknowledgedBytes(): number {
    const kept = this.#channels.all.map(({ channel }) => channel.unacknowledged);
    return kept.reduce((sum, { frames, bytes }) => sum + bytes - frames * limits.retainedFrameBytes, 0);
  }

  /** Bytes of frames that the peer has acknowledged so far, each once, on all channels. */
  get acknowledgedBytes(): number {
    return this.#channels.acknowledgedBytes;
  }

  /** Whether frames are kept because the peer has not acknowledged them. */
  get isUnacknowledged(): boolean {
    return this.#channels.isUnacknowledged;
  }

  /** Whether pieces of bodies wait for heads that are under way. */
  get hasStrays(): boolean {
    return this.#channels.all.some(({ hasStrays }) => hasStrays);
  }

  /** Whether any channel has a transport. */
  get attached(): boolean {
    return this.#channels.attached.length > 0;
  }

  /** Sends everything queued on all channels now. */
  flush(): void {
    for (const { channel } of this.#channels.all) channel.flush();
  }

  /**
   * Phone: fields that hold for all requests of the session, sent once before the first request.
   *
   * @throws RopewayError ENHANCE_YOUR_CALM of scope "stream" when they are above the limits on heads.
   */
  sendSessionHead(fields: readonly EncodableField[]): void {
    assertHeadFits(fields);
    this.#channels.first.sendSessionHead(fields);
  }

  /**
   * Phone: a new stream. Resolves at once while the peer takes more streams, else when one ends.
   *
   * @throws RopewayError of scope "session" when the session is over.
   */
  async openStream(priority: Priority = DEFAULT_PRIORITY): Promise<MuxStream> {
    while (this.#ended === null && !this.hasRoom) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.openStreamNow(priority);
  }

  /** As openStream, for callers that know there is room. */
  openStreamNow(priority: Priority = DEFAULT_PRIORITY): MuxStream {
    if (this.#ended !== null) throw this.#ended;
    const stream = new MuxStream(0, this, this.streamCredit, priority);
    this.#headless.add(stream);
    return stream;
  }

  get hasRoom(): boolean {
    return this.openStreams - this.#pushes < this.#peer.concurrentStreams;
  }

  /** Edge: a stream for a push, or null while there are as many as there may be. Its first head is the request's. */
  openPush(priority: Priority): MuxStream | null {
    const isFull = this.#pushes + this.#headless.size >= limits.concurrentPushes;
    if (this.#ended !== null || isFull) return null;
    const stream = new MuxStream(0, this, { send: limits.pushCreditBytes, receive: 0 }, priority, "push-sent");
    this.#headless.add(stream);
    return stream;
  }

  /** Ends the session and all its streams; tells the peer why. */
  end(error: RopewayError): void {
    this.channel.fail(error);
  }

  // StreamLink

  nextOrder(isPush: boolean): number {
    return isPush ? 2 * ++this.#pushesMade : 2 * this.#exchangesMade++ + 1;
  }

  sendHead(stream: MuxStream, fields: readonly EncodableField[], end: boolean, priority: Priority): number {
    assertHeadFits(fields);
    const carrier = stream.id === 0 ? this.#number(stream) : { id: stream.id, channel: this.#channels.of(stream) };
    this.headBytes.sent += carrier.channel.sendHead(carrier.id, fields, end, priority);
    this.headBytes.count += 1;
    if (this.role === "phone") this.#receiver.measure(carrier.channel);
    return carrier.id;
  }

  sendReset(stream: MuxStream, code: ErrorCode, reason: string): void {
    this.#channels.of(stream).sendReset(stream.id, code, reason);
  }

  sendCredit(stream: MuxStream, increment: number): void {
    this.#channels.of(stream).channel.send({ type: "credit", streamId: stream.id, increment });
  }

  sendPriority(stream: MuxStream): void {
    const { id, priority } = stream;
    this.#channels.of(stream).channel.send({ type: "priority", streamId: id, priority });
  }

  sessionConsumed(bytes: number): void {
    if (bytes === 0 || this.#ended !== null) return;
    this.#receiver.consume(bytes);
  }

  get streamWindow(): number {
    return this.#receiver.window.streamSize;
  }

  wake(stream: MuxStream): void {
    this.#sender.wake(stream);
  }

  queue(stream: MuxStream): void {
    this.#sender.queue(stream);
  }

  requeue(stream: MuxStream): void {
    this.#sender.requeue(stream);
  }

  closed(stream: MuxStream): void {
    if (this.#channels.of(stream).forget(stream)) this.#count(stream, -1);
    this.#headless.delete(stream);
    this.#sender.remove(stream);
    if (this.openStreams === 0) this.#receiver.window.rest();
    this.#rest();
    this.#wakeWaiting();
    this.#handler.onStreamsChanged?.();
  }

  // ChannelOwner

  get streamCredit(): { readonly send: number; readonly receive: number } {
    return { send: this.#peer.streamCredit, receive: initialStreamCredit(this.role).receive };
  }

  get takesPushes(): boolean {
    return this.#handler.onPush !== undefined;
  }

  hasRoomFor(kind: "exchange" | "push"): boolean {
    return kind === "push"
      ? this.#pushes < limits.concurrentPushes
      : this.#openStreams - this.#pushes < limits.concurrentStreams;
  }

  accepted(stream: MuxStream): void {
    this.#count(stream, 1);
    if (stream.isPush) this.#handler.onPush?.(stream);
    else this.#handler.onStream?.(stream);
    this.#handler.onStreamsChanged?.();
  }

  sessionHead(fields: readonly HeaderField[]): void {
    this.#handler.onSessionHead?.(fields);
  }

  headReceived(bytes: number): void {
    this.headBytes.received += bytes;
  }

  dataReceived(bytes: number): void {
    this.#receiver.window.receive(bytes);
  }

  pieceReceived(piece: StripeFrame): void {
    this.#receiver.window.receive(piece.payload.length);
    const home = this.#channels.by(piece.home);
    // Of one that was retired, pieces may still have been under way on others.
    if (home === undefined && piece.home < limits.channels) return this.sessionConsumed(piece.payload.length);
    if (home === undefined) {
      const message = `Cannot take a piece: there is no channel ${piece.home}`;
      throw new RopewayError(ErrorCode.PROTOCOL_ERROR, "session", "peer", message);
    }
    home.receivePiece(piece);
  }

  /** The peer gives small parts of what it lets be under way: longer messages would only make it wait for their ends. */
  sessionCredit(increment: number): void {
    this.#sender.grant(increment);
    this.#channels.batchBytes = increment;
  }

  setting(id: number, value: number): void {
    const { streams, session } = this.#peer.apply(id, value);
    this.#sender.shift(session);
    // Sent is at the message's end: one may have many of these.
    if (streams !== 0) for (const stream of this.#channels.streams()) if (!stream.isPush) stream.shiftCredit(streams);
    this.#wakeWaiting();
  }

  messageEnd(from: SessionChannel): void {
    this.#receiver.messageEnd(from);
    this.#sender.pump();
    this.#rest();
  }

  channelAttached(channel: SessionChannel): void {
    this.#receiver.attached(channel);
    if (this.openStreams > 0) this.#receiver.measure(channel);
    this.#sender.pump();
  }

  channelDetached(channel: SessionChannel): void {
    this.#receiver.detached(channel);
  }

  channelGreeted(channel: SessionChannel): void {
    this.#channels.greeted();
    this.#receiver.strand();
    this.#channels.heard(channel);
    // How far the edge is decides how many channels pay: better known before there is much to fetch.
    if (this.role === "phone") this.#receiver.measure(channel);
    this.#handler.onResumed?.();
  }

  carried(from: CarriedPlace, message: Uint8Array): void {
    if (this.role === "edge") this.#handler.onCarried?.(from, message);
    else this.#channels.receiveCarried(from, message);
  }

  pong(from: SessionChannel, token: number): void {
    if (this.#channels.pong(from, token)) return;
    if (!this.#receiver.window.pong(token, from.index)) this.#handler.onPong?.(token);
  }

  failed(error: RopewayError): void {
    if (this.#ended !== null) return;
    this.#ended = error;
    this.#cancelRest?.();
    this.#sender.stop();
    this.#channels.fail(error);
    for (const stream of [...this.#channels.streams(), ...this.#headless]) stream.fail(error);
    this.#wakeWaiting();
    this.#handler.onEnd(error);
  }

  /** Tells the peer what its credit is at first, where that is not what it takes it to be. */
  #set(sessionCredit: number): void {
    const entries: [number, number][] = [];
    if (this.role === "phone") entries.push([Setting.INITIAL_STREAM_CREDIT, limits.firstStreamCreditBytes]);
    if (sessionCredit !== limits.initialSessionCreditBytes) entries.push([Setting.SESSION_CREDIT, sessionCredit]);
    if (entries.length > 0) this.channel.send({ type: "settings", entries });
  }

  #number(stream: MuxStream): { readonly id: number; readonly channel: SessionChannel } {
    // How many channels pay, the phone knows: pushes go on all that it has opened.
    const channel = this.#channels.forStream(stream.isPush ? limits.channels : this.wantedChannels);
    stream.channelIndex = channel.index;
    this.#headless.delete(stream);
    this.#count(stream, 1);
    return { id: channel.number(stream), channel };
  }

  #count(stream: MuxStream, change: 1 | -1): void {
    this.#openStreams += change;
    if (stream.isPush) this.#pushes += change;
  }

  /** The edge keeps what is not acknowledged, and does not hibernate meanwhile: so the phone acknowledges all. */
  #rest(): void {
    if (this.openStreams > 0 || this.#ended !== null) return;
    if (!this.isUnacknowledged) for (const { channel } of this.#channels.all) channel.rest();
    const isDue = this.#channels.attached.some(({ channel }) => channel.hasUnsaid);
    if (!isDue || this.role === "edge" || this.#cancelRest !== null) return;
    this.#cancelRest = this.#setTimer(() => {
      this.#cancelRest = null;
      if (this.openStreams === 0) for (const { channel } of this.#channels.attached) channel.acknowledge();
    }, limits.restTime);
  }

  #wakeWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}

function startTimer(task: () => void, delay: number): () => void {
  const timer = setTimeout(task, delay);
  return () => clearTimeout(timer);
}
