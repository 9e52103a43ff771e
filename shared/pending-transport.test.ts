import { describe, expect, it } from "vitest";
import { messageOf, ScriptedTransport } from "./testing/mux/scripted-transport.ts";
import { PendingTransport } from "./transport.ts";
import { concat } from "./wire/frame.ts";

const ack = (received: number) => messageOf({ type: "ack", received });

describe("PendingTransport", () => {
  it("keeps what is sent until the link is open, then passes it on in order", () => {
    const pending = new PendingTransport();
    const link = new ScriptedTransport();
    expect(pending.send(ack(1))).toBe(true);
    pending.send(ack(2));
    pending.open(link);
    pending.send(ack(3));
    expect(link.messages).toEqual([ack(1), ack(2), ack(3)]);
  });

  it("gives the first message for the handshake, once", () => {
    const pending = new PendingTransport();
    const link = new ScriptedTransport();
    expect(pending.takeOpening(100)).toBeNull();
    pending.send(ack(1));
    pending.send(ack(2));
    expect(pending.takeOpening(100)).toEqual(ack(1));
    pending.open(link);
    expect(link.messages).toEqual([ack(2)]);
  });

  it("gives messages of carried channels behind it too, as many as fit and no other after them", () => {
    const carried = (channel: number) =>
      messageOf({ type: "carry", channel, link: channel }, { type: "ack", received: channel });
    const first = ack(9);
    for (const [limit, count] of [
      [first.length, 0],
      [first.length + carried(1).length, 1],
      [1_000, 2],
    ] as const) {
      const pending = new PendingTransport();
      const link = new ScriptedTransport();
      const messages = [first, carried(1), carried(2), ack(3), carried(4)];
      for (const message of messages) pending.send(message);
      expect(pending.takeOpening(limit)).toEqual(concat(...messages.slice(0, 1 + count)));
      pending.open(link);
      expect(link.messages).toEqual(messages.slice(1 + count));
    }
  });

  it("cuts a long first message between two frames", () => {
    const message = concat(ack(1), ack(2), ack(3));
    for (let limit = 0; limit <= message.length; limit++) {
      const pending = new PendingTransport();
      const link = new ScriptedTransport();
      pending.send(message);
      const opening = pending.takeOpening(limit);
      pending.open(link);
      expect(opening?.length ?? 0).toBe(Math.floor(limit / ack(1).length) * ack(1).length);
      expect(concat(opening ?? new Uint8Array(0), ...link.messages)).toEqual(message);
    }
  });

  it("closes as soon as there is something to close, and takes nothing more", () => {
    const pending = new PendingTransport();
    const link = new ScriptedTransport();
    pending.send(ack(1));
    pending.close(4016, "lost");
    expect(pending.send(ack(2))).toBe(false);
    pending.open(link);
    expect(link.messages).toEqual([ack(1)]);
    expect(link.closed).toEqual({ code: 4016, reason: "lost" });
  });
});
