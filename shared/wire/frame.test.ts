import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ErrorCode, RopewayError } from "../errors.ts";
import * as limits from "../limits.ts";
import { thrownBy } from "../testing/thrown-by.ts";
import { frame } from "../testing/wire/arbitrary-frames.ts";
import { naiveFrame } from "../testing/wire/naive-codec.ts";
import {
  ByteReader,
  concat,
  DEFAULT_PRIORITY,
  decodeFrame,
  decodeMessage,
  encodeFrame,
  type Frame,
  GatheredBytes,
  isSequenced,
  writeVarint,
} from "./frame.ts";

function decode(...bytes: readonly number[]): Frame {
  return decodeFrame(new ByteReader(Uint8Array.from(bytes)));
}

function refusal(...bytes: readonly number[]): unknown {
  return thrownBy(() => decode(...bytes));
}

const malformed = { code: ErrorCode.FRAME_SIZE_ERROR, scope: "session", initiator: "peer" };

describe("the examples of PROTOCOL.md section 3", () => {
  const block = Uint8Array.of(0x82, 0x86);
  test.each([
    ["DATA", { type: "data", streamId: 1, end: true, payload: Uint8Array.of(0x68, 0x69) }, [0x01, 1, 2, 0x68, 0x69]],
    ["HEAD", { type: "head", streamId: 1, end: true, priority: DEFAULT_PRIORITY, block }, [0x11, 1, 2, 0x82, 0x86]],
    [
      "HEAD with a priority",
      { type: "head", streamId: 1, end: true, priority: { urgency: 5, incremental: true }, block },
      [0x13, 1, 3, 0x0b, 0x82, 0x86],
    ],
    ["RESET", { type: "reset", streamId: 1, code: ErrorCode.CANCEL, message: "" }, [0x20, 1, 1, 8]],
    [
      "RESET with a reason",
      { type: "reset", streamId: 1, code: ErrorCode.UPSTREAM_TIMEOUT, message: "why" },
      [0x20, 1, 4, 0x24, 0x77, 0x68, 0x79],
    ],
    ["CREDIT", { type: "credit", streamId: 0, increment: 524_288 }, [0x30, 0, 4, 0x80, 0x08, 0, 0]],
    ["SETTINGS", { type: "settings", entries: [[2, 100]] }, [0x40, 0, 3, 2, 0x40, 0x64]],
    ["GO_AWAY", { type: "go-away", lastStreamId: 0, code: 1, message: "x" }, [0x50, 0, 3, 0, 1, 0x78]],
    ["PRIORITY", { type: "priority", streamId: 1, priority: { urgency: 0, incremental: false } }, [0x60, 1, 1, 0]],
    [
      "HELLO",
      { type: "hello", sessionId: new Uint8Array(16).fill(7), received: 5, next: 3, link: 9, resume: false },
      [0x80, 0, 19, ...Array<number>(16).fill(7), 5, 3, 9],
    ],
    [
      "HELLO on a later link",
      { type: "hello", sessionId: new Uint8Array(16).fill(7), received: 0, next: 0, link: 1, resume: true },
      [0x81, 0, 19, ...Array<number>(16).fill(7), 0, 0, 1],
    ],
    [
      "HELLO after the edge was heard",
      {
        type: "hello",
        sessionId: new Uint8Array(16).fill(7),
        received: 0,
        next: 0,
        link: 0,
        resume: true,
        isGreeted: true,
      },
      [0x83, 0, 19, ...Array<number>(16).fill(7), 0, 0, 0],
    ],
    ["ACK", { type: "ack", received: 300 }, [0x90, 0, 2, 0x41, 0x2c]],
    ["PING", { type: "ping", token: 9 }, [0xa0, 0, 1, 9]],
    ["PONG", { type: "pong", token: 9 }, [0xb0, 0, 1, 9]],
  ] as const)("%s", (_name, example, bytes) => {
    expect([...encodeFrame(example)]).toEqual(bytes);
    expect(decode(...bytes)).toEqual(example);
  });
});

test("any frame is written as the naive twin writes it, and comes back", () => {
  fc.assert(
    fc.property(frame, (frame) => {
      const bytes = encodeFrame(frame);
      expect([...bytes]).toEqual(naiveFrame(frame));
      const reader = new ByteReader(bytes);
      expect(decodeFrame(reader)).toEqual(frame);
      expect(reader.remaining).toBe(0);
    }),
  );
});

test("a batch comes back frame by frame", () => {
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 20 }), (frames) => {
      expect([...decodeMessage(concat(...frames.map((frame) => encodeFrame(frame))))]).toEqual(frames);
    }),
  );
});

test("a frame that is cut off is refused at every length", () => {
  fc.assert(
    fc.property(frame, (frame) => {
      const bytes = encodeFrame(frame);
      for (let length = 0; length < bytes.length; length += 1) {
        const error = thrownBy(() => decodeFrame(new ByteReader(bytes.subarray(0, length))));
        expect(error).toBeInstanceOf(RopewayError);
        expect(error).toMatchObject(malformed);
      }
    }),
  );
});

test("mutated bytes are frames or a typed error, and never read past the end", () => {
  const mutation = fc.record({ at: fc.nat(), to: fc.nat(255) });
  fc.assert(
    fc.property(frame, fc.array(mutation, { minLength: 1, maxLength: 4 }), (frame, mutations) => {
      const bytes = encodeFrame(frame);
      for (const { at, to } of mutations) bytes[at % bytes.length] = to;
      const reader = new ByteReader(bytes);
      try {
        while (reader.remaining > 0) decodeFrame(reader);
      } catch (error) {
        expect(error).toBeInstanceOf(RopewayError);
        expect(error).toMatchObject(malformed);
      }
      expect(reader.offset).toBeLessThanOrEqual(bytes.length);
    }),
    { numRuns: 2000 },
  );
});

