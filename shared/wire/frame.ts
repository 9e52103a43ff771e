import { ErrorCode, RopewayError } from "../errors.ts";
import * as limits from "../limits.ts";

/**
 * Frames as bytes: PROTOCOL.md sections 2 and 3. Knows no streams, clocks or sockets.
 *
 * A message is a batch of frames. A frame is one byte of type (high four bits) and flags (low four), the stream id and
 * the payload's length as varints, then the payload. Types 0 to 7 are sequenced: each counts one in its channel's
 * numbering and is replayed after a reconnect. Types 8 to 15 speak about the channel itself and do not count.
 */

export const FrameType = {
  DATA: 0,
  HEAD: 1,
  RESET: 2,
  CREDIT: 3,
  SETTINGS: 4,
  GO_AWAY: 5,
  PRIORITY: 6,
  HELLO: 8,
  ACK: 9,
  PING: 10,
  PONG: 11,
  CARRY: 12,
  PADDING: 13,
} as const;

const FIRST_UNSEQUENCED = 8;

/** HEAD and DATA: nothing follows on this stream from this side. */
const FLAG_END = 0x1;
/** HEAD: the payload begins with a priority byte. */
const FLAG_PRIORITY = 0x2;
/** DATA: the payload begins with where it belongs, since it may come on any channel. */
const FLAG_STRIPE = 0x2;
/** HELLO of the phone: an earlier link carried this session. */
const FLAG_RESUME = 0x1;
const FLAG_GREETED = 0x2;

/** RFC 9218: urgency 0 (first) to 7 (last), 3 by default; `incremental` says that parts of a body are of use. */
export interface Priority {
  readonly urgency: number;
  readonly incremental: boolean;
}

export const DEFAULT_PRIORITY: Priority = { urgency: 3, incremental: false };

export type SequencedFrame =
  | { readonly type: "data"; readonly streamId: number; readonly end: boolean; readonly payload: Uint8Array }
  | {
      /** A piece of a body that may have come on any of the session's channels. */
      readonly type: "stripe";
      /** The channel that the stream is on, and its id there. */
      readonly home: number;
      readonly streamId: number;
      /** Bytes of the body before it. */
      readonly offset: number;
      readonly end: boolean;
      readonly payload: Uint8Array;
    }
  | {
      readonly type: "head";
      readonly streamId: number;
      readonly end: boolean;
      readonly priority: Priority;
      /** One complete HPACK field section. */
      readonly block: Uint8Array;
    }
  | { readonly type: "reset"; readonly streamId: number; readonly code: number; readonly message: string }
  | { readonly type: "credit"; readonly streamId: number; readonly increment: number }
  | { readonly type: "settings"; readonly entries: readonly (readonly [id: number, value: number])[] }
  | { readonly type: "go-away"; readonly lastStreamId: number; readonly code: number; readonly message: string }
  | { readonly type: "priority"; readonly streamId: number; readonly priority: Priority };

export type ChannelFrame =
  | {
      readonly type: "hello";
      /** Chosen by the phone at random; 16 bytes. */
      readonly sessionId: Uint8Array;
      /** The number of this channel in its session; 0, the first, where it is left out. */
      readonly channel?: number;
      /** Sequenced frames received so far on this channel: the peer replays from here. */
      readonly received: number;
      /** Number of the first sequenced frame that follows this one. */
      readonly next: number;
      /** The number of this link among the phone's of the session, from 0: one of a later number takes a channel over. */
      readonly link: number;
      /** The phone's, from its second link on: the edge may have acted on frames of the session, so it must know it. */
      readonly resume: boolean;
      /** The phone has heard the edge's HELLO on this channel: an edge that does not know the session has lost it. */
      readonly isGreeted?: true;
    }
  | { readonly type: "ack"; readonly received: number }
  | {
      /** The frames behind it in its message are another channel's, which has no link of its own: see `takeSection`. */
      readonly type: "carry";
      readonly channel: number;
      /** Number of the link by which HELLO put the channel here. A late frame of an earlier link is dropped. */
      readonly link: number;
    }
  | { readonly type: "ping"; readonly token: number }
  | { readonly type: "pong"; readonly token: number };

/** A type that this version does not know: counted if sequenced, otherwise ignored (RFC 9113 section 5.5). */
interface UnknownFrame {
  readonly type: "unknown";
  readonly sequenced: boolean;
}

