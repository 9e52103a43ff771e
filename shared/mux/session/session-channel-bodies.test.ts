/** Bodies over several channels: PROTOCOL.md section 4.5. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ErrorCode } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { statusOf } from "../../testing/mux/channel-status.ts";
import { connected, hello, request } from "../../testing/mux/channelled-sessions.ts";
import { TEST_SESSION_ID } from "../../testing/mux/linked-sessions.ts";
import { messageOf, ScriptedTransport } from "../../testing/mux/scripted-transport.ts";
import { GET, OK } from "../../testing/mux/session-rig.ts";
import { SessionSockets } from "../../testing/mux/session-sockets.ts";
import { StreamLog } from "../../testing/mux/stream-log.ts";
import { DEFAULT_PRIORITY } from "../../wire/frame.ts";
import { HpackEncoder } from "../../wire/hpack/header-encoder.ts";
import type { Attachment } from "../pipe/channel.ts";
import type { MuxStream } from "../stream/stream.ts";
import { resumeChannel } from "./channel-set.ts";
import { Session } from "./session.ts";

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

  test("of a push on a channel that was retired and began anew count as consumed", () => {
    const pushes: StreamLog[] = [];
    const handler = { onEnd() {}, onPush: (stream: MuxStream) => void pushes.push(new StreamLog(stream)) };
    const session = new Session({ role: "phone", sessionId: TEST_SESSION_ID, handler });
    const attach = (index: number): Attachment => {
      const attachment = session.channels.attach(index, new ScriptedTransport());
      const { channel, ...first } = hello(index);
      attachment.receive(messageOf(index === 0 ? first : { ...first, channel }));
      return attachment;
    };
    const head = (streamId: number) =>
      ({
        type: "head",
        streamId,
        end: false,
        priority: DEFAULT_PRIORITY,
        block: new HpackEncoder({ maxTableBytes: limits.hpackTableBytes }).encode(GET),
      }) as const;
    const first = attach(0);
    attach(1).receive(messageOf(head(2)));
    pushes[0]?.stream.reset(ErrorCode.CANCEL);
    session.channels.beginRetirement(1);
    expect(session.channels.retire(1, true)).toBe(true);
    const anew = attach(1);
    first.receive(messageOf(stripe(1, 2)));
    expect([session.ended, session.receiver.window.unread]).toEqual([null, 0]);
    // Those of a push to come wait for its head.
    first.receive(messageOf(stripe(1, 4)));
    expect(session.receiver.window.unread).toBe(5);
    anew.receive(messageOf(head(4)));
    expect([pushes.length, session.ended]).toEqual([2, null]);
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
        if (step.kind === "request" && sockets.phone.streams.hasRoom())
          logs.push(request(sockets, String(logs.length)));
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
