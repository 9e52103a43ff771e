/** What PROTOCOL.md section 4 promises: every sequenced frame exactly once, in order, whatever happens to the link. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryLink } from "../../testing/mux/memory-link.ts";
import { onlyChannel } from "../../testing/mux/only-channel.ts";
import { Turns } from "../../testing/turns.ts";
import type { SequencedFrame } from "../../wire/frame.ts";
import { Channel, type ChannelSnapshot } from "./channel.ts";

type Side = "phone" | "edge";

type Step =
  | { readonly kind: "send"; readonly side: Side; readonly frames: number; readonly bytes: number }
  | { readonly kind: "turn" }
  | { readonly kind: "deliver"; readonly direction: "up" | "down"; readonly messages: number }
  | { readonly kind: "cut"; readonly noticedBy: "both" | "phone" }
  | { readonly kind: "connect" }
  | { readonly kind: "hibernate" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("send" as const),
      side: fc.constantFrom<Side>("phone", "edge"),
      frames: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 100, max: 200 })),
      bytes: fc.oneof(fc.nat(20), fc.nat(30_000)),
    }),
  },
  { weight: 6, arbitrary: fc.constant<Step>({ kind: "turn" }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("deliver" as const),
      direction: fc.constantFrom("up" as const, "down" as const),
      messages: fc.nat(6),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("cut" as const),
      noticedBy: fc.constantFrom("both" as const, "phone" as const),
    }),
  },
  { weight: 3, arbitrary: fc.constant<Step>({ kind: "connect" }) },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: "hibernate" }) },
);

/** Two channels that count what they send, and write down what they get. */
class Rig {
  readonly turns = new Turns();
  readonly sent = { phone: 0, edge: 0 };
  readonly received: Record<Side, number[]> = { phone: [], edge: [] };
  readonly link: MemoryLink;

  constructor() {
    this.link = new MemoryLink({ phone: this.channel("phone"), edge: this.channel("edge") });
    this.link.connect();
  }

  channel(side: Side, snapshot?: ChannelSnapshot): Channel {
    return new Channel({
      ...onlyChannel(this.turns.defer),
      snapshot,
      handler: {
        onFrame: (frame) => this.received[side].push(numberOf(frame)),
        onMessageEnd: () => {},
        onFail: (error) => {
          throw error;
        },
      },
    });
  }

  run(step: Step): void {
    switch (step.kind) {
      case "send":
        for (let index = 0; index < step.frames; index += 1) {
          const bytes = step.frames > 4 ? step.bytes % 100 : step.bytes;
          this.link[step.side].send(numbered(this.sent[step.side]++, bytes));
        }
        return;
      case "turn":
        return this.turns.run();
      case "deliver":
        for (let index = 0; index < step.messages; index += 1) this.link.deliver(step.direction);
        return;
      case "cut":
        return this.link.cut(step.noticedBy);
      case "connect":
        return this.link.connect();
      case "hibernate": {
        // As the edge does it: only when all it sent has left, and the socket is there.
        this.link.edge.flush();
        if (!this.link.connected || this.link.inFlight.down > 0 || !this.link.edge.attached) return;
        if (this.received.phone.length < this.sent.edge) return;
        this.link.adopt(this.channel("edge", structuredClone(this.link.edge.snapshot())));
      }
    }
  }

  drain(): void {
    this.link.connect();
    do this.turns.run();
    while (this.link.deliver("up") || this.link.deliver("down"));
  }
}

/** A frame that carries its number, in `bytes` bytes more. */
function numbered(number: number, bytes: number): SequencedFrame {
  const payload = new Uint8Array(4 + bytes);
  new DataView(payload.buffer).setUint32(0, number);
  return { type: "data", streamId: 1, end: false, payload };
}

function numberOf(frame: SequencedFrame): number {
  if (frame.type !== "data") throw new Error(`Cannot take a frame of type ${frame.type}: only data was sent`);
  return new DataView(frame.payload.buffer, frame.payload.byteOffset).getUint32(0);
}

test("every frame arrives exactly once and in order, with cuts and hibernation at random points", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 80 }), (steps) => {
      const rig = new Rig();
      for (const step of steps) rig.run(step);
      rig.drain();
      expect(rig.received.edge).toEqual(Array.from({ length: rig.sent.phone }, (_, index) => index));
      expect(rig.received.phone).toEqual(Array.from({ length: rig.sent.edge }, (_, index) => index));
    }),
    { numRuns: 500 },
  );
});

test("acknowledgements bound what is kept, in both directions", () => {
  const rig = new Rig();
  for (let round = 0; round < 100; round += 1) {
    rig.run({ kind: "send", side: "phone", frames: 50, bytes: 10 });
    rig.run({ kind: "send", side: "edge", frames: 4, bytes: 20_000 });
    rig.turns.run();
    while (rig.link.deliver("up") || rig.link.deliver("down")) rig.turns.run();
    expect(rig.link.phone.retained.count).toBeLessThan(256);
    expect(rig.link.edge.retained.bytes).toBeLessThan(512 * 1024);
  }
});

test("an edge that hibernates while the phone still replays goes on at the right number", () => {
  const rig = new Rig();
  rig.run({ kind: "send", side: "phone", frames: 4, bytes: 30_000 });
  rig.turns.run();
  while (rig.link.deliver("up"));
  // All four arrived, none was acknowledged: all are replayed, one message each.
  rig.run({ kind: "connect" });
  rig.turns.run();
  rig.link.deliver("up");
  rig.turns.run();
  while (rig.link.deliver("down"));
  expect(rig.link.inFlight.up).toBeGreaterThan(1);
  rig.run({ kind: "hibernate" });
  rig.run({ kind: "send", side: "phone", frames: 1, bytes: 0 });
  rig.turns.run();
  while (rig.link.deliver("up"));
  expect(rig.received.edge).toEqual([0, 1, 2, 3, 4]);
});
