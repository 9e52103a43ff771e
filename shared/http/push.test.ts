import { describe, expect, it, vi } from "vitest";
import { ErrorCode } from "../errors.ts";
import * as limits from "../limits.ts";
import { bodyOf, ConsumerLog, responseHead } from "../testing/http/exchange-rig.ts";
import { requestHead } from "../testing/http/request-heads.ts";
import { linkSessions } from "../testing/mux/linked-sessions.ts";
import { data, ScriptedPeer } from "../testing/mux/scripted-peer.ts";
import { sessionRig } from "../testing/mux/session-rig.ts";
import { StreamLog } from "../testing/mux/stream-log.ts";
import { thrownBy } from "../testing/thrown-by.ts";
import { settle } from "../testing/turns.ts";
import type { HeaderField, SequencedFrame } from "../wire/frame.ts";
import {
  fieldsToPush,
  type PushAnnouncement,
  parseAcceptPush,
  pushToFields,
  receivePush,
  servePush,
} from "./exchange.ts";
import { responseToFields } from "./head-fields.ts";

const LAST: SequencedFrame = {
  type: "priority",
  streamId: 2,
  priority: { urgency: 1, incremental: false },
};
const PUSH = { urgency: 7, incremental: false } as const;
const announcement: PushAnnouncement = {
  head: { ...requestHead, url: "https://cdn.example/a?b", destination: "image", mode: "no-cors" },
  document: "1:3",
};
const ANNOUNCED = pushToFields(announcement);
const RESPONSE = responseToFields(responseHead);

/** The same as decoded fields, which have no word on indexing. */
function decoded(fields: readonly (readonly [string, string, ...unknown[]])[]): HeaderField[] {
  return fields.map(([name, value]): HeaderField => [name, value]);
}

describe("an announcement", () => {
  it("reads as it was written", () => {
    expect(fieldsToPush(decoded(ANNOUNCED))).toEqual({
      ...announcement,
      head: { ...announcement.head, headers: [["accept", expect.any(String)]] },
    });
  });

  it.each<[string, readonly HeaderField[]]>([
    ["nothing", []],
    ["no document", decoded(ANNOUNCED).slice(1)],
    ["a document twice", [[":document", "0:1"], ...decoded(ANNOUNCED)]],
    ["a document in other words", [[":document", "1"], ...decoded(ANNOUNCED).slice(1)]],
    ["a document of many digits", [[":document", `0:${"1".repeat(16)}`], ...decoded(ANNOUNCED).slice(1)]],
    ["another method", decoded(pushToFields({ ...announcement, head: { ...announcement.head, method: "POST" } }))],
    ["a navigation", decoded(pushToFields({ ...announcement, head: { ...announcement.head, mode: "navigate" } }))],
    [
      "a message to the edge",
      decoded(pushToFields({ ...announcement, head: { ...announcement.head, url: "ropeway:///a" } })),
    ],
    [
      "no request",
      [
        [":document", "0:1"],
        [":path", "/"],
      ],
    ],
  ])("that says %s is malformed", (_, fields) => {
    expect(thrownBy(() => fieldsToPush(fields))).toMatchObject({ code: ErrorCode.PROTOCOL_ERROR, scope: "stream" });
  });
});

it.each([
  ["https", "https"],
  ["http", "http"],
  ["", null],
  ["HTTPS", null],
  ["https, http", null],
])("a session head with %j asks for pushes to pages on %s", (value, expected) => {
  expect(parseAcceptPush(value)).toBe(expected);
});

