import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ErrorCode, RopewayError } from "../errors.ts";
import * as limits from "../limits.ts";
import { requestHead } from "../testing/http/request-heads.ts";
import { thrownBy } from "../testing/thrown-by.ts";
import { concat } from "../wire/frame.ts";
import { fieldsToRequest, requestToFields } from "./head-fields.ts";
import {
  encodeSocketClose,
  encodeSocketPart,
  isCloseCode,
  type SocketEvent,
  SocketRecordReader,
} from "./socket-records.ts";

const text = (value: string): SocketEvent => ({ kind: "text", bytes: new TextEncoder().encode(value), isLast: true });

function encode(event: SocketEvent): Uint8Array {
  return event.kind === "close" ? encodeSocketClose(event) : concat(...encodeSocketPart(event));
}

/** Parts of a message as one. */
function joined(events: readonly SocketEvent[]): SocketEvent[] {
  const whole: SocketEvent[] = [];
  for (const event of events) {
    const last = whole.at(-1);
    if (event.kind === "close" || last === undefined || last.kind === "close" || last.isLast) whole.push(event);
    else whole.splice(-1, 1, { ...event, bytes: concat(last.bytes, event.bytes) });
  }
  return whole;
}

const read = (...bytes: readonly number[]): SocketEvent[] => [...new SocketRecordReader().read(Uint8Array.from(bytes))];

const event: fc.Arbitrary<SocketEvent> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }).map((value) => text(value.toWellFormed())),
  fc.oneof(fc.nat(50), fc.nat(150_000)).map(
    (length): SocketEvent => ({
      kind: "binary",
      bytes: Uint8Array.from({ length }, (_, index) => index % 251),
      isLast: true,
    }),
  ),
);

/** Long arrays are compared as text, which is quick. */
const shown = (each: SocketEvent) =>
  each.kind === "close" ? each : `${each.kind} ${Buffer.from(each.bytes).toString("latin1")}`;

test("the examples of PROTOCOL.md section 5.11", () => {
  const examples: [SocketEvent, number[]][] = [
    [text("hi"), [0x01, 2, 0x68, 0x69]],
    [{ kind: "binary", bytes: new Uint8Array(0), isLast: true }, [0x02, 0]],
    [{ kind: "close", code: 1000, reason: "x" }, [0x08, 3, 0x03, 0xe8, 0x78]],
    [{ kind: "close", code: null, reason: "" }, [0x08, 0]],
  ];
  for (const [example, bytes] of examples) {
    expect([...encode(example)]).toEqual(bytes);
    expect(read(...bytes)).toEqual([example]);
  }
  expect(joined(read(0x11, 1, 0xc3, 0x01, 1, 0xa4))).toEqual([text("ä")]);
});

test("messages and their order come back however their bytes are cut", () => {
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 6 }),
      fc.array(fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 90_000 })), { minLength: 2 }),
      (events, cuts) => {
        const bytes = concat(...events.map(encode));
        const reader = new SocketRecordReader();
        const got: SocketEvent[] = [];
        for (let offset = 0, turn = 0; offset < bytes.length; turn += 1) {
          const length = cuts[turn % cuts.length] ?? 1;
          got.push(...reader.read(bytes.subarray(offset, offset + length)));
          offset += length;
        }
        expect(joined(got).map(shown)).toEqual(events.map(shown));
        expect(reader.heldBytes).toBe(0);
      },
    ),
  );
});

test("a long message leaves in parts, each of which fits a record", () => {
  const bytes = new Uint8Array(3 * limits.socketRecordBytes + 1);
  const parts = [...encodeSocketPart({ kind: "binary", bytes, isLast: true })];
  expect(parts.map((part) => part.length)).toEqual([65_541, 65_541, 65_541, 3]);
});

describe("a hostile peer", () => {
  const wrong: Readonly<Record<string, readonly number[]>> = {
    "an unknown kind": [0x03, 0],
    "a close in parts": [0x18, 0],
    "a close with one byte": [0x08, 1, 3],
    "a close with 1005": [0x08, 2, 0x03, 0xed],
    "a close with 1006": [0x08, 2, 0x03, 0xee],
    "a close with 1015": [0x08, 2, 0x03, 0xf7],
    "a close with 999": [0x08, 2, 0x03, 0xe7],
    "a close that is too long": [0x08, 0x40, 126],
    "a reason that is no UTF-8": [0x08, 3, 0x03, 0xe8, 0xff],
    "a record that promises too much": [0x02, 0x80, 0x01, 0x00, 0x01],
    "text that is no UTF-8": [0x01, 1, 0xff],
    "text cut inside a character": [0x01, 1, 0xc3],
    "text in parts that is cut inside a character": [0x11, 1, 0xc3, 0x01, 0],
    "a message that changes its kind": [0x11, 0, 0x02, 0],
    "a close within a message": [0x11, 0, 0x08, 0],
    "more behind its close": [0x08, 0, 0x01, 0],
  };
  for (const [name, bytes] of Object.entries(wrong))
    test(`is refused ${name}`, () => {
      const error = thrownBy(() => read(...bytes)) as RopewayError;
      expect(error).toBeInstanceOf(RopewayError);
      expect([error.code, error.scope]).toEqual([ErrorCode.PROTOCOL_ERROR, "stream"]);
    });

  test("gets no memory for what it promises, and no endless message", () => {
    const reader = new SocketRecordReader();
    expect([...reader.read(Uint8Array.of(0x12, 0x80, 0x01, 0x00, 0x00, 1, 2, 3))]).toEqual([]);
    expect(reader.heldBytes).toBe(3);
    const part = concat(Uint8Array.of(0x12, 0x80, 0x01, 0x00, 0x00), new Uint8Array(limits.socketRecordBytes));
    const endless = new SocketRecordReader();
    const error = thrownBy(() => {
      for (let sent = 0; sent <= 2 * limits.socketMessageBytes; sent += part.length) [...endless.read(part)];
    });
    expect((error as RopewayError).code).toBe(ErrorCode.ENHANCE_YOUR_CALM);
  });

  test("may send anything: what is read is whole, or refused", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const reader = new SocketRecordReader();
        try {
          for (const each of reader.read(bytes))
            if (each.kind === "close" && each.code !== null) isCloseCode(each.code);
        } catch (error) {
          expect(error).toBeInstanceOf(RopewayError);
        }
        expect(reader.heldBytes).toBeLessThanOrEqual(bytes.length);
      }),
    );
  });
});

test("codes that are never said are not sent either", () => {
  for (const code of [999, 1004, 1005, 1006, 1015, 1016, 2999, 5000])
    expect(thrownBy(() => encodeSocketClose({ code, reason: "" }))).toBeInstanceOf(RopewayError);
});

describe("the head of a socket", () => {
  const head = { ...requestHead, method: "CONNECT", protocol: "websocket", credentials: "include" } as const;

  test("comes back", () => {
    expect(fieldsToRequest(requestToFields(head).map(([name, value]) => [name, value]))).toEqual(head);
  });

  test("is refused for another protocol, and for another method", () => {
    for (const [method, protocol] of [
      ["CONNECT", "connect-udp"],
      ["GET", "websocket"],
    ]) {
      const fields = requestToFields(head).map(([name, value]): [string, string] => {
        if (name === ":method") return [name, method as string];
        return [name, name === ":protocol" ? (protocol as string) : value];
      });
      expect((thrownBy(() => fieldsToRequest(fields)) as RopewayError).code).toBe(ErrorCode.PROTOCOL_ERROR);
    }
  });
});
