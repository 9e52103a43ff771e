/** Peers that break the rules of PROTOCOL.md sections 5 and 6: a stream ends for it, or the session; nothing else does. */
import { describe, expect, test } from "vitest";
import { ErrorCode } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { data, ScriptedPeer } from "../../testing/scripted-peer.ts";
import { StreamLog } from "../../testing/stream-log.ts";
import { DEFAULT_PRIORITY, type Frame, type SequencedFrame } from "../../wire/frame.ts";
import type { HeaderField } from "../../wire/hpack/field.ts";
import { snapshotOf } from "./session-snapshot.ts";

const GET: readonly HeaderField[] = [[":method", "GET"]];

interface Edge extends ScriptedPeer {
  readonly streams: StreamLog[];
}

/** An edge whose phone is played by the test; streams consume nothing unless told to. */
function edge(consume = false): Edge {
  const streams: StreamLog[] = [];
  const peer = new ScriptedPeer("edge", { onStream: (stream) => streams.push(new StreamLog(stream, consume)) });
  return Object.assign(peer, { streams });
}

/** An edge that has 5,000 bytes to answer to stream 1, which has so much credit. */
function respondingEdge(credit: number): Edge {
  const peer = edge();
  peer.say({ type: "settings", entries: [[1, credit]] }, peer.head(1, GET));
  const stream = peer.streams[0]?.stream;
  stream?.sendHead([[":status", "200"]], false);
  stream?.write(new Uint8Array(5000)).catch(() => {});
  return peer;
}

/** A phone with one request under way; its edge is played by the test. */
function phone(): { peer: ScriptedPeer; log: StreamLog } {
  const peer = new ScriptedPeer("phone");
  const log = new StreamLog(peer.session.streams.openNow());
  log.stream.sendHead(GET, true);
  peer.heard();
  return { peer, log };
}

/** How much session credit the phone may still use up: sends on a closed stream, which the edge discards. */
function creditIsWhole(peer: Edge, streamId: number): void {
  const answers: number[] = [];
  for (let sent = 0; sent < limits.uploadSessionCreditBytes; sent += 16_384) {
    for (const frame of peer.say(data(streamId, 16_384))) if (frame.type === "credit") answers.push(frame.increment);
  }
  expect(peer.errors).toEqual([]);
  expect(answers.reduce((sum, increment) => sum + increment, 0)).toBeGreaterThanOrEqual(
    limits.uploadSessionCreditBytes / 2,
  );
}

describe("stream ids", () => {
  const frames: readonly [string, (streamId: number) => SequencedFrame][] = [
    ["data", (streamId) => data(streamId, 1)],
    ["a reset", (streamId) => ({ type: "reset", streamId, code: 8, message: "" })],
    ["credit", (streamId) => ({ type: "credit", streamId, increment: 1 })],
    ["a priority", (streamId) => ({ type: "priority", streamId, priority: DEFAULT_PRIORITY })],
  ];

  test.each(frames)("%s for a stream that was never opened ends the session", (_name, frame) => {
    for (const streamId of [1, 2, 5, Number.MAX_SAFE_INTEGER]) {
      const peer = edge();
      peer.say(frame(streamId));
      expect(peer.errors).toMatchObject([{ code: ErrorCode.PROTOCOL_ERROR, scope: "session", initiator: "peer" }]);
    }
  });

  test.each(frames)("%s for a stream that is over is ignored", (_name, frame) => {
    const peer = edge();
    peer.say(peer.head(1, GET), { type: "reset", streamId: 1, code: 8, message: "" });
    peer.say(frame(1));
    expect(peer.errors).toEqual([]);
  });

  test("even ones are the edge's: a phone that opens one ends the session", () => {
    const peer = edge();
    peer.say(peer.head(2, GET));
    expect(peer.errors).toMatchObject([{ code: ErrorCode.PROTOCOL_ERROR }]);
  });

  test("an edge that opens a stream ends the session", () => {
    for (const streamId of [2, 3]) {
      const { peer } = phone();
      peer.say(peer.head(streamId, GET));
      expect(peer.errors).toMatchObject([{ code: ErrorCode.PROTOCOL_ERROR }]);
    }
  });

  test("may be skipped, and what was skipped is closed", () => {
    const peer = edge();
    peer.say(peer.head(9, GET), peer.head(5, GET), data(3, 10));
    expect(peer.streams.map((log) => log.stream.id)).toEqual([9]);
    expect(peer.errors).toEqual([]);
  });

  test("at the very end of the numbers are ids like others", () => {
    const peer = edge();
    peer.say(peer.head(Number.MAX_SAFE_INTEGER, GET));
    expect(peer.streams).toHaveLength(1);
  });
});