export type Frame = SequencedFrame | ChannelFrame | UnknownFrame;

export const SESSION_ID_BYTES = 16;

const EMPTY = new Uint8Array(0);

/** Where the bytes of a DATA frame go: an array of exactly this length. */
type Allocate = (length: number) => Uint8Array;

const allocateNew: Allocate = (length) => new Uint8Array(length);

/** Type, stream and two bytes of length. */
const PADDING_HEADER_BYTES = 4;
const LEAST_PADDING_BYTES = PADDING_HEADER_BYTES + 1;

const utf8Encoder = new TextEncoder();
const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** A reason travels for people to read; more than this is cut by the sender and refused by the receiver. */
const REASON_BYTES = 512;

export function isSequenced(frame: Frame): boolean {
  switch (frame.type) {
    case "hello":
    case "carry":
    case "ack":
    case "ping":
    case "pong":
      return false;
    case "unknown":
      return frame.sequenced;
    default:
      return true;
  }
}

/** One frame as bytes of its own. The caller keeps `payload` and `block` within limits.framePayloadBytes. */
export function encodeFrame(frame: SequencedFrame | ChannelFrame, allocate: Allocate = allocateNew): Uint8Array {
  switch (frame.type) {
    case "data":
      return assemble(FrameType.DATA, frame.end ? FLAG_END : 0, frame.streamId, frame.payload, allocate);
    case "stripe": {
      const place = varints(frame.home, frame.offset);
      const flags = FLAG_STRIPE | (frame.end ? FLAG_END : 0);
      return assemble(FrameType.DATA, flags, frame.streamId, frame.payload, allocate, place);
    }
    case "head":
      return encodeHead(frame);
    case "reset":
      return assemble(FrameType.RESET, 0, frame.streamId, concat(varints(frame.code), encodeReason(frame.message)));
    case "credit":
      return assemble(FrameType.CREDIT, 0, frame.streamId, varints(frame.increment));
    case "settings":
      return assemble(FrameType.SETTINGS, 0, 0, varints(...frame.entries.flat()));
    case "go-away": {
      const fields = varints(frame.lastStreamId, frame.code);
      return assemble(FrameType.GO_AWAY, 0, 0, concat(fields, encodeReason(frame.message)));
    }
    case "priority":
      return assemble(FrameType.PRIORITY, 0, frame.streamId, Uint8Array.of(priorityByte(frame.priority)));
    case "hello":
      return assemble(
        FrameType.HELLO,
        (frame.resume ? FLAG_RESUME : 0) | (frame.isGreeted ? FLAG_GREETED : 0),
        frame.channel ?? 0,
        concat(frame.sessionId, varints(frame.received, frame.next, frame.link)),
      );
    case "carry":
      return assemble(FrameType.CARRY, 0, frame.channel, varints(frame.link));
    case "ack":
      return assemble(FrameType.ACK, 0, 0, varints(frame.received));
    case "ping":
      return assemble(FrameType.PING, 0, 0, varints(frame.token));
    case "pong":
      return assemble(FrameType.PONG, 0, 0, varints(frame.token));
  }
}

/** A frame that means nothing, of about so many bytes in all; none where there are too few for one. */
export function encodePadding(bytes: number): Uint8Array {
  if (bytes < LEAST_PADDING_BYTES) return EMPTY;
  // Nothing that a link which compresses makes less of.
  return assemble(FrameType.PADDING, 0, 0, crypto.getRandomValues(new Uint8Array(bytes - PADDING_HEADER_BYTES)));
}

/**
 * The next frame of a message. Payloads are views of the message, not copies.
 *
 * @throws RopewayError of scope "session" when the bytes are not a frame or break a limit.
 */
