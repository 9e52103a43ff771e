/** A session of several channels: PROTOCOL.md section 4.5. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ErrorCode, RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { statusOf } from "../../testing/channel-status.ts";
import { connected, hello, request } from "../../testing/channelled-sessions.ts";
import { TEST_SESSION_ID } from "../../testing/linked-sessions.ts";
import { messageOf, ScriptedTransport } from "../../testing/scripted-transport.ts";
import { GET, OK } from "../../testing/session-rig.ts";
import { SessionSockets } from "../../testing/session-sockets.ts";
import { StreamLog } from "../../testing/stream-log.ts";
import { thrownBy } from "../../testing/thrown-by.ts";
import { DEFAULT_PRIORITY } from "../../wire/frame.ts";
import type { Attachment } from "../pipe/attachment.ts";
import { resumeChannel } from "../pipe/edge-channels.ts";
import { Session } from "./session.ts";
import { snapshotOf } from "./session-snapshot.ts";

describe("streams", () => {
  test("are dealt to the channel with the fewest, and stay there", () => {
    const sockets = connected(3);
    const logs = Array.from({ length: 7 }, () => request(sockets));
    expect(logs.map(({ stream }) => stream.channelIndex)).toEqual([0, 1, 2, 0, 1, 2, 0]);
    sockets.flow();
    expect(sockets.accepted.map(({ stream }) => [stream.channelIndex, stream.id])).toEqual(
      expect.arrayContaining(logs.map(({ stream }) => [stream.channelIndex, stream.id])),
    );
    for (const { stream } of sockets.accepted) {
      stream.sendHead([...OK, ["x-channel", String(stream.channelIndex)]], false);
      void stream.write(new Uint8Array(70_000));
      stream.end();
    }
    sockets.flow();
    for (const log of logs) {
      expect(log.bytes).toBe(70_000);
      expect(log.fields.at(-1)).toEqual(["x-channel", String(log.stream.channelIndex)]);
    }
    expect(statusOf(sockets.edge).map(({ messagesUp }) => messagesUp > 1)).toEqual([true, true, true]);
    expect([sockets.phone.streams.count, sockets.edge.streams.count]).toEqual([0, 0]);
  });

  test("follow those that lead on their channel, until these are over or have no link", () => {
    const sockets = connected(3);
    const lead = () => {
      const log = new StreamLog(sockets.phone.streams.openNow(), true);
      log.stream.leads = true;
      log.stream.sendHead(GET, true);
      return log;
    };
    request(sockets);
    const leading = [lead(), lead()];
    expect([...leading, request(sockets), request(sockets)].map(({ stream }) => stream.channelIndex)).toEqual([
      1, 1, 1, 1,
    ]);
    sockets.flow();
    const answer = ({ stream }: StreamLog) =>
      sockets.accepted
        .find((each) => each.stream.channelIndex === 1 && each.stream.id === stream.id)
        ?.stream.sendHead(OK, true);
    answer(leading[0] as StreamLog);
    sockets.flow();
    expect(request(sockets).stream.channelIndex).toBe(1);
    sockets.cut(1);
    expect(request(sockets).stream.channelIndex).not.toBe(1);
    sockets.connect(1);
    sockets.flow();
    answer(leading[1] as StreamLog);
    sockets.flow();
    expect(request(sockets).stream.channelIndex).not.toBe(1);
  });

  test("go on the first alone as long as one is wanted, whatever is connected", () => {
    const sockets = connected(1);
    sockets.connect(1);
    sockets.flow();
    expect([request(sockets), request(sockets)].map(({ stream }) => stream.channelIndex)).toEqual([0, 0]);
  });

  test("share the session's limit on how many there may be", () => {
    const sockets = connected(4);
    for (let count = 0; count < limits.concurrentStreams; count += 1) request(sockets);
    sockets.flow();
    expect([sockets.phone.streams.hasRoom, sockets.edge.streams.count]).toEqual([false, limits.concurrentStreams]);
  });

  test("share the session's credit, and the more urgent goes first on whatever channel it is", () => {
    const sockets = connected(2);
    const [bulk, style] = [5, 1].map((urgency) => {
      const log = new StreamLog(sockets.phone.streams.openNow({ urgency, incremental: true }));
      log.stream.sendHead(GET, true);
      return log;
    }) as [StreamLog, StreamLog];
    sockets.flow();
    for (const { stream } of sockets.accepted) {
      stream.sendHead(OK, false);
      stream.write(new Uint8Array(limits.streamCreditBytes)).catch(() => {});
    }
    const granted = sockets.phone.receiver.window.size;
    sockets.turn();
    while (sockets.deliver(0, "down") || sockets.deliver(1, "down"));
    expect(bulk.stream.channelIndex).not.toBe(style.stream.channelIndex);
    // Less than an increment may be held back.
    expect(bulk.bytes).toBeLessThanOrEqual(granted);
    expect(bulk.bytes).toBeGreaterThan(0.95 * granted);
    sockets.flow();
    expect(style.bytes).toBe(limits.firstStreamCreditBytes);
  });
});

test("bodies that are of use only whole keep the order of their requests, whatever their channels", async () => {
  const sockets = connected(3);
  const logs = Array.from({ length: 6 }, () => {
    const log = request(sockets);
    sockets.flow();
    return log;
  });
  const [parts, partBytes] = [16, 6000];
  for (const { stream } of sockets.accepted) {
    stream.sendHead(OK, false);
    // As an origin's body comes: the next part is read when the one before has gone.
    let left = parts;
    const next = (): void => {
      left -= 1;
      if (left < 0) stream.end();
      else stream.write(new Uint8Array(partBytes)).then(next, () => {});
    };
    next();
  }
  const whole = new Set<StreamLog>();
  let othersAtFirst = 0;
  while (whole.size < logs.length) {
    sockets.turn();
    for (const index of [0, 1, 2]) {
      if (!sockets.deliver(index, "down")) sockets.deliver(index, "up");
      await Promise.resolve();
    }
    for (const log of logs) if (log.events.at(-1) === "end") whole.add(log);
    if (whole.size === 0) othersAtFirst = Math.max(...logs.slice(1).map(({ bytes }) => bytes));
  }
  expect([...whole]).toEqual(logs);
  // In a gap between two parts the next body goes on, and on a channel that is freer.
  expect(othersAtFirst).toBeLessThan(0.6 * parts * partBytes);
});

test("what a page asks for takes turns with what was pushed before, whatever their channels", () => {
  const sockets = connected(3);
  const pushes = Array.from({ length: 3 }, () => sockets.edge.streams.openPush(DEFAULT_PRIORITY));
  for (let count = 0; count < 3; count += 1) {
    request(sockets);
    sockets.flow();
  }
  const exchanges = sockets.accepted.map(({ stream }) => stream);
  expect(exchanges.map(({ channelIndex }) => channelIndex)).toEqual([0, 1, 2]);
  const streams = [...pushes, ...exchanges].toSorted((one, other) => (one?.order ?? 0) - (other?.order ?? 0));
  expect(streams).toEqual([0, 1, 2].flatMap((index) => [exchanges[index], pushes[index]]));
});

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
    expect(sockets.edge.channels.totals.unacknowledgedBytes).toBeGreaterThan(0.9 * limits.retainedDataBytes);
    expect(sockets.edge.channels.totals.unacknowledgedBytes).toBeLessThan(
      limits.retainedDataBytes + 3 * limits.batchBytes,
    );
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
    const { bytesUp } = sockets.phone.channels.totals.traffic;
    sockets.retire(1);
    expect(statusOf(sockets.phone).map(({ index }) => index)).toEqual([0]);
    expect(sockets.phone.channels.totals.traffic.bytesUp).toBe(bytesUp);
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

describe("pieces of bodies", () => {
  test("go on all channels, so that one stream is not held up by its own", () => {
    const sockets = connected(3);
    const log = request(sockets);
    sockets.flow();
    const [answer] = sockets.accepted;
    answer?.stream.sendHead(OK, false);
    answer?.stream.write(new Uint8Array(60_000)).catch(() => {});
    answer?.stream.end();
    sockets.turn();
    // The stream's own channel says nothing more for now.
    for (const index of [1, 2]) while (sockets.deliver(index, "down"));
    const [, ...others] = statusOf(sockets.phone);
    expect([log.events, others.some(({ bytesDown }) => bytesDown > 10_000)]).toEqual([[], true]);
    sockets.flow();
    expect([log.bytes, log.events.at(-1)]).toEqual([60_000, "end"]);
    expect(statusOf(sockets.phone).every(({ bytesDown }) => bytesDown > 10_000)).toBe(true);
  });

  test("of a stream that was reset here count as consumed", () => {
    const sockets = connected(2);
    for (let round = 0; round < 200; round += 1) {
      const log = request(sockets);
      sockets.flow();
      const answer = sockets.accepted.pop();
      answer?.stream.sendHead(OK, false);
      answer?.stream.write(new Uint8Array(30_000)).catch(() => {});
      sockets.turn();
      log.stream.reset(ErrorCode.CANCEL);
      sockets.flow();
    }
    expect(sockets.ended).toEqual({ phone: null, edge: null });
    expect(sockets.phone.receiver.window.unread).toBe(0);
  });

  function phone(): { session: Session; attachment: Attachment; log: StreamLog } {
    const session = new Session({ role: "phone", sessionId: TEST_SESSION_ID, handler: { onEnd() {} } });
    const transport = new ScriptedTransport();
    const attachment = session.channels.attach(0, transport);
    const { channel: _, ...first } = hello(0);
    attachment.receive(messageOf(first));
    const log = new StreamLog(session.streams.openNow());
    log.stream.sendHead(GET, true);
    return { session, attachment, log };
  }

  const stripe = (home: number, streamId: number, offset = 0) =>
    ({ type: "stripe", home, streamId, offset, end: false, payload: new Uint8Array(5) }) as const;

  test.each([
    ["of a channel that there cannot be", stripe(limits.channels, 1)],
    ["of a stream that was never opened here", stripe(0, 3)],
    ["of a push that was not asked for", stripe(0, 2)],
  ])("%s end the session", (_name, frame) => {
    const { session, attachment } = phone();
    attachment.receive(messageOf(frame));
    expect(session.ended).toMatchObject({ code: ErrorCode.PROTOCOL_ERROR });
  });

  test("of a channel that was retired meanwhile count as consumed", () => {
    const { session, attachment } = phone();
    attachment.receive(messageOf(stripe(2, 1)));
    expect([session.ended, session.receiver.window.unread]).toEqual([null, 0]);
  });

  test("that overlap end their stream only", () => {
    const { session, attachment, log } = phone();
    attachment.receive(messageOf(stripe(0, 1), stripe(0, 1, 3)));
    expect([session.ended, log.error?.code]).toEqual([null, ErrorCode.PROTOCOL_ERROR]);
  });

  test("whose heads never come are kept up to a limit", () => {
    const session = new Session({ role: "edge", sessionId: TEST_SESSION_ID, handler: { onEnd() {} } });
    const transport = new ScriptedTransport();
    const attachment = resumeChannel(session.channels, transport, hello(1));
    attachment.receive(messageOf(hello(1)));
    for (let count = 0; count < limits.strayPieces && session.ended === null; count += 1) {
      attachment.receive(messageOf({ ...stripe(1, 1, count), payload: new Uint8Array(1) }));
    }
    expect([session.ended, session.channels.all.some(({ hasStrays }) => hasStrays)]).toEqual([null, true]);
    attachment.receive(messageOf(stripe(1, 3)));
    expect(session.ended).toMatchObject({ code: ErrorCode.ENHANCE_YOUR_CALM });
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

type Step =
  | { readonly kind: "request" | "answer" | "turn" | "carry" }
  | { readonly kind: "deliver"; readonly index: number; readonly messages: number }
  | { readonly kind: "cut" | "connect" | "retire"; readonly index: number };

const index = fc.nat(3);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ kind: "request" }) },
  { weight: 4, arbitrary: fc.constant<Step>({ kind: "answer" }) },
  { weight: 6, arbitrary: fc.constant<Step>({ kind: "turn" }) },
  { weight: 12, arbitrary: fc.record({ kind: fc.constant("deliver" as const), index, messages: fc.nat(6) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("cut" as const), index }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("connect" as const), index }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("retire" as const), index }) },
  { weight: 3, arbitrary: fc.constant<Step>({ kind: "carry" }) },
);

test("every body arrives whole and once, with channels cut and retired at random points", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 120 }), (steps) => {
      const sockets = new SessionSockets({ experiment: { channels: 4 } });
      const logs: StreamLog[] = [];
      const sizeOf = (name: number): number => 1 + ((name * 7919) % 90_000);
      const answer = (): void => {
        const log = sockets.accepted.shift();
        if (log === undefined) return;
        log.stream.sendHead(OK, false);
        log.stream.write(new Uint8Array(sizeOf(Number(log.fields.at(-1)?.[1])))).catch(() => {});
        log.stream.end();
      };
      sockets.connect(0);
      for (const step of steps) {
        if (step.kind === "request" && sockets.phone.streams.hasRoom) logs.push(request(sockets, String(logs.length)));
        else if (step.kind === "answer") answer();
        else if (step.kind === "turn") sockets.turn();
        else if (step.kind === "carry") sockets.carry();
        else if (step.kind === "cut") sockets.cut(step.index);
        else if (step.kind === "connect") sockets.connect(step.index);
        else if (step.kind === "retire") sockets.retire(step.index);
        else if (step.kind === "deliver") {
          for (let count = 0; count < step.messages; count += 1) {
            sockets.deliver(step.index, count % 2 === 0 ? "up" : "down");
          }
        }
      }
      for (let index = 0; index < 4; index += 1) sockets.connect(index);
      sockets.flow();
      while (sockets.accepted.length > 0) answer();
      sockets.flow();
      expect(sockets.ended).toEqual({ phone: null, edge: null });
      expect(logs.map((log) => [log.bytes, log.events.at(-1)])).toEqual(logs.map((_, name) => [sizeOf(name), "end"]));
      expect([sockets.phone.streams.count, sockets.edge.streams.count]).toEqual([0, 0]);
    }),
    { numRuns: 200 },
  );
});
