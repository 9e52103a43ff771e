/**
 * One channel of a session: its pipe, its header tables, and its streams by id (PROTOCOL.md sections 4.5 and 5.1). Its
 * owner has the state that all channels share (credit, the number of streams, the order of sending).
 */
import { ErrorCode, RopewayError, toErrorCode } from "../../errors.ts";
import * as limits from "../../limits.ts";
import {
  DEFAULT_PRIORITY,
  type EncodableField,
  type HeaderField,
  type Priority,
  type SequencedFrame,
} from "../../wire/frame.ts";
import { HpackDecoder, type HpackDecoderSnapshot } from "../../wire/hpack/header-decoder.ts";
import { HpackEncoder, type HpackEncoderSnapshot } from "../../wire/hpack/header-encoder.ts";
import { type CarriedPlace, Channel, type ChannelHandler, type ChannelSnapshot, type Defer } from "../pipe/channel.ts";
import type { RetainedTotal } from "../pipe/frame-log.ts";
import { type MuxStream, type StreamCarrier, type StreamKind, type StreamPlace, toKeep } from "../stream/stream.ts";

/** State of an idle channel. Plain data, for structured clone. */
export interface SessionChannelSnapshot {
  readonly channel: ChannelSnapshot;
  readonly encoder: HpackEncoderSnapshot;
  readonly decoder: HpackDecoderSnapshot;
  readonly lastStreamId: number;
  readonly lastPushId: number;
}

/** The parts of a session that its channel uses: those that act on its frames, and those that hear of its events. */
export interface ChannelOwner {
  readonly role: "phone" | "edge";
  readonly handler: {
    readonly onPush?: ((stream: MuxStream) => void) | undefined;
    onSessionHead?(fields: readonly HeaderField[]): void;
  };
  readonly streams: {
    readonly headBytes: { sent: number; received: number };
    /** @returns whether the peer may open one more. */
    hasRoomFor(kind: StreamKind): boolean;
    create(kind: StreamKind, priority: Priority, place: StreamPlace): MuxStream;
    /** The peer opened the stream; its head follows. */
    accepted(stream: MuxStream): void;
    /** One of the peer's SETTINGS. */
    setting(id: number, value: number): void;
  };
  readonly sender: { grant(bytes: number): void };
  readonly receiver: {
    readonly window: { receive(bytes: number): void };
    consume(bytes: number): void;
    /** A piece of a stream that may be on another channel. */
    receivePiece(piece: StripeFrame): void;
    measure(carrier: SessionChannel): void;
    detached(channel: SessionChannel): void;
    strand(): void;
  };
  messageEnd(from: SessionChannel): void;
  channelAttached(channel: SessionChannel): void;
  channelGreeted(channel: SessionChannel): void;
  pong(from: SessionChannel, token: number): void;
  acknowledged(from: SessionChannel): void;
  /** A message of another channel came on this one's link. */
  carried(from: CarriedPlace, message: Uint8Array): void;
  failed(error: RopewayError): void;
}

export type StripeFrame = SequencedFrame & { readonly type: "stripe" };

interface SessionChannelOptions {
  readonly index: number;
  readonly sessionId: Uint8Array;
  readonly owner: ChannelOwner;
  readonly nextLink: () => number;
  readonly defer: Defer | undefined;
  readonly snapshot: SessionChannelSnapshot | undefined;
  /** The total that all channels of the session keep. */
  readonly retained: RetainedTotal;
  /** Streams that are opened here get larger ids; none by default. Without a snapshot. */
  readonly lastOwnId: number | undefined;
  /** Phone: last push of the channel that had this number before. Pieces with its id, or a smaller one, come late. 0 by default. */
  readonly lastPushId: number | undefined;
}

export class SessionChannel implements ChannelHandler, StreamCarrier {
  readonly index: number;
  readonly channel: Channel;

  #owner: ChannelOwner;
  /** Streams whose head was sent or received. */
  #streams = new Map<number, MuxStream>();
  /** Pieces that came on other channels before the heads of their streams came on this one. */
  #strays: StripeFrame[] = [];
  #encoder: HpackEncoder;
  #decoder: HpackDecoder;
  #lastStreamId: number;
  #lastPushId: number;

  constructor(options: SessionChannelOptions) {
    const { snapshot } = options;
    this.index = options.index;
    this.#owner = options.owner;
    const table = { maxTableBytes: limits.hpackTableBytes };
    const decoderOptions = { ...table, maxListBytes: limits.headListBytes, maxFields: limits.headFields };
    this.#encoder = snapshot ? HpackEncoder.restore(snapshot.encoder, table) : new HpackEncoder(table);
    this.#decoder = snapshot
      ? HpackDecoder.restore(snapshot.decoder, decoderOptions)
      : new HpackDecoder(decoderOptions);
    this.#lastStreamId = snapshot?.lastStreamId ?? -1;
    this.#lastPushId = snapshot?.lastPushId ?? 0;
    if (options.lastOwnId !== undefined) this.skipOwnIds(options.lastOwnId);
    if (options.lastPushId !== undefined) this.#lastPushId = options.lastPushId;
    this.channel = new Channel({
      sessionId: options.sessionId,
      index: options.index,
      handler: this,
      nextLink: options.nextLink,
      retained: options.retained,
      defer: options.defer,
      snapshot: snapshot?.channel,
    });
  }