export function decodeFrame(reader: ByteReader): Frame {
  const first = reader.byte();
  const type = first >>> 4;
  const flags = first & 0x0f;
  const streamId = reader.varint();
  const length = reader.varint();
  if (length > limits.framePayloadBytes) {
    throw malformed(`a payload of ${length} bytes is above the limit of ${limits.framePayloadBytes}`);
  }
  const payload = new ByteReader(reader.take(length));
  switch (type) {
    case FrameType.DATA:
      if ((flags & FLAG_STRIPE) !== 0) return decodeStripe(streamOf(streamId), flags, payload);
      return { type: "data", streamId: streamOf(streamId), end: (flags & FLAG_END) !== 0, payload: payload.bytes };
    case FrameType.HEAD:
      return decodeHead(streamId, flags, payload);
    case FrameType.RESET:
      return { type: "reset", streamId: streamOf(streamId), code: payload.varint(), message: decodeReason(payload) };
    case FrameType.CREDIT:
      return whole(payload, { type: "credit", streamId, increment: payload.varint() });
    case FrameType.SETTINGS:
      return decodeSettings(payload);
    case FrameType.GO_AWAY:
      return {
        type: "go-away",
        lastStreamId: payload.varint(),
        code: payload.varint(),
        message: decodeReason(payload),
      };
    case FrameType.PRIORITY:
      return whole(payload, {
        type: "priority",
        streamId: streamOf(streamId),
        priority: toPriority(payload.byte()),
      });
    case FrameType.HELLO:
      return whole(payload, {
        type: "hello",
        sessionId: payload.take(SESSION_ID_BYTES).slice(),
        ...(streamId > 0 ? { channel: streamId } : {}),
        received: payload.varint(),
        next: payload.varint(),
        link: payload.varint(),
        resume: (flags & FLAG_RESUME) !== 0,
        ...((flags & FLAG_GREETED) === 0 ? {} : { isGreeted: true }),
      });
    case FrameType.CARRY:
      return whole(payload, { type: "carry", channel: streamId, link: payload.varint() });
    case FrameType.ACK:
      return whole(payload, { type: "ack", received: payload.varint() });
    case FrameType.PING:
      return whole(payload, { type: "ping", token: payload.varint() });
    case FrameType.PONG:
      return whole(payload, { type: "pong", token: payload.varint() });
    default:
      return { type: "unknown", sequenced: type < FIRST_UNSEQUENCED };
  }
}

/** All frames of a message, one by one. @throws as decodeFrame; also when the message is above the limit. */
export function* decodeMessage(message: Uint8Array): Generator<Frame, void> {
  const reader = readerOf(message);
  while (reader.remaining > 0) yield decodeFrame(reader);
}

/** @throws RopewayError of scope "session" when the message is above the limit. */
export function readerOf(message: Uint8Array): ByteReader {
  if (message.length > limits.messageBytes) {
    throw malformed(`a message of ${message.length} bytes is above the limit of ${limits.messageBytes}`);
  }
  return new ByteReader(message);
}

/** The frames behind a CARRY, as a view: up to the next one, or to the end of the message. @throws as decodeFrame. */
export function takeSection(reader: ByteReader): Uint8Array {
  const start = reader.offset;
  while (reader.remaining > 0 && !isCarry(reader.bytes.subarray(reader.offset))) {
    reader.byte();
    reader.varint();
    reader.take(reader.varint());
  }
  return reader.bytes.subarray(start, reader.offset);
}

/** Whether a message begins with HELLO. */
export function isHello([first = 0]: Uint8Array): boolean {
  return first >>> 4 === FrameType.HELLO;
}

/** Whether what begins there is a CARRY. */
export function isCarry([first = 0]: Uint8Array): boolean {
  return first >>> 4 === FrameType.CARRY;
}

function decodeStripe(streamId: number, flags: number, payload: ByteReader): Frame {
  const [home, offset] = [payload.varint(), payload.varint()];
  const end = (flags & FLAG_END) !== 0;
  return { type: "stripe", home, streamId, offset, end, payload: payload.take(payload.remaining) };
}

function encodeHead(frame: SequencedFrame & { type: "head" }): Uint8Array {
  const { urgency, incremental } = frame.priority;
  const end = frame.end ? FLAG_END : 0;
  if (urgency === DEFAULT_PRIORITY.urgency && incremental === DEFAULT_PRIORITY.incremental) {
    return assemble(FrameType.HEAD, end, frame.streamId, frame.block);
  }
  const payload = concat(Uint8Array.of(priorityByte(frame.priority)), frame.block);
  return assemble(FrameType.HEAD, end | FLAG_PRIORITY, frame.streamId, payload);
}

