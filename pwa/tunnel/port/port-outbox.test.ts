import { describe, expect, it } from "vitest";
import { PORT_BATCH_TIME, type TunnelToPort } from "../../messages/port-messages.ts";
import { PORT_BATCH_BYTES, PortOutbox } from "./slot-port.ts";

function rig() {
  const posted: (readonly TunnelToPort[])[] = [];
  const transferred: Transferable[] = [];
  const timers: { readonly task: () => void; readonly delay: number }[] = [];
  const port = {
    postMessage(messages: readonly TunnelToPort[], transfer: readonly Transferable[] = []) {
      posted.push(messages);
      transferred.push(...transfer);
    },
  };
  const outbox = new PortOutbox(port as Pick<MessagePort, "postMessage">, (task, delay) => {
    timers.push({ task, delay });
    return () => {};
  });
  return {
    outbox,
    transferred,
    timers,
    /** What was posted since the last time, one line a message. */
    async posted(): Promise<string[]> {
      await Promise.resolve();
      return posted.splice(0).map((messages) => messages.map(describeMessage).join(" "));
    },
    /** The rest after the last post is over. */
    rest: () => timers.shift()?.task(),
  };
}

function describeMessage(message: TunnelToPort): string {
  if (message.type === "data") return `data${message.id}(${[...message.chunk].slice(0, 9).join("")})`;
  return "id" in message ? `${message.type}${message.id}` : message.type;
}

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

describe("PortOutbox", () => {
  it("posts the first at once, with what the same turn brings", async () => {
    const { outbox, posted } = rig();
    outbox.postData(1, bytes(1));
    outbox.post({ type: "end", id: 1 });
    expect(await posted()).toEqual(["data1(1) end1"]);
  });

  it("gathers what comes soon after, each stream's bytes as one, in order", async () => {
    const { outbox, posted, rest, timers } = rig();
    outbox.post({ type: "pong" });
    expect(await posted()).toEqual(["pong"]);
    expect(timers[0]?.delay).toBe(PORT_BATCH_TIME);
    outbox.postData(1, bytes(1));
    outbox.postData(2, bytes(7));
    outbox.postData(1, bytes(2, 3));
    outbox.post({ type: "end", id: 1 });
    outbox.postData(2, bytes(8));
    expect(await posted()).toEqual([]);
    rest();
    expect(await posted()).toEqual(["data1(123) data2(78) end1"]);
  });

  it("never moves bytes of a stream before what was posted about it", async () => {
    const { outbox, posted } = rig();
    outbox.postData(1, bytes(1));
    outbox.post({ type: "body-wanted", id: 1 });
    outbox.postData(1, bytes(2));
    expect(await posted()).toEqual(["data1(1) body-wanted1 data1(2)"]);
  });

  it("does not wait with many bytes", async () => {
    const { outbox, posted } = rig();
    outbox.post({ type: "pong" });
    await posted();
    const half = new Uint8Array(PORT_BATCH_BYTES / 2);
    outbox.postData(1, half);
    expect(await posted()).toEqual([]);
    outbox.postData(1, half);
    expect(await posted()).toEqual(["data1(000000000)"]);
  });

  it("is at rest again when nothing came meanwhile", async () => {
    const { outbox, posted, rest, timers } = rig();
    outbox.post({ type: "pong" });
    await posted();
    rest();
    expect(timers).toEqual([]);
    outbox.post({ type: "pong" });
    expect(await posted()).toEqual(["pong"]);
  });

  it("transfers a buffer only if nothing else is in it", async () => {
    const { outbox, posted, transferred, rest } = rig();
    const message = new Uint8Array(20_000);
    outbox.postData(1, message.subarray(4));
    await posted();
    expect(transferred.pop()).toBe(message.buffer);
    outbox.postData(1, message.subarray(4, 19_000));
    rest();
    await posted();
    expect(transferred.pop()).not.toBe(message.buffer);
  });
});
