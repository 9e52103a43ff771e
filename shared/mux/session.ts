/**
 * All streams of one phone over one channel: PROTOCOL.md sections 5 and 6. Symmetric but for who opens streams (the
 * phone) and the initial credits. Knows no HTTP: heads are field lists, bodies are bytes.
 */
import { ErrorCode, RopewayError, toErrorCode } from "../errors.ts";
import { limits } from "../limits.ts";
import { DEFAULT_PRIORITY, type Priority, type SequencedFrame } from "../wire/frame.ts";
import type { EncodableField, HeaderField } from "../wire/hpack/field.ts";
import { HpackDecoder, type HpackDecoderSnapshot } from "../wire/hpack/header-decoder.ts";
import { HpackEncoder, type HpackEncoderSnapshot } from "../wire/hpack/header-encoder.ts";
import { Channel, type ChannelHandler, type ChannelSnapshot, type Defer } from "./channel.ts";
import { ReceiveWindow, SendWindow } from "./credit.ts";
import { assertHeadFits } from "./head-limits.ts";
import { initialCredit } from "./initial-credit.ts";
import { SendQueue } from "./send-queue.ts";
import { MuxStream, type StreamLink } from "./stream.ts";

/** Identifiers of SETTINGS: PROTOCOL.md section 3.5. Unknown ones are ignored. */
const Setting = { INITIAL_STREAM_CREDIT: 1, CONCURRENT_STREAMS: 2 } as const;

export interface SessionHandler {
  /** Edge: the phone opened a stream; its head follows at once. The callee sets `stream.handler`. */
  onStream?(stream: MuxStream): void;
  /** Edge: fields that hold for all requests of the session (a HEAD on stream 0). */
  onSessionHead?(fields: readonly HeaderField[]): void;
  /** The session is over; all streams have failed. Called once. */
  onEnd(error: RopewayError): void;
  /** A stream was opened or closed. */
  onStreamsChanged?(): void;
  onPong?(token: number): void;
  /** The channel goes on after a reconnect. */
  onResumed?(): void;
}

/** What survives hibernation of an idle session. Plain data, for structured clone. */
export interface SessionSnapshot {
  readonly channel: ChannelSnapshot;
  readonly encoder: HpackEncoderSnapshot;
  readonly decoder: HpackDecoderSnapshot;
  readonly lastStreamId: number;
  readonly sendCredit: number;
  readonly owedCredit: number;
  /** What the peer's SETTINGS said. */
  readonly peerStreamCredit: number;
  readonly peerConcurrentStreams: number;
}

export interface SessionOptions {
  readonly role: "phone" | "edge";
  readonly sessionId: Uint8Array;
  readonly handler: SessionHandler;
  readonly defer?: Defer;
  readonly snapshot?: SessionSnapshot;
}

export class Session implements ChannelHandler, StreamLink {
  readonly channel: Channel;
  /** Encoded bytes of request heads sent or received, frame headers included; for statistics. */
  readonly headBytes = { sent: 0, received: 0, count: 0 };

  #role: "phone" | "edge";
  #handler: SessionHandler;
  /** Streams whose head was sent or received, by id. */
  #streams = new Map<number, MuxStream>();
  /** Streams that were opened here and have sent no head yet: the peer knows nothing of them. */
  #headless = new Set<MuxStream>();
  #sendQueue = new SendQueue<MuxStream>();
  #encoder: HpackEncoder;
  #decoder: HpackDecoder;
  #sendWindow: SendWindow;
  #receiveWindow: ReceiveWindow;
  #streamCredit: { send: number; receive: number };
  #peerConcurrentStreams: number;
  #lastStreamId: number;
  #ended: RopewayError | null = null;
  #pumping = false;
  #waiting: (() => void)[] = [];

  constructor(options: SessionOptions) {
    const { role, snapshot } = options;
    this.#role = role;
    this.#handler = options.handler;
    const credit = initialCredit(role);
    this.#streamCredit = { ...credit.stream, send: snapshot?.peerStreamCredit ?? credit.stream.send };
    this.#peerConcurrentStreams = snapshot?.peerConcurrentStreams ?? limits.concurrentStreams;
    this.#sendWindow = new SendWindow(snapshot?.sendCredit ?? credit.session.send, "session");
    this.#receiveWindow = new ReceiveWindow(credit.session.receive, "session", snapshot?.owedCredit ?? 0);
    const table = { maxTableBytes: limits.hpackTableBytes };
    this.#encoder = snapshot ? HpackEncoder.restore(snapshot.encoder, table) : new HpackEncoder(table);
    const decoderOptions = { ...table, maxListBytes: limits.headListBytes, maxFields: limits.headFields };
    this.#decoder = snapshot
      ? HpackDecoder.restore(snapshot.decoder, decoderOptions)
      : new HpackDecoder(decoderOptions);
    this.#lastStreamId = snapshot?.lastStreamId ?? -1;
    this.channel = new Channel({
      sessionId: options.sessionId,
      handler: this,
      ...(options.defer ? { defer: options.defer } : {}),
      ...(snapshot ? { snapshot: snapshot.channel } : {}),
    });
  }

