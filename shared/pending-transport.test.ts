import { describe, expect, it } from "vitest";
import { PendingTransport } from "./pending-transport.ts";
import { messageOf, ScriptedTransport } from "./testing/scripted-transport.ts";
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