describe("heads", () => {
  test("beyond the limit on streams are refused, and the header table stays in step", () => {
    const peer = edge();
    for (let index = 0; index < limits.concurrentStreams; index += 1) peer.say(peer.head(2 * index + 1, GET, false));
    const next = 2 * limits.concurrentStreams + 1;
    const refused = peer.say(peer.head(next, [["x-new", "one"]], false), data(next, 1000));
    expect(refused).toContainEqual({ type: "reset", streamId: next, code: ErrorCode.REFUSED_STREAM, message: "" });
    expect(peer.streams).toHaveLength(limits.concurrentStreams);
    peer.say({ type: "reset", streamId: 1, code: 8, message: "" }, peer.head(next + 2, [["x-new", "one"]]));
    expect(peer.streams.at(-1)?.fields).toEqual([["x-new", "one"]]);
    expect(peer.session.streams.count).toBe(limits.concurrentStreams);
  });

  test("of too many fields end their stream, and the next one decodes", () => {
    const peer = edge();
    const many = Array.from({ length: limits.headFields + 1 }, (_, index): HeaderField => [`x-${index % 60}`, "v"]);
    expect(peer.say(peer.head(1, many, false))).toEqual([
      { type: "reset", streamId: 1, code: ErrorCode.ENHANCE_YOUR_CALM, message: expect.stringMatching(/^Cannot /) },
    ]);
    peer.say(peer.head(3, [["x-59", "v"]]));
    expect(peer.streams[1]?.fields).toEqual([["x-59", "v"]]);
    expect(peer.session.streams.count).toBe(1);
  });

  test("of few bytes that stand for many end their stream", () => {
    const peer = edge();
    const large: HeaderField = ["x-large", "v".repeat(3000)];
    const index = peer.encoder.encode([[...large, "incremental"]]);
    peer.say({ type: "head", streamId: 1, end: true, priority: DEFAULT_PRIORITY, block: index });
    const block = new Uint8Array(limits.headBytes).fill(0x80 | 62);
    const answer = peer.say({ type: "head", streamId: 3, end: true, priority: DEFAULT_PRIORITY, block });
    expect(answer).toContainEqual({
      type: "reset",
      streamId: 3,
      code: ErrorCode.ENHANCE_YOUR_CALM,
      message: expect.stringMatching(/^Cannot /),
    });
    expect(peer.errors).toEqual([]);
  });

  test("that are no HPACK end the session", () => {
    const peer = edge();
    const block = Uint8Array.of(0x80);
    peer.say({ type: "head", streamId: 1, end: true, priority: DEFAULT_PRIORITY, block });
    expect(peer.errors).toMatchObject([{ code: ErrorCode.COMPRESSION_ERROR, scope: "session" }]);
  });

  test("of the session above the limits end the session; from the edge any does", () => {
    const peer = edge();
    peer.say(
      peer.head(
        0,
        Array.from({ length: limits.headFields + 1 }, (): HeaderField => ["a", "b"]),
      ),
    );
    expect(peer.errors).toMatchObject([{ code: ErrorCode.ENHANCE_YOUR_CALM, scope: "session" }]);
    const other = phone();
    other.peer.say(other.peer.head(0, [["user-agent", "x"]]));
    expect(other.peer.errors).toMatchObject([{ code: ErrorCode.PROTOCOL_ERROR }]);
  });

  test("of the session may come again, and open no stream", () => {
    const seen: unknown[] = [];
    const peer = new ScriptedPeer("edge", { onSessionHead: (fields) => seen.push(fields) });
    peer.say(peer.head(0, [["user-agent", "a"]]), peer.head(0, [["user-agent", "b"]]));
    expect(seen).toEqual([[["user-agent", "a"]], [["user-agent", "b"]]]);
    expect(peer.session.streams.count).toBe(0);
  });

  test("a second one that is no trailers ends the stream", () => {
    const { peer, log } = phone();
    peer.say(peer.head(1, [[":status", "200"]], false), peer.head(1, [[":status", "200"]], false));
    expect(log.events).toEqual(["head", "reset"]);
    expect(log.error).toMatchObject({ code: ErrorCode.PROTOCOL_ERROR, scope: "stream", initiator: "peer" });
    expect(peer.errors).toEqual([]);
  });

  test("a stream that is given up in the middle of its head hears no more", () => {
    const { peer, log } = phone();
    log.stream.handler = {
      onHead: () => log.stream.reset(ErrorCode.CANCEL),
      onData: () => log.events.push("data"),
      onEnd: () => log.events.push("end"),
      onReset: () => log.events.push("reset"),
    };
    expect(peer.say(peer.head(1, [[":status", "200"]], true))).toEqual([
      { type: "reset", streamId: 1, code: ErrorCode.CANCEL, message: "" },
    ]);
    expect(log.events).toEqual([]);
  });
});

