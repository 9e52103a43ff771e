/** Peers that break the rules of data, credit and settings: PROTOCOL.md sections 5 and 6. */
import { describe, expect, test } from "vitest";
import { ErrorCode } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { creditIsWhole, edge, GET, phone, respondingEdge } from "../../testing/mux/hostile-peers.ts";
import { data } from "../../testing/mux/scripted-peer.ts";
import type { Frame, SequencedFrame } from "../../wire/frame.ts";
import { snapshotOf } from "./session.ts";

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
    for (let index = 0; index < 17; index += 1) {
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
    expect(taken).toBeLessThanOrEqual(limits.uploadUnreadBytes);
  });

  test("of a byte each, never consumed, ends the stream that brings too many", () => {
    const peer = edge();
    const bytes = (count: number): SequencedFrame[] => Array<SequencedFrame>(count).fill(data(1, 1));
    const said: Frame[] = [];
    peer.say(peer.head(1, GET, false));
    for (let sent = 0; sent <= limits.unreadPieces; sent += 1024) said.push(...peer.say(...bytes(1024)));
    expect(said).toContainEqual(expect.objectContaining({ type: "reset", code: ErrorCode.ENHANCE_YOUR_CALM }));
    expect(peer.streams[0]?.bytes).toBe((3 / 4) * limits.unreadPieces);
    peer.say(peer.head(3, GET, false), data(3, 1));
    expect([peer.streams[1]?.bytes, peer.errors]).toEqual([1, []]);
  });

  test("does not keep the message that it came in when it is a part of it", () => {
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
    peer.say(data(1, 1), data(3, 20_000), data(1, 500));
    expect([kept[0], kept[2]]).toEqual([0, 0]);
    expect(kept[1]).toBeGreaterThan(500);
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
    expect(peer.session.streams.hasRoom()).toBe(false);
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
