import { describe, expect, test } from "vitest";
import { ErrorCode, RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { statusOf } from "../../testing/mux/channel-status.ts";
import { connected, hello, request } from "../../testing/mux/channelled-sessions.ts";
import { TEST_SESSION_ID } from "../../testing/mux/linked-sessions.ts";
import { messageOf, ScriptedTransport } from "../../testing/mux/scripted-transport.ts";
import { OK } from "../../testing/mux/session-rig.ts";
import { SessionSockets } from "../../testing/mux/session-sockets.ts";
import type { StreamLog } from "../../testing/mux/stream-log.ts";
import { thrownBy } from "../../testing/thrown-by.ts";
import { resumeChannel } from "./channel-set.ts";
import { Session, snapshotOf } from "./session.ts";

describe("channels", () => {
  test("beyond the first wait until the edge was heard, so that it knows their session", () => {
    const sockets = new SessionSockets({ experiment: { channels: 2 } });
    sockets.connect(1);
    sockets.connect(0);
    sockets.turn();
    expect(sockets.deliver(1, "up")).toBe(false);
    sockets.flow();
    expect(statusOf(sockets.edge).map(({ isAttached }) => isAttached)).toEqual([true, true]);
    expect(sockets.ended).toEqual({ phone: null, edge: null });
  });

  test("that are cut hold back their own streams only, and go on where they were", () => {
    const sockets = connected(2);
    const logs = [request(sockets), request(sockets)];
    sockets.flow();
    sockets.cut(0);
    for (const { stream } of sockets.accepted) {
      stream.sendHead(OK, false);
      void stream.write(new Uint8Array(900_000));
      stream.end();
    }
    sockets.flow();
    expect(logs.map(({ bytes }) => bytes)).toEqual([0, 900_000]);
    sockets.connect(0);
    sockets.flow();
    expect(logs.map(({ bytes, events }) => [bytes, events.at(-1)])).toEqual([
      [900_000, "end"],
      [900_000, "end"],
    ]);
  });

  test("that are cut with all the credit under way leave the others enough to go on", () => {
    const sockets = connected(2);
    const stuck = request(sockets);
    sockets.flow();
    sockets.accepted[0]?.stream.sendHead(OK, false);
    sockets.accepted[0]?.stream.write(new Uint8Array(900_000)).catch(() => {});
    sockets.turn();
    sockets.cut(0);
    const other = request(sockets);
    sockets.flow();
    expect([stuck, other].map(({ stream }) => stream.channelIndex)).toEqual([0, 1]);
    sockets.accepted[1]?.stream.sendHead(OK, false);
    void sockets.accepted[1]?.stream.write(new Uint8Array(100_000));
    sockets.accepted[1]?.stream.end();
    request(sockets);
    sockets.flow();
    expect(other.bytes).toBe(100_000);
    sockets.connect(0);
    sockets.flow();
    expect(stuck.bytes).toBe(900_000);
  });

  test("keep no more together than one may, whatever credit a peer gives that acknowledges nothing", () => {
    const sockets = connected(3);
    for (let index = 0; index < 3; index += 1) request(sockets);
    sockets.flow();
    sockets.edge.sender.grant(limits.creditBytes / 2);
    for (const { stream } of sockets.accepted) {
      stream.receiveCredit(limits.creditBytes / 2);
      stream.sendHead(OK, false);
      stream.write(new Uint8Array(limits.retainedBytes)).catch(() => {});
    }
    expect(sockets.edge.channels.unacknowledgedBytes).toBeGreaterThan(0.9 * limits.retainedDataBytes);
    expect(sockets.edge.channels.unacknowledgedBytes).toBeLessThan(limits.retainedDataBytes + 3 * limits.batchBytes);
    let frames = 0;
    while (sockets.edge.ended === null) {
      for (const { stream } of sockets.accepted) sockets.edge.channels.of(stream).sendCredit(stream.id, 1);
      frames += 3;
    }
    expect(frames).toBeLessThan((limits.retainedBytes - limits.retainedDataBytes) / limits.retainedFrameBytes + 3);
    expect(sockets.edge.ended).toMatchObject({ code: ErrorCode.ENHANCE_YOUR_CALM });
  });

  test("all end when one breaks the protocol", () => {
    const sockets = connected(3);
    const log = request(sockets);
    sockets.edge.end(new RopewayError(ErrorCode.KEY_NOT_ACCEPTED, "session", "user", "Cannot go on: unpaired"));
    sockets.flow();
    expect(sockets.ended.phone).toMatchObject({ code: ErrorCode.KEY_NOT_ACCEPTED });
    expect(log.error).toMatchObject({ code: ErrorCode.KEY_NOT_ACCEPTED });
    expect(statusOf(sockets.phone).every(({ isAttached }) => !isAttached)).toBe(true);
  });

  test("of an idle session survive hibernation together, tables and numbers of each", () => {
    const sockets = connected(3);
    for (let round = 0; round < 5; round += 1) {
      const logs = Array.from({ length: 6 }, () => request(sockets));
      sockets.flow();
      for (const { stream } of sockets.accepted.splice(0)) {
        stream.sendHead([...OK, ["x-round", String(round)]], false);
        void stream.write(new Uint8Array(50_000));
        stream.end();
      }
      sockets.flow();
      expect(logs.every(({ bytes, fields }) => bytes === 50_000 && fields.at(-1)?.[1] === String(round))).toBe(true);
      sockets.hibernateEdge();
      if (round === 2) sockets.retire(1);
      if (round === 3) sockets.connect(1);
    }
    expect(sockets.ended).toEqual({ phone: null, edge: null });
  });
});

describe("a channel that does not pay any more", () => {
  test("is forgotten once its socket is closed, and its number begins anew", () => {
    const sockets = connected(2);
    const before = [request(sockets), request(sockets)];
    sockets.flow();
    for (const { stream } of sockets.accepted.splice(0)) stream.sendHead(OK, true);
    sockets.flow();
    const { bytesUp } = sockets.phone.channels.traffic;
    sockets.retire(1);
    expect(statusOf(sockets.phone).map(({ index }) => index)).toEqual([0]);
    expect(sockets.phone.channels.traffic.bytesUp).toBe(bytesUp);
    sockets.hibernateEdge();
    sockets.connect(1);
    sockets.flow();
    const after = [request(sockets), request(sockets)];
    expect(after.map(({ stream }) => stream.channelIndex).sort()).toEqual([0, 1]);
    const idOn = (logs: StreamLog[]) => logs.find(({ stream }) => stream.channelIndex === 1)?.stream.id ?? 0;
    // Pieces of a body of before could still come on another channel.
    expect(idOn(after)).toBeGreaterThan(idOn(before));
    sockets.flow();
    expect(sockets.accepted).toHaveLength(2);
    expect([before.length, sockets.ended]).toEqual([2, { phone: null, edge: null }]);
  });

  test("sends what waits before its socket is closed", () => {
    const sockets = connected(2);
    const [, log] = [request(sockets), request(sockets)];
    sockets.flow();
    log?.stream.reset(ErrorCode.CANCEL);
    sockets.phone.channels.beginRetirement(1);
    expect(sockets.deliver(1, "up")).toBe(true);
    expect(sockets.edge.streams.count).toBe(1);
  });

  test("gets no new stream while its socket is being closed", () => {
    const sockets = connected(2);
    sockets.phone.channels.beginRetirement(1);
    expect([request(sockets), request(sockets)].map(({ stream }) => stream.channelIndex)).toEqual([0, 0]);
  });

  test.each([
    ["holds no credit back once its end was agreed on", true],
    ["holds credit back where it was lost, so that the others get as much again", false],
  ])("%s", (_name, isRetiring) => {
    const sockets = connected(2);
    request(sockets);
    sockets.flow();
    const { sendCredit } = snapshotOf(sockets.edge);
    if (isRetiring) sockets.phone.channels.beginRetirement(1);
    sockets.cut(1);
    // What is measured next goes with credit, if there is any to give.
    request(sockets);
    for (const { stream } of sockets.accepted) stream.sendHead(OK, true);
    sockets.flow();
    expect(snapshotOf(sockets.edge).sendCredit > sendCredit).toBe(!isRetiring);
  });

  test("stays if its end was not confirmed: something of it may be under way", () => {
    const sockets = connected(2);
    sockets.phone.channels.beginRetirement(1);
    sockets.cut(1);
    expect(sockets.phone.channels.retire(1, false)).toBe(false);
    sockets.connect(1);
    sockets.flow();
    expect(statusOf(sockets.phone).every(({ isAttached }) => isAttached)).toBe(true);
    expect(sockets.ended).toEqual({ phone: null, edge: null });
  });
});

describe("HELLO of a channel", () => {
  function edge(): { session: Session; transport: ScriptedTransport } {
    const session = new Session({ role: "edge", sessionId: TEST_SESSION_ID, handler: { onEnd() {} } });
    return { session, transport: new ScriptedTransport() };
  }

  test.each([
    ["a number beyond the limit", hello(limits.channels)],
    ["frames that the edge should have sent on it", hello(1, 1)],
    ["frames that the edge should have got on it", hello(1, 0, 1)],
  ])("that the edge does not know, with %s, cannot resume", (_name, frame) => {
    const { session, transport } = edge();
    expect(thrownBy(() => resumeChannel(session.channels, transport, frame))).toMatchObject({
      code: ErrorCode.LINK_LOST,
    });
  });

  test("is answered with its number", () => {
    const { session, transport } = edge();
    const attachment = resumeChannel(session.channels, transport, hello(3));
    attachment.receive(messageOf(hello(3)));
    session.channels.flush();
    expect(transport.takeFrames()).toEqual([hello(3)]);
  });

  test("that names another than the link's ends the session", () => {
    const { session, transport } = edge();
    const attachment = resumeChannel(session.channels, transport, hello(3));
    attachment.receive(messageOf(hello(2)));
    expect(session.ended).toMatchObject({ code: ErrorCode.PROTOCOL_ERROR });
  });
});