describe("data", () => {
  test("beyond the stream's credit ends the stream, and gives the session's credit back", () => {
    const peer = edge();
    peer.say(peer.head(1, GET, false));
    let answer: unknown[] = [];
    for (let sent = 0; sent <= limits.uploadStreamCreditBytes; sent += 32_768) answer = peer.say(data(1, 32_768));
    expect(answer).toContainEqual({
      type: "reset",
      streamId: 1,
      code: ErrorCode.FLOW_CONTROL_ERROR,
      message: expect.stringMatching(/^Cannot /),
    });
    expect(peer.streams[0]?.error).toMatchObject({ code: ErrorCode.FLOW_CONTROL_ERROR, scope: "stream" });
    creditIsWhole(peer, 1);
  });

  test("beyond the session's credit ends the session", () => {
    const peer = edge();
    for (let index = 0; index < 5; index += 1) {
      peer.say(peer.head(2 * index + 1, GET, false));
      for (let sent = 0; sent < limits.uploadStreamCreditBytes; sent += 32_768) peer.say(data(2 * index + 1, 32_768));
    }
    expect(peer.errors).toMatchObject([{ code: ErrorCode.FLOW_CONTROL_ERROR, scope: "session" }]);
  });

  test("after the peer's end resets the stream, and gives the session's credit back", () => {
    const peer = edge();
    peer.say(peer.head(1, GET, true));
    expect(peer.say(data(1, 1000))).toEqual([
      { type: "reset", streamId: 1, code: ErrorCode.STREAM_CLOSED, message: expect.stringMatching(/^Cannot /) },
    ]);
    creditIsWhole(peer, 1);
  });

  test("before a head resets the stream, and gives the session's credit back", () => {
    const { peer, log } = phone();
    expect(peer.say(data(1, 32_768))).toContainEqual({
      type: "reset",
      streamId: 1,
      code: ErrorCode.PROTOCOL_ERROR,
      message: expect.stringMatching(/^Cannot /),
    });
    expect(log.error).toMatchObject({ code: ErrorCode.PROTOCOL_ERROR });
    let given = 0;
    for (let sent = 0; sent < 2 * limits.sessionCreditBytes; sent += 32_768) {
      for (const frame of peer.say(data(1, 32_768))) if (frame.type === "credit") given += frame.increment;
    }
    expect(peer.errors).toEqual([]);
    expect(given).toBeGreaterThanOrEqual(limits.sessionCreditBytes);
  });

  test("of no bytes is of no account", () => {
    const peer = edge();
    peer.say(peer.head(1, GET, false), ...Array<SequencedFrame>(10_000).fill(data(1, 0)));
    expect(peer.streams[0]?.events).toEqual(["head"]);
    expect(peer.errors).toEqual([]);
  });

  test("that is never consumed is bounded by the credit of the session", () => {
    const peer = edge();
    let taken = 0;
    for (let streamId = 1; peer.errors.length === 0; streamId += 2) {
      peer.say(peer.head(streamId, GET, false));
      for (let sent = 0; sent < limits.uploadStreamCreditBytes; sent += 32_768) peer.say(data(streamId, 32_768));
      taken = peer.streams.reduce((sum, log) => sum + log.bytes, 0);
    }
    expect(taken).toBeLessThanOrEqual(limits.uploadSessionCreditBytes);
  });

  test("of a byte each, never consumed, ends the stream that brings too many", () => {
    const peer = edge();
    const bytes = (count: number): SequencedFrame[] => Array<SequencedFrame>(count).fill(data(1, 1));
    const said: Frame[] = [];
    peer.say(peer.head(1, GET, false));
    for (let sent = 0; sent <= limits.unreadPieces; sent += 1024) said.push(...peer.say(...bytes(1024)));
    expect(said).toContainEqual(expect.objectContaining({ type: "reset", code: ErrorCode.ENHANCE_YOUR_CALM }));
    expect(peer.streams[0]?.bytes).toBe(limits.unreadPieces);
    peer.say(peer.head(3, GET, false), data(3, 1));
    expect([peer.streams[1]?.bytes, peer.errors]).toEqual([1, []]);
  });

  test("does not keep the message that it came in when it is a small part of it", () => {
    const peer = edge();
    peer.say(peer.head(1, GET, false), peer.head(3, GET, false));
    const kept: number[] = [];
    for (const { stream } of peer.streams) {
      stream.handler = {
        onHead() {},
        onData: (chunk) => kept.push(chunk.buffer.byteLength - chunk.length),
        onEnd() {},
        onReset() {},
      };
    }
    peer.say(data(1, 1), data(3, 20_000), data(1, 5_000));
    expect([kept[0], kept[2]]).toEqual([0, 0]);
    expect(kept[1]).toBeGreaterThan(5_000);
  });
});

