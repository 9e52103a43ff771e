import { describe, expect, test } from "vitest";
import { ErrorCode, type RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { TEST_SESSION_ID } from "../../testing/mux/linked-sessions.ts";
import { onlyChannel } from "../../testing/mux/only-channel.ts";
import { messageOf, ScriptedTransport } from "../../testing/mux/scripted-transport.ts";
import { thrownBy } from "../../testing/thrown-by.ts";
import { Turns } from "../../testing/turns.ts";
import type { ChannelFrame, SequencedFrame } from "../../wire/frame.ts";
import { Channel, type ChannelSnapshot } from "./channel.ts";

interface Rig {
  readonly channel: Channel;
  readonly turns: Turns;
  readonly transport: ScriptedTransport;
  readonly frames: SequencedFrame[];
  readonly errors: RopewayError[];
}

function hello(received = 0, next = 0, sessionId = TEST_SESSION_ID): ChannelFrame & { type: "hello" } {
  return { type: "hello", sessionId, received, next, link: 0, resume: false };
}

const reset: SequencedFrame = { type: "reset", streamId: 1, code: ErrorCode.CANCEL, message: "" };

/** An edge's channel, its phone played by the test and already greeted. */
function edgeChannel(options: { snapshot?: ChannelSnapshot; throws?: unknown } = {}): Rig {
  const turns = new Turns();
  const transport = new ScriptedTransport();
  const frames: SequencedFrame[] = [];
  const errors: RopewayError[] = [];
  const channel = new Channel({
    ...onlyChannel(turns.defer),
    snapshot: options.snapshot,
    handler: {
      onFrame(frame) {
        if (options.throws !== undefined) throw options.throws;
        frames.push(frame);
      },
      onMessageEnd: () => {},
      onFail: (error) => errors.push(error),
    },
  });
  if (options.snapshot) channel.adopt(transport);
  else connect(channel, transport);
  turns.run();
  return { channel, turns, transport, frames, errors };
}

function phoneChannel(): { channel: Channel; turns: Turns } {
  const turns = new Turns();
  const handler = { onFrame() {}, onMessageEnd() {}, onFail() {} };
  return { channel: new Channel({ ...onlyChannel(turns.defer), handler }), turns };
}

function connect(channel: Channel, transport: ScriptedTransport, received = 0, next = 0): void {
  channel.resume(transport, hello(received, next));
  channel.receive(messageOf(hello(received, next)), transport);
}

describe("HELLO", () => {
  test("is the first frame of both sides, and says where each is", () => {
    const { transport } = edgeChannel();
    expect(transport.takeFrames()).toEqual([hello(0, 0)]);
  });

  test("of the phone says on every link but the first that there was one, heard of or not", () => {
    const { channel, turns } = phoneChannel();
    const said = [0, 1, 2].map(() => {
      const transport = new ScriptedTransport();
      channel.attach(transport);
      turns.run();
      channel.detach(transport);
      return transport.takeFrames();
    });
    expect(said).toEqual([[hello()], [{ ...hello(), link: 1, resume: true }], [{ ...hello(), link: 2, resume: true }]]);
  });

  test("of the phone says so too when its first link went before anything was sent", () => {
    const { channel, turns } = phoneChannel();
    const [first, second] = [new ScriptedTransport(), new ScriptedTransport()];
    channel.attach(first);
    channel.detach(first);
    channel.attach(second);
    turns.run();
    expect(second.takeFrames()).toEqual([{ ...hello(), link: 1, resume: true }]);
  });

  test("is acknowledged at once by a phone that resumed what it had never heard, and then as usual", () => {
    for (const isLost of [true, false]) {
      const { channel, turns } = phoneChannel();
      const transport = new ScriptedTransport();
      if (isLost) {
        const first = new ScriptedTransport();
        channel.attach(first);
        channel.detach(first);
      }
      channel.attach(transport);
      turns.run();
      transport.takeFrames();
      channel.receive(messageOf(hello()), transport);
      turns.run();
      expect(transport.takeFrames()).toEqual([]);
      for (const _ of [1, 2]) channel.receive(messageOf(reset), transport);
      turns.run();
      expect(transport.takeFrames()).toEqual(isLost ? [{ type: "ack", received: 1 }] : []);
    }
  });

  test("with anything before it ends the session", () => {
    for (const first of [reset, { type: "ack", received: 0 }, { type: "ping", token: 1 }] as const) {
      const rig = edgeChannel();
      const next = new ScriptedTransport();
      rig.channel.resume(next, hello());
      rig.channel.receive(messageOf(first), next);
      expect(rig.errors).toMatchObject([{ code: ErrorCode.PROTOCOL_ERROR, scope: "session", initiator: "peer" }]);
    }
  });

  test("in the middle ends the session", () => {
    const rig = edgeChannel();
    rig.channel.receive(messageOf(reset, hello(0, 0)));
    expect(rig.errors).toMatchObject([{ code: ErrorCode.PROTOCOL_ERROR }]);
  });

  test("on a socket that outlived a hibernation ends the session", () => {
    const rig = edgeChannel({ snapshot: { sent: 3, received: 5, incoming: 5, flight: 14_600 } });
    rig.channel.receive(messageOf(hello(3, 5)));
    expect(rig.errors).toMatchObject([{ code: ErrorCode.PROTOCOL_ERROR }]);
  });

  test("of another session ends this one", () => {
    const rig = edgeChannel();
    const next = new ScriptedTransport();
    rig.channel.resume(next, hello());
    rig.channel.receive(messageOf(hello(0, 0, new Uint8Array(16).fill(9))), next);
    expect(rig.errors).toMatchObject([{ code: ErrorCode.PROTOCOL_ERROR }]);
  });

  test.each([
    ["acknowledges what was never sent", 3, 0],
    ["skips frames", 0, 2],
    ["both", Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ])("that %s cannot resume, and leaves the session as it was", (_name, received, next) => {
    const rig = edgeChannel();
    rig.channel.send(reset);
    rig.channel.receive(messageOf(reset));
    const intruder = new ScriptedTransport();
    const error = thrownBy(() => rig.channel.resume(intruder, hello(received, next)));
    expect(error).toMatchObject({ code: ErrorCode.LINK_LOST, scope: "session" });
    rig.channel.receive(messageOf(reset), rig.transport);
    expect(rig.frames).toHaveLength(2);
    expect(rig.errors).toEqual([]);
  });

  test("that asks for frames which were acknowledged before cannot resume", () => {
    const rig = edgeChannel();
    rig.channel.send(reset);
    rig.channel.receive(messageOf({ type: "ack", received: 1 }));
    expect(() => rig.channel.resume(new ScriptedTransport(), hello(0, 0))).toThrow("Cannot resume the session");
  });

  test("of an edge that skips frames, or acknowledges what was never sent, ends the phone's session", () => {
    for (const answer of [hello(0, 1), hello(1, 0)]) {
      const { channel, errors } = edgeChannel();
      const transport = new ScriptedTransport();
      channel.attach(transport);
      channel.receive(messageOf(answer), transport);
      expect(errors).toMatchObject([{ code: ErrorCode.PROTOCOL_ERROR }]);
    }
  });
});

describe("acknowledgement", () => {
  test("of frames that were never sent ends the session", () => {
    const rig = edgeChannel();
    rig.channel.send(reset);
    rig.channel.receive(messageOf({ type: "ack", received: 2 }));
    expect(rig.errors).toMatchObject([{ code: ErrorCode.PROTOCOL_ERROR, initiator: "peer" }]);
  });

  test("that comes late or twice changes nothing", () => {
    const rig = edgeChannel();
    for (let index = 0; index < 3; index += 1) rig.channel.send(reset);
    for (const received of [2, 1, 2, 0]) rig.channel.receive(messageOf({ type: "ack", received }));
    expect(rig.channel.retained.count).toBe(1);
    expect(rig.errors).toEqual([]);
  });

  test("goes out alone after 128 frames, and not before", () => {
    const rig = edgeChannel();
    rig.transport.takeFrames();
    rig.channel.receive(messageOf(...Array<SequencedFrame>(127).fill(reset)));
    rig.turns.run();
    expect(rig.transport.takeFrames()).toEqual([]);
    rig.channel.receive(messageOf(reset));
    rig.turns.run();
    expect(rig.transport.takeFrames()).toEqual([{ type: "ack", received: 128 }]);
  });

  test("rides along with other frames after 16", () => {
    const rig = edgeChannel();
    rig.transport.takeFrames();
    rig.channel.receive(messageOf(...Array<SequencedFrame>(16).fill(reset)));
    rig.channel.send(reset);
    rig.turns.run();
    expect(rig.transport.takeFrames()).toEqual([reset, { type: "ack", received: 16 }]);
  });

  test("that never comes ends the session before more is kept than the limit", () => {
    const rig = edgeChannel();
    const data: SequencedFrame = { type: "data", streamId: 1, end: false, payload: new Uint8Array(limits.batchBytes) };
    let most = 0;
    while (rig.errors.length === 0) {
      most = Math.max(most, rig.channel.retained.bytes);
      rig.channel.send(data);
    }
    expect(most).toBeLessThanOrEqual(limits.retainedBytes);
    expect(rig.channel.retained.takesData).toBe(true);
    expect(rig.errors).toMatchObject([{ code: ErrorCode.ENHANCE_YOUR_CALM }]);
  });

  test("tiny frames count what they cost, not only their bytes", () => {
    const rig = edgeChannel();
    let frames = 0;
    while (rig.errors.length === 0) {
      rig.channel.send(reset);
      frames += 1;
    }
    expect(frames).toBeLessThan(limits.retainedBytes / limits.retainedFrameBytes);
  });
});

describe("a link that goes", () => {
  test("keeps what is sent meanwhile for the next one", () => {
    const rig = edgeChannel();
    rig.channel.detach(rig.transport);
    rig.channel.send(reset);
    rig.turns.run();
    const next = new ScriptedTransport();
    connect(rig.channel, next);
    rig.turns.run();
    expect(next.takeFrames()).toEqual([hello(0, 0), reset]);
  });

  test("and is replaced by another is told so, and its late messages are not counted", () => {
    const rig = edgeChannel();
    const next = new ScriptedTransport();
    connect(rig.channel, next);
    expect(rig.transport.closed).toEqual({ code: 1000, reason: "replaced" });
    rig.channel.receive(messageOf(reset), rig.transport);
    expect(rig.channel.arrived.received).toBe(0);
    expect(rig.channel.detach(rig.transport)).toBe(false);
    expect(rig.channel.attached).toBe(true);
  });

  test("delivers nothing after it was let go", () => {
    const rig = edgeChannel();
    rig.channel.detach(rig.transport);
    rig.channel.receive(messageOf(reset));
    expect(rig.frames).toEqual([]);
  });
});

describe("GO_AWAY", () => {
  test("is heard even before HELLO", () => {
    const rig = edgeChannel();
    const next = new ScriptedTransport();
    rig.channel.attach(next);
    rig.channel.receive(messageOf({ type: "go-away", lastStreamId: 0, code: 2, message: "why" }), next);
    expect(rig.frames).toMatchObject([{ type: "go-away", message: "why" }]);
  });

  test("is heard among frames that are replayed", () => {
    const rig = edgeChannel();
    rig.channel.receive(messageOf(reset, reset));
    const next = new ScriptedTransport();
    rig.channel.resume(next, hello(0, 0));
    rig.channel.receive(messageOf(hello(0, 0), { type: "go-away", lastStreamId: 0, code: 2, message: "" }), next);
    expect(rig.frames.at(-1)).toMatchObject({ type: "go-away" });
  });
});

test("any number of PINGs in a turn has one PONG, for the last", () => {
  const rig = edgeChannel();
  rig.transport.takeFrames();
  const pings = Array.from({ length: 1000 }, (_, token): ChannelFrame => ({ type: "ping", token: token + 1 }));
  rig.channel.receive(messageOf(...pings));
  rig.turns.run();
  expect(rig.transport.takeFrames()).toEqual([{ type: "pong", token: 1000 }]);
});

test("a PONG is before what waits, or behind it if its token is 0", () => {
  const rig = edgeChannel();
  const next = new ScriptedTransport();
  rig.channel.send(reset);
  rig.channel.resume(next, hello(0, 0));
  const pings = [0, 5, 0, 6].map((token): ChannelFrame => ({ type: "ping", token }));
  rig.channel.receive(messageOf(hello(0, 0), ...pings), next);
  rig.channel.send(reset);
  rig.turns.run();
  const pongs = [6, 0].map((token) => ({ type: "pong", token }));
  expect(next.takeFrames()).toMatchObject([{ type: "hello" }, pongs[0], reset, reset, pongs[1]]);
  rig.channel.receive(messageOf({ type: "ping", token: 7 }), next);
  rig.turns.run();
  expect(next.takeFrames()).toEqual([{ type: "pong", token: 7 }]);
});

test("frames of unknown types count, and nobody hears of them", () => {
  const rig = edgeChannel();
  rig.channel.receive(Uint8Array.of(0x70, 0, 0, 0xf0, 0, 0, 0x20, 1, 1, 8));
  expect(rig.channel.arrived.received).toBe(2);
  expect(rig.frames).toEqual([reset]);
});

test("a batch is cut where the limit is", () => {
  const rig = edgeChannel();
  rig.transport.takeFrames();
  rig.channel.outbox.batchBytes = limits.batchBytes;
  const payload = new Uint8Array(limits.batchBytes / 4);
  for (let index = 0; index < 10; index += 1) rig.channel.send({ type: "data", streamId: 1, end: false, payload });
  rig.turns.run();
  expect(rig.transport.messages.map((message) => message.length)).toSatisfy((lengths: number[]) =>
    lengths.every((length) => length <= limits.batchBytes),
  );
  expect(rig.transport.messages).toHaveLength(4);
});

describe("failure", () => {
  test("says why, closes the transport, and is told once", () => {
    const rig = edgeChannel();
    rig.transport.takeFrames();
    rig.channel.receive(Uint8Array.of(0x00, 0, 0));
    rig.channel.receive(Uint8Array.of(0x00, 0, 0), rig.transport);
    expect(rig.errors).toHaveLength(1);
    expect(rig.transport.takeFrames()).toMatchObject([{ type: "go-away", code: ErrorCode.FRAME_SIZE_ERROR }]);
    expect(rig.transport.closed?.code).toBe(4000 + ErrorCode.FRAME_SIZE_ERROR);
  });

  test("is final: nothing is sent, kept or resumed", () => {
    const rig = edgeChannel();
    rig.channel.receive(Uint8Array.of(0xff));
    rig.channel.send(reset);
    expect(rig.channel.retained).toMatchObject({ count: 0, bytes: 0 });
    expect(() => rig.channel.resume(new ScriptedTransport(), hello())).toThrow("Cannot resume the session");
  });

  test("of a handler by anything else than a RopewayError is an internal error, never an exception", () => {
    const rig = edgeChannel({ throws: new TypeError("oops") });
    rig.channel.receive(messageOf(reset));
    expect(rig.errors).toMatchObject([{ code: ErrorCode.INTERNAL_ERROR, cause: { message: "oops" } }]);
  });
});
