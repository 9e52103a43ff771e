/** Peers that break the rules of PROTOCOL.md sections 5 and 6: a stream ends for it, or the session; nothing else does. */
import { describe, expect, test } from "vitest";
import { ErrorCode } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { edge, GET, phone } from "../../testing/mux/hostile-peers.ts";
import { data, ScriptedPeer } from "../../testing/mux/scripted-peer.ts";
import { DEFAULT_PRIORITY, type HeaderField, type SequencedFrame } from "../../wire/frame.ts";

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
