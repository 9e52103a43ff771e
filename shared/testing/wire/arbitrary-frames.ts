import fc from "fast-check";
import * as limits from "../../limits.ts";
import type { ChannelFrame, Priority, SequencedFrame } from "../../wire/frame.ts";

/** Integers of all four encodings, their edges above all. */
export const varint: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(0, 1, 0x3f, 0x40, 0x3fff, 0x4000, 0x3fffffff, 0x40000000, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1),
  fc.maxSafeNat(),
  fc.nat(300),
);

const streamId = varint.filter((value) => value > 0);
const reason = fc.string({ unit: "grapheme", maxLength: 40 });
const bytes = fc.uint8Array({ maxLength: 300 });

export const priority: fc.Arbitrary<Priority> = fc.record({ urgency: fc.nat(7), incremental: fc.boolean() });

export const sequencedFrame: fc.Arbitrary<SequencedFrame> = fc.oneof(
  fc.record({ type: fc.constant("data" as const), streamId, end: fc.boolean(), payload: bytes }),
  fc.record({
    type: fc.constant("stripe" as const),
    home: varint,
    streamId,
    offset: varint,
    end: fc.boolean(),
    payload: bytes,
  }),
  fc.record({ type: fc.constant("head" as const), streamId: varint, end: fc.boolean(), priority, block: bytes }),
  fc.record({ type: fc.constant("reset" as const), streamId, code: varint, message: reason }),
  fc.record({ type: fc.constant("credit" as const), streamId: varint, increment: varint }),
  fc.record({
    type: fc.constant("settings" as const),
    entries: fc.array(fc.tuple(varint, varint), { maxLength: limits.settingsEntries }),
  }),
  fc.record({
    type: fc.constant("go-away" as const),
    lastStreamId: varint,
    code: varint,
    message: reason,
  }),
  fc.record({ type: fc.constant("priority" as const), streamId, priority }),
);

export const channelFrame: fc.Arbitrary<ChannelFrame> = fc.oneof(
  fc.record({
    type: fc.constant("hello" as const),
    sessionId: fc.uint8Array({ minLength: 16, maxLength: 16 }),
    received: varint,
    next: varint,
    link: varint,
    resume: fc.boolean(),
  }),
  fc.record({ type: fc.constant("carry" as const), channel: fc.nat(100), link: varint }),
  fc.record({ type: fc.constant("ack" as const), received: varint }),
  fc.record({ type: fc.constant("ping" as const), token: varint }),
  fc.record({ type: fc.constant("pong" as const), token: varint }),
);

export const frame = fc.oneof(sequencedFrame, channelFrame);