describe("a push", () => {
  it("brings a response without a request, and costs the phone's streams nothing", async () => {
    const consumer = new ConsumerLog();
    const linked = linkSessions({
      phone: {
        onPush(stream) {
          const onHead = (fields: readonly HeaderField[]) => {
            receivePush(stream, fieldsToPush(fields).head.url, consumer);
          };
          stream.handler = { onHead, onData() {}, onEnd() {}, onReset() {} };
        },
      },
    });
    const stream = linked.edge.streams.openPush(PUSH);
    if (stream === null) throw new Error("Cannot push: there is no room");
    servePush(stream, announcement, async () => ({ head: responseHead, body: bodyOf("body") }));
    expect(linked.phone.streams.hasRoom()).toBe(true);
    await consumer.over;
    expect([consumer.text, consumer.head?.url]).toEqual(["body", announcement.head.url]);
    await settle();
    expect([linked.phone.streams.count, linked.edge.streams.count]).toEqual([0, 0]);
    expect(linked.ended).toEqual({ phone: null, edge: null });
  });

  it("goes on where it was after a cut", () => {
    const pushes: StreamLog[] = [];
    const rig = sessionRig({ phone: { onPush: (stream) => pushes.push(new StreamLog(stream, true)) } });
    const stream = rig.edge.streams.openPush(PUSH);
    stream?.sendHead(ANNOUNCED, false);
    rig.flow();
    stream?.sendHead(RESPONSE, false);
    void stream?.write(new Uint8Array(100));
    rig.link.connect();
    stream?.end();
    rig.flow();
    expect(pushes.map(({ events }) => events)).toEqual([["head", "head", "data 100", "end"]]);
    expect(rig.ended).toEqual({ phone: null, edge: null });
  });

  it("has an id of its own after the edge has hibernated", () => {
    const ids: number[] = [];
    const rig = sessionRig({
      phone: {
        onPush(stream) {
          new StreamLog(stream, true);
          ids.push(stream.id);
        },
      },
    });
    for (const end of [false, false]) {
      const stream = rig.edge.streams.openPush(PUSH);
      stream?.sendHead(ANNOUNCED, end);
      stream?.sendHead(RESPONSE, true);
      rig.flow();
      rig.hibernateEdge();
    }
    expect(ids).toEqual([2, 4]);
    expect(rig.ended).toEqual({ phone: null, edge: null });
  });

  it("does not send more than its credit before it is claimed, and then as much as any stream", () => {
    const pushes: StreamLog[] = [];
    const rig = sessionRig({ phone: { onPush: (stream) => pushes.push(new StreamLog(stream)) } });
    const stream = rig.edge.streams.openPush(PUSH);
    stream?.sendHead(ANNOUNCED, false);
    stream?.sendHead(RESPONSE, false);
    void stream?.write(new Uint8Array(2 * limits.pushCreditBytes));
    rig.flow();
    expect(pushes[0]?.bytes).toBe(limits.pushCreditBytes);
    vi.spyOn(rig.phone.receiver, "streamWindow", "get").mockReturnValue(limits.streamCreditBytes);
    pushes[0]?.stream.widen();
    rig.flow();
    expect(pushes[0]?.bytes).toBeGreaterThan(limits.pushCreditBytes);
  });

  it("is one of at most so many", () => {
    const rig = sessionRig({ phone: { onPush: (stream) => void new StreamLog(stream) } });
    for (let open = 0; open < limits.concurrentPushes; open += 1)
      rig.edge.streams.openPush(PUSH)?.sendHead(ANNOUNCED, false);
    expect(rig.edge.streams.openPush(PUSH)).toBe(null);
    rig.flow();
    expect(rig.phone.streams.count).toBe(limits.concurrentPushes);
    expect(rig.phone.streams.hasRoom()).toBe(true);
  });
});