  get streams(): ReadonlyMap<number, MuxStream> {
    return this.#streams;
  }

  /** The largest of the streams that were opened here. */
  get lastOwnId(): number {
    return this.#owner.role === "phone" ? this.#lastStreamId : this.#lastPushId;
  }

  get lastPushId(): number {
    return this.#lastPushId;
  }

  /** Ids of streams that are opened here go on above that. */
  skipOwnIds(last: number): void {
    if (this.#owner.role === "phone") this.#lastStreamId = Math.max(this.#lastStreamId, last);
    else this.#lastPushId = Math.max(this.#lastPushId, last);
  }

  /** Whether pieces of a body wait for its head. */
  get hasStrays(): boolean {
    return this.#strays.length > 0;
  }

  snapshot(): SessionChannelSnapshot {
    return {
      channel: this.channel.snapshot(),
      encoder: this.#encoder.snapshot(),
      decoder: this.#decoder.snapshot(),
      lastStreamId: this.#lastStreamId,
      lastPushId: this.#lastPushId,
    };
  }

  /** Gives a stream of this side its id. */
  number(stream: MuxStream): number {
    const id = stream.isPush ? this.#lastPushId + 2 : this.#lastStreamId + 2;
    if (stream.isPush) this.#lastPushId = id;
    else this.#lastStreamId = id;
    this.#streams.set(id, stream);
    return id;
  }

  // StreamCarrier

  sendHead(streamId: number, fields: readonly EncodableField[], end: boolean, priority: Priority): void {
    this.#owner.streams.headBytes.sent += this.#encodeHead(streamId, fields, end, priority);
    if (this.#owner.role === "phone") this.#owner.receiver.measure(this);
  }

  sendReset(streamId: number, code: ErrorCode, reason: string): void {
    this.channel.send({ type: "reset", streamId, code, message: reason });
  }

  sendCredit(streamId: number, increment: number): void {
    this.channel.send({ type: "credit", streamId, increment });
  }

  sendPriority(streamId: number, priority: Priority): void {
    this.channel.send({ type: "priority", streamId, priority });
  }

  sendSessionHead(fields: readonly EncodableField[]): void {
    this.#encodeHead(0, fields, true, DEFAULT_PRIORITY);
  }

  /** @returns whether the stream was open here. */
  forget(stream: MuxStream): boolean {
    return this.#streams.get(stream.id) === stream && this.#streams.delete(stream.id);
  }

  /** A piece of a stream of this channel, which came on any. Its bytes are counted against the session's credit. */
  receivePiece(piece: StripeFrame): void {
    const { streamId, offset, payload, end } = piece;
    try {
      if (streamId > this.#lastOf(streamId)) return this.#keepStray(piece);
      const stream = this.#streams.get(streamId);
      if (stream === undefined) this.#owner.receiver.consume(payload.length);
      else stream.receivePiece({ bytes: payload, end, offset });
    } catch (error) {
      this.#failStream(streamId, ofStream(error));
    }
  }

  /** The channel is over: nobody will ask for what waits. */
  dropStrays(): void {
    for (const { payload } of this.#strays.splice(0)) this.#owner.receiver.consume(payload.length);
  }

  // ChannelHandler

  onFrame(frame: SequencedFrame): void {
    try {
      this.#dispatch(frame);
    } catch (error) {
      this.#failStream("streamId" in frame ? frame.streamId : 0, ofStream(error));
    }
  }

  onMessageEnd(): void {
    this.#owner.messageEnd(this);
  }

  onAttached(): void {
    this.#owner.channelAttached(this);
  }

  onDetached(): void {
    this.#owner.receiver.detached(this);
  }

  onHello(): void {
    this.#owner.channelGreeted(this);
  }

  onCarried(from: CarriedPlace, message: Uint8Array): void {
    this.#owner.carried(from, message);
  }

  onPong(token: number): void {
    this.#owner.pong(this, token);
  }

  onAck(): void {
    this.#owner.acknowledged(this);
  }

  onFail(error: RopewayError): void {
    this.#owner.failed(error);
  }

  /** @returns bytes of the frame, about. The fields fit the limits on heads. */
  #encodeHead(streamId: number, fields: readonly EncodableField[], end: boolean, priority: Priority): number {
    const block = this.#encoder.encode(fields);
    this.channel.send({ type: "head", streamId, end, priority, block });
    return block.length + HEAD_FRAME_OVERHEAD;
  }

  #dispatch(frame: SequencedFrame): void {
    switch (frame.type) {
      case "head":
        return this.#receiveHead(frame);
      case "data":
        return this.#receiveData(frame);
      case "stripe":
        return this.#owner.receiver.receivePiece(frame);
      case "reset": {
        const stream = this.#known(frame.streamId);
        const message = frame.message || "Cannot go on: the peer reset the stream";
        stream?.fail(new RopewayError(toErrorCode(frame.code), "stream", "peer", message));
        return;
      }
      case "credit":
        if (frame.streamId === 0) this.#owner.sender.grant(frame.increment);
        else this.#known(frame.streamId)?.receiveCredit(frame.increment);
        return;
      case "priority":
        return this.#receivePriority(frame);
      case "settings":
        for (const [id, value] of frame.entries) this.#owner.streams.setting(id, value);
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
      broken = ofStream(error);
    }
    if (frame.streamId === 0) {
      if (this.#owner.role === "phone") throw idle(0);
      if (broken !== null) throw new RopewayError(broken.code, "session", "peer", broken.message);
      this.#owner.handler.onSessionHead?.(fields);
      return;
    }
    const stream = this.#streams.get(frame.streamId) ?? this.#accept(frame.streamId, frame.priority);
    if (stream === undefined) return;
    if (broken !== null) throw broken;
    this.#owner.streams.headBytes.received += frame.block.length + HEAD_FRAME_OVERHEAD;
    stream.receiveHead(fields, frame.end);
  }

  #receiveData(frame: SequencedFrame & { type: "data" }): void {
    this.#owner.receiver.window.receive(frame.payload.length);
    const stream = this.#known(frame.streamId);
    // Still under way when the stream was reset here: nobody will consume it.
    if (stream === undefined) this.#owner.receiver.consume(frame.payload.length);
    else stream.receivePiece({ bytes: frame.payload, end: frame.end, offset: null });
  }

  #receivePriority({ streamId, priority }: SequencedFrame & { type: "priority" }): void {
    const stream = this.#known(streamId);
    stream?.schedule(priority);
    stream?.handler?.onPriority?.();
  }

  /** The open stream, or undefined if it was closed before. @throws when the peer names a stream that never was. */
  #known(streamId: number): MuxStream | undefined {
    if (streamId === 0 || streamId > this.#lastOf(streamId)) throw idle(streamId);
    return this.#streams.get(streamId);
  }

  /** The largest id that was used, of streams that the same side opens. */
  #lastOf(streamId: number): number {
    return streamId % 2 === 0 ? this.#lastPushId : this.#lastStreamId;
  }