function decodeHead(streamId: number, flags: number, payload: ByteReader): Frame {
  const priority = (flags & FLAG_PRIORITY) === 0 ? DEFAULT_PRIORITY : toPriority(payload.byte());
  if (payload.remaining > limits.headBytes) {
    throw malformed(`a head of ${payload.remaining} bytes is above the limit of ${limits.headBytes}`);
  }
  return { type: "head", streamId, end: (flags & FLAG_END) !== 0, priority, block: payload.take(payload.remaining) };
}

function decodeSettings(payload: ByteReader): Frame {
  const entries: [number, number][] = [];
  while (payload.remaining > 0) {
    if (entries.length === limits.settingsEntries) throw malformed("SETTINGS has too many entries");
    entries.push([payload.varint(), payload.varint()]);
  }
  return { type: "settings", entries };
}

/** Cut between two characters where it is too long. */
function encodeReason(reason: string): Uint8Array {
  if (reason === "") return EMPTY;
  const bytes = new Uint8Array(REASON_BYTES);
  return bytes.subarray(0, utf8Encoder.encodeInto(reason, bytes).written);
}

/** The rest of a payload. */
function decodeReason(payload: ByteReader): string {
  if (payload.remaining > REASON_BYTES) throw malformed(`a reason of ${payload.remaining} bytes is too long`);
  try {
    return utf8Decoder.decode(payload.take(payload.remaining));
  } catch {
    throw malformed("a reason is not UTF-8");
  }
}

/** Urgency in bits 1 to 3, incremental in bit 0. */
function priorityByte(priority: Priority): number {
  return (priority.urgency << 1) | (priority.incremental ? 1 : 0);
}

function toPriority(byte: number): Priority {
  if (byte > 0x0f) throw malformed(`priority byte ${byte} is above 15`);
  return { urgency: byte >>> 1, incremental: (byte & 1) === 1 };
}

function streamOf(streamId: number): number {
  if (streamId === 0) throw malformed("stream 0 carries neither data, reset nor priority");
  return streamId;
}

function whole<F extends Frame>(payload: ByteReader, frame: F): F {
  if (payload.remaining > 0) throw malformed(`${payload.remaining} bytes follow the fields of a ${frame.type} frame`);
  return frame;
}

function assemble(
  type: number,
  flags: number,
  streamId: number,
  payload: Uint8Array,
  allocate: Allocate = allocateNew,
  /** Fields before the payload, which count as part of it. */
  fields: Uint8Array = EMPTY,
): Uint8Array {
  const length = fields.length + payload.length;
  const frame = allocate(1 + varintLength(streamId) + varintLength(length) + length);
  frame[0] = (type << 4) | flags;
  const offset = writeVarint(frame, writeVarint(frame, 1, streamId), length);
  frame.set(fields, offset);
  frame.set(payload, offset + fields.length);
  return frame;
}

function varints(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.reduce((sum, value) => sum + varintLength(value), 0));
  values.reduce((offset, value) => writeVarint(bytes, offset, value), 0);
  return bytes;
}

/** The given byte strings one after the other. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** Copies byte strings that come one by one into one buffer, at most twice as long as they are, however short each is. */
export class GatheredBytes {
  #bytes = new Uint8Array(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (length > this.#bytes.length) {
      const longer = new Uint8Array(Math.max(2 * this.#length, length));
      longer.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = longer;
    }
    this.#bytes.set(part, this.#length);
    this.#length = length;
  }

  /** All of them, in a buffer of their length; it begins anew. */
  take(): Uint8Array<ArrayBuffer> {
    const whole = this.#bytes.length === this.#length ? this.#bytes : this.#bytes.slice(0, this.#length);
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
    return whole;
  }
}

function malformed(reason: string): RopewayError {
  return new RopewayError(ErrorCode.FRAME_SIZE_ERROR, "session", "peer", `Cannot read a frame: ${reason}`);
}

/**
 * Variable-length integers of RFC 9000 section 16: the two top bits of the first byte say whether 1, 2, 4 or 8 bytes
 * follow (PROTOCOL.md section 2). Values above 2^53 - 1 are refused, since a number cannot hold them. These are the
 * largest values that fit in 1, 2 and 4 bytes.
 */
const MAX_1 = 0x3f;
const MAX_2 = 0x3fff;
const MAX_4 = 0x3fffffff;

/** How many bytes `value` takes: 1, 2, 4 or 8. */
export function varintLength(value: number): 1 | 2 | 4 | 8 {
  if (value <= MAX_1) return 1;
  if (value <= MAX_2) return 2;
  if (value <= MAX_4) return 4;
  return 8;
}