describe("an edge that breaks the rules", () => {
  function phone(): { peer: ScriptedPeer; pushes: StreamLog[] } {
    const pushes: StreamLog[] = [];
    return { peer: new ScriptedPeer("phone", { onPush: (stream) => pushes.push(new StreamLog(stream)) }), pushes };
  }

  it.each<[string, (peer: ScriptedPeer) => SequencedFrame[], ErrorCode]>([
    ["announces without a response", (peer) => [peer.head(2, ANNOUNCED)], ErrorCode.PROTOCOL_ERROR],
    [
      "sends data before the response",
      (peer) => [peer.head(2, ANNOUNCED, false), data(2, 1)],
      ErrorCode.PROTOCOL_ERROR,
    ],
    [
      "answers twice",
      (peer) => [peer.head(2, ANNOUNCED, false), peer.head(2, RESPONSE, false), peer.head(2, RESPONSE, false)],
      ErrorCode.PROTOCOL_ERROR,
    ],
    [
      "sends beyond the push's credit",
      (peer) => [
        peer.head(2, ANNOUNCED, false),
        peer.head(2, RESPONSE, false),
        ...Array.from({ length: limits.pushCreditBytes / 32_768 + 1 }, () => data(2, 32_768)),
      ],
      ErrorCode.FLOW_CONTROL_ERROR,
    ],
  ])("and %s loses the push", (_, frames, code) => {
    const { peer, pushes } = phone();
    const answers = frames(peer).flatMap((frame) => peer.say(frame));
    expect(answers).toContainEqual(expect.objectContaining({ type: "reset", streamId: 2, code }));
    expect([pushes[0]?.error?.code, peer.errors, peer.session.streams.count]).toEqual([code, [], 0]);
  });

  it("is told that a push too many is refused", () => {
    const { peer, pushes } = phone();
    const last = 2 * limits.concurrentPushes + 2;
    for (let id = 2; id < last; id += 2) peer.say(peer.head(id, ANNOUNCED, false));
    expect(peer.say(peer.head(last, ANNOUNCED, false))).toMatchObject([
      { type: "reset", streamId: last, code: ErrorCode.REFUSED_STREAM },
    ]);
    expect([pushes.length, peer.errors]).toEqual([limits.concurrentPushes, []]);
  });

  it("does not bring back a push that is over", () => {
    const { peer, pushes } = phone();
    peer.say(peer.head(4, ANNOUNCED, false));
    pushes[0]?.stream.reset(ErrorCode.CANCEL);
    expect(peer.say(peer.head(4, RESPONSE, false), data(4, 10), peer.head(2, ANNOUNCED, false))).toMatchObject([
      { type: "reset", streamId: 4 },
    ]);
    expect([pushes.length, peer.errors]).toEqual([1, []]);
    expect(peer.session.receiver.window.unread).toBe(0);
  });

  it.each<[string, (peer: ScriptedPeer) => SequencedFrame]>([
    ["data for a push that it never announced", () => data(2, 1)],
    ["a priority for one", () => LAST],
  ])("and sends %s loses the session", (_, frame) => {
    const { peer } = phone();
    peer.say(frame(peer));
    expect(peer.errors).toMatchObject([{ code: ErrorCode.PROTOCOL_ERROR, scope: "session" }]);
  });

  it("loses the session when the phone takes no pushes", () => {
    const peer = new ScriptedPeer("phone");
    peer.say(peer.head(2, ANNOUNCED, false));
    expect(peer.errors).toMatchObject([{ code: ErrorCode.PROTOCOL_ERROR, scope: "session" }]);
  });
});

it("a phone that pushes loses its session", () => {
  const peer = new ScriptedPeer("edge", { onPush: (stream) => void new StreamLog(stream) });
  peer.say(peer.head(2, ANNOUNCED, false));
  expect(peer.errors).toMatchObject([{ code: ErrorCode.PROTOCOL_ERROR, scope: "session" }]);
});

it("a phone that answers on a push loses the push", () => {
  const peer = new ScriptedPeer("edge");
  const log = new StreamLog(peer.session.streams.openPush(PUSH) ?? (undefined as never));
  log.stream.sendHead(ANNOUNCED, false);
  peer.heard();
  expect(peer.say(peer.head(2, RESPONSE))).toMatchObject([{ type: "reset", code: ErrorCode.STREAM_CLOSED }]);
  expect([log.error?.code, peer.errors]).toEqual([ErrorCode.STREAM_CLOSED, []]);
});
