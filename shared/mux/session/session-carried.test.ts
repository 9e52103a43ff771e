/** Channels over the first one's link: PROTOCOL.md sections 3.10 and 4.5. */
import { describe, expect, test } from "vitest";
import { ErrorCode } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { carriedReceiver } from "../../testing/mux/carried.ts";
import { statusOf } from "../../testing/mux/channel-status.ts";
import { connected, hello, request } from "../../testing/mux/channelled-sessions.ts";
import { TEST_SESSION_ID } from "../../testing/mux/linked-sessions.ts";
import { ScriptedPeer } from "../../testing/mux/scripted-peer.ts";
import { messageOf, ScriptedTransport } from "../../testing/mux/scripted-transport.ts";
import { GET, OK } from "../../testing/mux/session-rig.ts";
import type { SessionSockets } from "../../testing/mux/session-sockets.ts";
import type { StreamLog } from "../../testing/mux/stream-log.ts";
import { Turns } from "../../testing/turns.ts";
import { DEFAULT_PRIORITY, isSequenced } from "../../wire/frame.ts";
import { resumeChannel } from "./channel-set.ts";
import { Session, snapshotOf } from "./session.ts";

describe("a channel that goes over the first one's link", () => {
  const TEXT = new Uint8Array(30_000);

  /** Three downloads, one on each of three channels, half of which are there, and all sockets gone. */
  function stranded(): { sockets: SessionSockets; logs: StreamLog[] } {
    const sockets = connected(3);
    const logs = Array.from({ length: 3 }, () => request(sockets));
    sockets.flow();
    for (const { stream } of sockets.accepted) {
      stream.sendHead(OK, false);
      void stream.write(TEXT);
    }
    sockets.flow();
    for (const index of [0, 1, 2]) sockets.cut(index);
    for (const { stream } of sockets.accepted) {
      void stream.write(TEXT);
      stream.end();
    }
    return { sockets, logs };
  }
  const areWhole = (logs: readonly StreamLog[]): boolean =>
    logs.every((log) => log.bytes === 2 * TEXT.length && log.events.at(-1) === "end");

  test("goes on where it was, before it has a link of its own", () => {
    const { sockets, logs } = stranded();
    sockets.connect(0);
    sockets.carry();
    sockets.flow();
    expect([areWhole(logs), sockets.phone.streams.count, sockets.edge.streams.count]).toEqual([true, 0, 0]);
    expect(statusOf(sockets.phone).map(({ isCarried }) => isCarried)).toEqual([false, true, true]);
    expect(sockets.ended).toEqual({ phone: null, edge: null });
  });

  test("moves to a link of its own, and back when that is lost", () => {
    const { sockets, logs } = stranded();
    sockets.connect(0);
    sockets.carry();
    sockets.turn();
    while (sockets.deliver(0, "up"));
    sockets.connect(1);
    sockets.flow();
    sockets.cut(1);
    sockets.carry();
    sockets.flow();
    expect([areWhole(logs), sockets.ended]).toEqual([true, { phone: null, edge: null }]);
  });

  test.each([
    ["when all that came again over the first one's is there", false],
    ["at once when that is lost", true],
  ])("gets a link of its own %s", (_name, isLost) => {
    const { sockets, logs } = stranded();
    sockets.connect(0);
    sockets.carry();
    sockets.turn();
    while (sockets.deliver(0, "up"));
    sockets.turn();
    sockets.connect(1);
    sockets.turn();
    expect([statusOf(sockets.phone)[1]?.isCarried, sockets.deliver(1, "up")]).toEqual([true, false]);
    const carriedWith = new Set<unknown>();
    if (isLost) sockets.cut(0);
    while (sockets.deliver(0, "down")) if (statusOf(sockets.phone)[1]?.isCarried) carriedWith.add(logs[1]?.bytes);
    // All but the last of many messages have come, and so does that.
    if (!isLost) expect([carriedWith.size, logs[1]?.bytes]).toEqual([9, 2 * TEXT.length]);
    sockets.turn();
    expect([statusOf(sockets.phone)[1]?.isCarried, sockets.deliver(1, "up")]).toEqual([false, true]);
    if (isLost) sockets.connect(0);
    sockets.carry();
    sockets.flow();
    expect([areWhole(logs), sockets.ended]).toEqual([true, { phone: null, edge: null }]);
  });

  test("counts its bytes once", () => {
    const { sockets } = stranded();
    const before = sockets.phone.channels.traffic.bytesDown;
    let bytes = 0;
    sockets.connect(0);
    sockets.carry();
    sockets.turn();
    for (let moved = true; moved; sockets.turn()) {
      moved = sockets.deliver(0, "up");
      bytes += sockets.waiting(0, "down");
      moved = sockets.deliver(0, "down") || moved;
    }
    expect(sockets.phone.channels.traffic.bytesDown - before).toBe(bytes);
  });

  test("is given no credit twice for what is about to come again", () => {
    const { sockets, logs } = stranded();
    sockets.connect(0);
    sockets.carry();
    sockets.flow();
    expect(areWhole(logs)).toBe(true);
    expect(snapshotOf(sockets.edge).sendCredit).toBeLessThanOrEqual(sockets.phone.receiver.window.size);
  });

  test("waits again when the first one's link is lost too", () => {
    const { sockets, logs } = stranded();
    sockets.connect(0);
    sockets.carry();
    sockets.turn();
    sockets.deliver(0, "up");
    sockets.cut(0);
    expect(statusOf(sockets.phone).filter(({ isAttached }) => isAttached)).toEqual([]);
    sockets.connect(0);
    sockets.carry();
    sockets.flow();
    expect([areWhole(logs), sockets.ended]).toEqual([true, { phone: null, edge: null }]);
  });

  test("gets no pieces of bodies while others have links of their own", () => {
    const sockets = connected(3);
    sockets.cut(2);
    sockets.carry();
    sockets.flow();
    const before = statusOf(sockets.edge).map(({ bytesUp }) => bytesUp);
    const logs = Array.from({ length: 2 }, () => request(sockets));
    sockets.flow();
    for (const { stream } of sockets.accepted) {
      stream.sendHead(OK, false);
      void stream.write(TEXT);
      stream.end();
    }
    sockets.flow();
    expect(logs.map((log) => log.bytes)).toEqual([TEXT.length, TEXT.length]);
    const more = statusOf(sockets.edge).map(({ bytesUp }, index) => bytesUp - (before[index] ?? 0));
    expect([more[0] ?? 0, more[1] ?? 0].every((bytes) => bytes > 10_000)).toBe(true);
    expect(more[2]).toBeLessThan(100);
  });

  describe("that is put there again and again", () => {
    /** Puts channel 1 there `times` times; so much of a body is kept there. @returns bytes sent, and how it ended. */
    function repeat(times: number, bytes: number, acknowledges: boolean): { sent: number; session: Session } {
      const turns = new Turns();
      const transport = new ScriptedTransport();
      const session: Session = new Session({
        role: "edge",
        sessionId: TEST_SESSION_ID,
        defer: turns.defer,
        now: () => 0,
        handler: {
          onEnd() {},
          onStream: (stream) => {
            stream.handler = {
              onHead() {
                stream.receiveCredit(limits.creditBytes / 2);
                stream.sendHead(OK, false);
                stream.write(new Uint8Array(bytes)).catch(() => {});
              },
              onData() {},
              onEnd() {},
              onReset() {},
            };
          },
          onCarried: (from, message) => receiveCarried(from, message),
        },
      });
      const receiveCarried = carriedReceiver(() => session);
      // On a link of its own, so that all of the body is kept there.
      const own = new ScriptedTransport();
      const { encoder } = new ScriptedPeer("phone");
      const block = encoder.encode(GET);
      const first = resumeChannel(session.channels, own, hello(1));
      session.sender.grant(limits.creditBytes / 2);
      first.receive(messageOf(hello(1), { type: "head", streamId: 1, end: true, priority: DEFAULT_PRIORITY, block }));
      turns.run();
      const kept = own.takeFrames().filter(isSequenced).length;
      first.detach();
      const carrier = resumeChannel(session.channels, transport, hello(0));
      carrier.receive(messageOf(hello(0)));
      let sent = 0;
      for (let link = 1; link <= times && session.ended === null; link += 1) {
        const received = acknowledges && link > 1 ? kept : 0;
        carrier.receive(messageOf({ type: "carry", channel: 1, link }, { ...hello(1, received, 1, true), link }));
        turns.run();
        for (const frame of transport.takeFrames()) if (frame.type === "data") sent += frame.payload.length;
      }
      return { sent, session };
    }

    test("by a phone that acknowledges nothing, ends the session", () => {
      const { sent, session } = repeat(limits.carriedHellos, 4_000_000, false);
      expect(session.ended).toMatchObject({ code: ErrorCode.ENHANCE_YOUR_CALM });
      expect(sent).toBeGreaterThan(2 * limits.retainedBytes);
      expect(sent).toBeLessThan(2 * limits.retainedBytes + 2 * 4_000_000);
    });

    test("goes on where what was sent is acknowledged, or is little", () => {
      expect(repeat(100, 4_000_000, true).session.ended).toBeNull();
      expect(repeat(100, 30_000, false).session.ended).toBeNull();
    });
  });

  test.each([
    ["by another than the first", 1, 2],
    ["by itself", 0, 0],
  ])("cannot be carried %s", (_name, carrier, index) => {
    const sockets = connected(3);
    const transport = new ScriptedTransport();
    const attachment = resumeChannel(sockets.edge.channels, transport, hello(carrier));
    attachment.receive(messageOf(hello(carrier), { type: "carry", channel: index, link: 0 }, hello(index)));
    expect(sockets.edge.ended).toMatchObject({ code: ErrorCode.PROTOCOL_ERROR });
  });
});