/**
 * Writes `value`, a non-negative safe integer, at `offset` in its shortest form.
 *
 * @returns the offset after it.
 */
export function writeVarint(target: Uint8Array, offset: number, value: number): number {
  switch (varintLength(value)) {
    case 1:
      target[offset] = value;
      return offset + 1;
    case 2:
      target[offset] = 0x40 | (value >>> 8);
      target[offset + 1] = value & 0xff;
      return offset + 2;
    case 4:
      target[offset] = 0x80 | (value >>> 24);
      target[offset + 1] = (value >>> 16) & 0xff;
      target[offset + 2] = (value >>> 8) & 0xff;
      target[offset + 3] = value & 0xff;
      return offset + 4;
    case 8: {
      const high = Math.floor(value / 2 ** 32);
      const low = value >>> 0;
      target[offset] = 0xc0 | (high >>> 24);
      target[offset + 1] = (high >>> 16) & 0xff;
      target[offset + 2] = (high >>> 8) & 0xff;
      target[offset + 3] = high & 0xff;
      target[offset + 4] = low >>> 24;
      target[offset + 5] = (low >>> 16) & 0xff;
      target[offset + 6] = (low >>> 8) & 0xff;
      target[offset + 7] = low & 0xff;
      return offset + 8;
    }
  }
}

/** A position in received bytes that only moves forward, and never past the end. */
export class ByteReader {
  readonly bytes: Uint8Array;
  offset = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get remaining(): number {
    return this.bytes.length - this.offset;
  }

  /** @throws RopewayError FRAME_SIZE_ERROR when nothing is left. */
  byte(): number {
    const value = this.bytes[this.offset];
    if (value === undefined) throw truncated("a byte");
    this.offset += 1;
    return value;
  }

  /** @throws RopewayError FRAME_SIZE_ERROR when the integer is cut off or above 2^53 - 1. */
  varint(): number {
    const first = this.byte();
    const length = 1 << (first >>> 6);
    if (this.remaining < length - 1) throw truncated("an integer");
    let value = first & 0x3f;
    for (let index = 1; index < length; index += 1) {
      value = value * 256 + (this.bytes[this.offset] ?? 0);
      this.offset += 1;
    }
    if (!Number.isSafeInteger(value)) {
      throw new RopewayError(
        ErrorCode.FRAME_SIZE_ERROR,
        "session",
        "peer",
        "Cannot read an integer: it is above 2^53 - 1",
      );
    }
    return value;
  }

  /** A view of the next `length` bytes; not a copy. @throws RopewayError FRAME_SIZE_ERROR when fewer are left. */
  take(length: number): Uint8Array {
    if (length > this.remaining) throw truncated(`${length} bytes`);
    const view = this.bytes.subarray(this.offset, this.offset + length);
    this.offset += length;
    return view;
  }
}

function truncated(what: string): RopewayError {
  return new RopewayError(
    ErrorCode.FRAME_SIZE_ERROR,
    "session",
    "peer",
    `Cannot read ${what}: the message ends before it`,
  );
}

/** How a field line that is not in a table yet is represented (RFC 7541 sections 6.2.1 to 6.2.3). */
export type Indexing = "incremental" | "without" | "never";

/**
 * One decoded field line. Name and value are byte strings: each character is one octet, U+0000 to U+00FF, as in the
 * Fetch standard's Headers. So every octet sequence has exactly one decoded form, and none is invalid.
 * Tuples may be shared with the dynamic table: never write to them.
 */
export type HeaderField = readonly [name: string, value: string];

/**
 * One field line to encode; `indexing` overrides the policy for this line. Names are sent as given: lower case is the
 * caller's duty (RFC 9113 section 8.2). A string with a character above U+00FF is sent as its UTF-8 octets and arrives
 * as the byte string of those.
 */
export type EncodableField = readonly [name: string, value: string, indexing?: Indexing];

/** Bytes that an entry costs beyond its octets (RFC 7541 section 4.1). */
const ENTRY_OVERHEAD = 32;

/** Size of a field line in bytes, in tables (RFC 7541 section 4.1) and in lists (RFC 9113 section 6.5.2). */
export function fieldBytes(name: string, value: string): number {
  return name.length + value.length + ENTRY_OVERHEAD;
}