describe("credit", () => {
  test.each([
    ["nothing", 0, ErrorCode.PROTOCOL_ERROR],
    ["more than a window may hold", limits.creditBytes, ErrorCode.FLOW_CONTROL_ERROR],
    ["an absurd amount", Number.MAX_SAFE_INTEGER, ErrorCode.FLOW_CONTROL_ERROR],
  ])("of %s ends the stream, or for stream 0 the session", (_name, increment, code) => {
    const peer = edge();
    const answer = peer.say(peer.head(1, GET), { type: "credit", streamId: 1, increment });
    expect(answer).toEqual([{ type: "reset", streamId: 1, code, message: expect.stringMatching(/^Cannot /) }]);
    expect(peer.errors).toEqual([]);
    peer.say({ type: "credit", streamId: 0, increment });
    expect(peer.errors).toMatchObject([{ code, scope: "session" }]);
  });

  test("lowered by SETTINGS stops senders, and raised lets them go on", () => {
    const peer = respondingEdge(1000);
    const sent = (): number =>
      peer.heard().reduce((sum, frame) => sum + (frame.type === "data" ? frame.payload.length : 0), 0);
    expect(sent()).toBe(1000);
    peer.session.channel.receive(new Uint8Array(0), peer.transport);
    expect(sent()).toBe(0);
    const raised = peer.say({ type: "settings", entries: [[1, 3000]] });
    expect(raised).toMatchObject([{ type: "data", payload: { length: 2000 } }]);
    const lowered = peer.say({ type: "settings", entries: [[1, 0]] }, { type: "credit", streamId: 1, increment: 3500 });
    expect(lowered).toMatchObject([{ type: "data", payload: { length: 500 } }]);
  });

  test("raised and lowered in turns in one message lets nothing go in between", () => {
    const peer = respondingEdge(0);
    peer.heard();
    const turns = Array.from({ length: 100 }, (_, turn): Frame & { type: "settings" } => ({
      type: "settings",
      entries: [[1, turn % 2 === 0 ? 3000 : 1000]],
    }));
    const sent = peer.say(...turns).filter(({ type }) => type === "data");
    expect(sent).toMatchObject([{ payload: { length: 1000 } }]);
  });

  test("raised by SETTINGS beyond what a window may hold ends the session", () => {
    for (const entries of [[[1, limits.creditBytes + 1]], [[1, limits.creditBytes]]] as const) {
      const peer = edge();
      peer.say(peer.head(1, GET), { type: "credit", streamId: 1, increment: 1000 }, { type: "settings", entries });
      expect(peer.errors).toMatchObject([{ code: ErrorCode.FLOW_CONTROL_ERROR, scope: "session" }]);
    }
  });
});

describe("settings", () => {
  test("that this version does not know are ignored", () => {
    const peer = edge();
    peer.say({
      type: "settings",
      entries: [
        [77, 5],
        [0, 0],
      ],
    });
    expect(peer.errors).toEqual([]);
  });

  test("of fewer streams are kept to, and of none count as one", async () => {
    const { peer, log } = phone();
    peer.say({ type: "settings", entries: [[2, 0]] });
    expect(peer.session.streams.hasRoom).toBe(false);
    const waiting = peer.session.streams.open();
    log.stream.reset(ErrorCode.CANCEL);
    await waiting;
    expect(peer.session.streams.count).toBe(1);
  });

  test("survive hibernation", () => {
    const peer = edge();
    peer.say({
      type: "settings",
      entries: [
        [1, 1000],
        [2, 3],
      ],
    });
    expect(snapshotOf(peer.session)).toMatchObject({ peerStreamCredit: 1000, peerConcurrentStreams: 3 });
  });
});

test("a reset with a code of the future counts as an internal error", () => {
  const { peer, log } = phone();
  peer.say({ type: "reset", streamId: 1, code: 0xbeef, message: "" });
  expect(log.error).toMatchObject({ code: ErrorCode.INTERNAL_ERROR, scope: "stream", initiator: "peer" });
});

test("streams opened and reset without end leave nothing behind, and cost the phone its session if it never answers", () => {
  const peer = edge();
  for (let streamId = 1; streamId < 20_001; streamId += 2) {
    peer.say(peer.head(streamId, GET, false), { type: "reset", streamId, code: 8, message: "" });
  }
  expect(peer.session.streams.count).toBe(0);
  expect(peer.session.channel.retained.count).toBe(0);
  for (let index = 0; index < limits.concurrentStreams; index += 1) {
    peer.say(peer.head(30_001 + 2 * index, GET, false));
  }
  let streamId = 40_001;
  while (peer.errors.length === 0) {
    peer.say(peer.head(streamId, GET), peer.head(streamId + 2, GET), peer.head(streamId + 4, GET));
    streamId += 6;
  }
  expect(peer.errors).toMatchObject([{ code: ErrorCode.ENHANCE_YOUR_CALM, scope: "session" }]);
});