describe("what a receiver refuses", () => {
  test.each([
    ["data on stream 0", [0x00, 0, 0]],
    ["a reset of stream 0", [0x20, 0, 1, 8]],
    ["a priority of stream 0", [0x60, 0, 1, 0]],
    ["a priority byte above 15", [0x60, 1, 1, 0x10]],
    ["a head's priority byte above 15", [0x13, 1, 1, 0xff]],
    ["a head without its priority byte", [0x13, 1, 0]],
    ["a reset without a code", [0x20, 1, 0]],
    ["a reset's reason that is not UTF-8", [0x20, 1, 3, 8, 0x61, 0xff]],
    ["a reset's reason that ends within a character", [0x20, 1, 3, 8, 0xe2, 0x82]],
    ["a reason of GO_AWAY that is not UTF-8", [0x50, 0, 3, 0, 1, 0x80]],
    ["bytes behind a credit", [0x30, 1, 2, 8, 8]],
    ["a setting without a value", [0x40, 0, 1, 2]],
    ["a HELLO with a short session id", [0x80, 0, 3, 1, 0, 0]],
    ["a credit without an increment", [0x30, 1, 0]],
  ])("%s", (_name, bytes) => {
    expect(refusal(...bytes)).toMatchObject(malformed);
  });

  test("a payload above the limit, before looking for it", () => {
    const bytes = new Uint8Array(6);
    writeVarint(bytes, 2, limits.framePayloadBytes + 1);
    bytes[1] = 1;
    expect(refusal(...bytes)).toMatchObject({ ...malformed, message: expect.stringContaining("above the limit") });
  });

  test("a head block above its limit", () => {
    const head = { type: "head", streamId: 1, end: true, priority: DEFAULT_PRIORITY } as const;
    const fits = encodeFrame({ ...head, block: new Uint8Array(limits.headBytes) });
    expect(decodeFrame(new ByteReader(fits))).toMatchObject({ type: "head" });
    const tooLong = encodeFrame({ ...head, block: new Uint8Array(limits.headBytes + 1) });
    expect(thrownBy(() => decodeFrame(new ByteReader(tooLong)))).toMatchObject(malformed);
  });

  test("more settings than the limit", () => {
    const entries = Array.from({ length: limits.settingsEntries + 1 }, (): [number, number] => [1, 1]);
    const bytes = encodeFrame({ type: "settings", entries });
    expect(thrownBy(() => decodeFrame(new ByteReader(bytes)))).toMatchObject(malformed);
  });

  test("a reason above 512 bytes; a sender cuts it", () => {
    expect(refusal(0x50, 0, 0x42, 0x03, 0, 1, ...Array<number>(513).fill(0x78))).toMatchObject(malformed);
    expect(refusal(0x20, 1, 0x42, 0x02, 8, ...Array<number>(513).fill(0x78))).toMatchObject(malformed);
    expect(decode(0x20, 1, 0x42, 0x01, 8, ...Array<number>(512).fill(0x78))).toMatchObject({ type: "reset" });
    const reasoned = [
      { type: "go-away", lastStreamId: 0, code: 1 },
      { type: "reset", streamId: 1, code: 1 },
    ] as const;
    for (const frame of reasoned) {
      const cut = encodeFrame({ ...frame, message: "x".repeat(600) });
      expect(decodeFrame(new ByteReader(cut))).toEqual({ ...frame, message: "x".repeat(512) });
      const cutBetween = encodeFrame({ ...frame, message: "€".repeat(600) });
      expect(decodeFrame(new ByteReader(cutBetween))).toEqual({ ...frame, message: "€".repeat(170) });
    }
  });

  test("a message above the limit", () => {
    const message = new Uint8Array(limits.messageBytes + 1);
    expect(thrownBy(() => decodeMessage(message).next())).toMatchObject(malformed);
  });
});

test("unknown types are passed over, and count if they are below 8", () => {
  expect(decode(0x70, 5, 2, 1, 2)).toEqual({ type: "unknown", sequenced: true });
  for (const type of [0xd0, 0xe0, 0xf0]) {
    expect(decode(type, 0, 1, 9)).toEqual({ type: "unknown", sequenced: false });
  }
});

test("unknown flags are ignored", () => {
  expect(decode(0x2c, 1, 1, 8)).toEqual({ type: "reset", streamId: 1, code: 8, message: "" });
});

test("exactly types 0 to 7 are sequenced", () => {
  fc.assert(
    fc.property(frame, (frame) => {
      expect(isSequenced(frame)).toBe((encodeFrame(frame)[0] ?? 0) >>> 4 < 8);
    }),
  );
});

test("payloads are views of the message, not copies", () => {
  const message = Uint8Array.of(0x00, 1, 2, 7, 8);
  const [data] = [...decodeMessage(message)];
  expect(data?.type === "data" && data.payload.buffer).toBe(message.buffer);
});

test("bytes that come one by one are one string, in a buffer of its length", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (parts) => {
      const gathered = new GatheredBytes();
      for (const _ of [1, 2]) {
        for (const part of parts) gathered.add(part);
        expect(gathered.length).toBe(concat(...parts).length);
        const whole = gathered.take();
        expect(whole).toEqual(concat(...parts));
        expect(whole.buffer.byteLength).toBe(whole.length);
      }
    }),
  );
});