  #keepStray(piece: StripeFrame): void {
    if (!this.#mayOpen(piece.streamId)) throw idle(piece.streamId);
    if (this.#strays.length >= limits.strayPieces) {
      const message = `Cannot keep more than ${limits.strayPieces} pieces of bodies: their heads are missing`;
      throw new RopewayError(ErrorCode.ENHANCE_YOUR_CALM, "session", "peer", message);
    }
    this.#strays.push({ ...piece, payload: toKeep(piece.payload) });
  }

  /**
   * Takes the pieces of the stream with this id. Drops those of streams up to it that were never opened, or were
   * refused.
   */
  #takeStrays(stream: MuxStream | null, streamId: number): void {
    if (this.#strays.length === 0) return;
    const strays = this.#strays;
    this.#strays = [];
    for (const stray of strays) {
      if (stray.streamId === streamId && stream !== null) this.receivePiece(stray);
      else if (stray.streamId % 2 !== streamId % 2 || stray.streamId > streamId) this.#strays.push(stray);
      else this.#owner.receiver.consume(stray.payload.length);
    }
  }

  /** Whether the peer opens streams with such ids. */
  #mayOpen(streamId: number): boolean {
    const isPush = streamId % 2 === 0;
    const { role, handler } = this.#owner;
    return role !== (isPush ? "edge" : "phone") && (!isPush || handler.onPush !== undefined);
  }

  /** A stream that the peer opens with this head; undefined when it is refused or long closed. */
  #accept(streamId: number, priority: Priority): MuxStream | undefined {
    const isPush = streamId % 2 === 0;
    if (streamId <= this.#lastOf(streamId)) return undefined;
    const { streams } = this.#owner;
    if (!this.#mayOpen(streamId)) throw idle(streamId);
    if (isPush) this.#lastPushId = streamId;
    else this.#lastStreamId = streamId;
    const kind = isPush ? "push-received" : "exchange";
    if (!streams.hasRoomFor(kind)) {
      this.sendReset(streamId, ErrorCode.REFUSED_STREAM, "");
      this.#takeStrays(null, streamId);
      return undefined;
    }
    const stream = streams.create(kind, priority, { id: streamId, carrier: this });
    this.#streams.set(streamId, stream);
    streams.accepted(stream);
    this.#takeStrays(stream, streamId);
    return stream;
  }

  #failStream(streamId: number, error: RopewayError): void {
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    this.sendReset(streamId, error.code, error.message);
    stream.fail(error);
  }
}

/** Type byte, two bytes of stream id and one of length: what a typical head's frame adds to its block. */
const HEAD_FRAME_OVERHEAD = 4;

/** @throws what is not about one stream alone. */
function ofStream(error: unknown): RopewayError {
  if (error instanceof RopewayError && error.scope === "stream") return error;
  throw error;
}

function idle(streamId: number): RopewayError {
  const message = `Cannot use stream ${streamId}: it was never opened`;
  return new RopewayError(ErrorCode.PROTOCOL_ERROR, "session", "peer", message);
}