  get openStreams(): number {
    return this.#streams.size + this.#headless.size;
  }

  get ended(): RopewayError | null {
    return this.#ended;
  }

  /** Only an idle session has a snapshot: open streams do not survive hibernation. */
  snapshot(): SessionSnapshot {
    return {
      channel: this.channel.snapshot(),
      encoder: this.#encoder.snapshot(),
      decoder: this.#decoder.snapshot(),
      lastStreamId: this.#lastStreamId,
      sendCredit: this.#sendWindow.available,
      owedCredit: this.#receiveWindow.owed,
      peerStreamCredit: this.#streamCredit.send,
      peerConcurrentStreams: this.#peerConcurrentStreams,
    };
  }

  /**
   * Phone: fields that hold for all requests of the session, sent once before the first request.
   *
   * @throws RopewayError ENHANCE_YOUR_CALM of scope "stream" when they are above the limits on heads.
   */
  sendSessionHead(fields: readonly EncodableField[]): void {
    assertHeadFits(fields);
    const block = this.#encoder.encode(fields);
    this.channel.send({ type: "head", streamId: 0, end: true, priority: DEFAULT_PRIORITY, block });
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
    const stream = new MuxStream(0, this, this.#streamCredit, priority);
    this.#headless.add(stream);
    return stream;
  }

  get hasRoom(): boolean {
    return this.openStreams < this.#peerConcurrentStreams;
  }

  /** Ends the session and all its streams; tells the peer why. */
  end(error: RopewayError): void {
    this.channel.fail(error);
  }

  // ChannelHandler

  onFrame(frame: SequencedFrame): void {
    try {
      this.#dispatch(frame);
    } catch (error) {
      if (!(error instanceof RopewayError) || error.scope === "session") throw error;
      this.#failStream("streamId" in frame ? frame.streamId : 0, error);
    }
  }

  onMessageEnd(): void {
    // What a restored window owes from the start.
    const increment = this.#receiveWindow.consume(0);
    if (increment > 0) this.sendCredit(0, increment);
    this.#pump();
  }

  onHello(): void {
    this.#handler.onResumed?.();
  }

  onPong(token: number): void {
    this.#handler.onPong?.(token);
  }

  onFail(error: RopewayError): void {
    if (this.#ended !== null) return;
    this.#ended = error;
    const streams = [...this.#streams.values(), ...this.#headless];
    for (const stream of streams) stream.fail(error);
    this.#streams.clear();
    this.#wakeWaiting();
    this.#handler.onEnd(error);
  }

  // StreamLink

  sendHead(stream: MuxStream, fields: readonly EncodableField[], end: boolean, priority: Priority): number {
    assertHeadFits(fields);
    const id = stream.id === 0 ? this.#number(stream) : stream.id;
    const block = this.#encoder.encode(fields);
    this.headBytes.sent += block.length + HEAD_FRAME_OVERHEAD;
    this.headBytes.count += 1;
    this.channel.send({ type: "head", streamId: id, end, priority, block });
    return id;
  }

  sendReset(stream: MuxStream, code: ErrorCode, reason: string): void {
    this.channel.send({ type: "reset", streamId: stream.id, code, message: reason });
  }

  sendCredit(streamId: number, increment: number): void {
    this.channel.send({ type: "credit", streamId, increment });
  }

  sendPriority(stream: MuxStream): void {
    this.channel.send({ type: "priority", streamId: stream.id, priority: stream.priority });
  }

  sessionConsumed(bytes: number): void {
    if (bytes === 0 || this.#ended !== null) return;
    const increment = this.#receiveWindow.consume(bytes);
    if (increment > 0) this.sendCredit(0, increment);
  }

  wake(stream: MuxStream): void {
    this.#sendQueue.add(stream);
    this.#pump();
  }

  requeue(stream: MuxStream): void {
    this.#sendQueue.remove(stream);
    this.wake(stream);
  }

  closed(stream: MuxStream): void {
    this.#streams.delete(stream.id);
    this.#headless.delete(stream);
    this.#sendQueue.remove(stream);
    this.#wakeWaiting();
    this.#handler.onStreamsChanged?.();
  }

  #number(stream: MuxStream): number {
    this.#lastStreamId += 2;
    this.#headless.delete(stream);
    this.#streams.set(this.#lastStreamId, stream);
    return this.#lastStreamId;
  }

  #dispatch(frame: SequencedFrame): void {
    switch (frame.type) {
      case "head":
        return this.#receiveHead(frame);
      case "data":
        return this.#receiveData(frame);
      case "reset": {
        const stream = this.#known(frame.streamId);
        const message = frame.message || "Cannot go on: the peer reset the stream";
        stream?.fail(new RopewayError(toErrorCode(frame.code), "stream", "peer", message));
        return;
      }
      case "credit":
        if (frame.streamId === 0) this.#sendWindow.grant(frame.increment);
        else this.#known(frame.streamId)?.receiveCredit(frame.increment);
        return;
      case "priority":
        this.#known(frame.streamId)?.setPriority(frame.priority);
        return;
      case "settings":
        for (const [id, value] of frame.entries) this.#applySetting(id, value);
        return;
      case "go-away":
        this.channel.fail(
          new RopewayError(toErrorCode(frame.code), "session", "peer", frame.message || "The peer ended the session"),
        );
    }
  }

  #receiveHead(frame: SequencedFrame & { type: "head" }): void {
    // Decoded whatever comes of it: the table must stay in step with the peer's.
    let fields: readonly HeaderField[] = [];
    let broken: RopewayError | null = null;
    try {
      fields = this.#decoder.decode(frame.block);
    } catch (error) {
      if (!(error instanceof RopewayError) || error.scope === "session") throw error;
      broken = error;
    }
    if (frame.streamId === 0) {
      if (this.#role === "phone") throw idle(0);
      if (broken !== null) throw new RopewayError(broken.code, "session", "peer", broken.message);
      this.#handler.onSessionHead?.(fields);
      return;
    }
    const stream = this.#streams.get(frame.streamId) ?? this.#accept(frame.streamId, frame.priority);
    if (stream === undefined) return;
    if (broken !== null) throw broken;
    this.headBytes.received += frame.block.length + HEAD_FRAME_OVERHEAD;
    stream.receiveHead(fields, frame.end);
  }

  #receiveData(frame: SequencedFrame & { type: "data" }): void {
    this.#receiveWindow.receive(frame.payload.length);
    const stream = this.#known(frame.streamId);
    if (stream === undefined) {
      // Still under way when the stream was reset here: nobody will consume it.
      this.sessionConsumed(frame.payload.length);
      return;
    }
    stream.receiveData(frame.payload, frame.end);
  }

  /** The open stream, or undefined if it was closed before. @throws when the peer names a stream that never was. */
  #known(streamId: number): MuxStream | undefined {
    if (streamId > this.#lastStreamId || streamId % 2 === 0) throw idle(streamId);
    return this.#streams.get(streamId);
  }

  /** Edge: a stream that the phone opens with this head; undefined when it is refused or long closed. */
  #accept(streamId: number, priority: Priority): MuxStream | undefined {
    if (streamId % 2 === 0) throw idle(streamId);
    if (streamId <= this.#lastStreamId) return undefined;
    if (this.#role === "phone") throw idle(streamId);
    this.#lastStreamId = streamId;
    const stream = new MuxStream(streamId, this, this.#streamCredit, priority);
    if (this.#streams.size >= limits.concurrentStreams) {
      this.sendReset(stream, ErrorCode.REFUSED_STREAM, "");
      return undefined;
    }
    this.#streams.set(streamId, stream);
    this.#handler.onStream?.(stream);
    this.#handler.onStreamsChanged?.();
    return stream;
  }

  #failStream(streamId: number, error: RopewayError): void {
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    this.sendReset(stream, error.code, error.message);
    stream.fail(error);
  }

  #applySetting(id: number, value: number): void {
    if (id === Setting.INITIAL_STREAM_CREDIT) {
      if (value > limits.creditBytes) {
        throw new RopewayError(
          ErrorCode.FLOW_CONTROL_ERROR,
          "session",
          "peer",
          "Cannot use an initial credit so large",
        );
      }
      const delta = value - this.#streamCredit.send;
      this.#streamCredit = { ...this.#streamCredit, send: value };
      for (const stream of this.#streams.values()) stream.shiftCredit(delta);
    } else if (id === Setting.CONCURRENT_STREAMS) {
      this.#peerConcurrentStreams = Math.max(1, Math.min(value, limits.concurrentStreams));
      this.#wakeWaiting();
    }
  }

  /** Sends what credit allows, most urgent first. */
  #pump(): void {
    if (this.#pumping || this.#ended !== null) return;
    this.#pumping = true;
    try {
      for (;;) {
        const room = this.channel.takesData ? Math.min(limits.batchBytes, this.#sendWindow.available) : 0;
        const stream = this.#sendQueue.next(room > 0);
        if (stream === undefined) return;
        const { bytes, end } = stream.takeChunk(room);
        this.#sendWindow.take(bytes.length);
        this.channel.send({ type: "data", streamId: stream.id, end, payload: bytes });
      }
    } finally {
      this.#pumping = false;
    }
  }

  #wakeWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}

/** Type byte, two bytes of stream id and one of length: what a typical head's frame adds to its block. */
const HEAD_FRAME_OVERHEAD = 4;

function idle(streamId: number): RopewayError {
  const message = `Cannot use stream ${streamId}: it was never opened`;
  return new RopewayError(ErrorCode.PROTOCOL_ERROR, "session", "peer", message);
}
