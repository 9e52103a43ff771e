import { expect, it } from "vitest";
import type { MuxStream } from "../../shared/mux/stream/stream.ts";
import { settle } from "../../shared/testing/turns.ts";
import { PushOrder } from "./push-order.ts";

/** A stream as its order sees it. */
interface FakeStream {
  state: MuxStream["state"];
  sentBytes: number;
  ready: MuxStream["ready"];
}

function rig() {
  const timers = new Set<() => void>();
  const stream = (): FakeStream => ({ state: "half-closed-remote", sentBytes: 0, ready: "nothing" });
  const document = stream();
  const order = new PushOrder(document as MuxStream, (task) => {
    timers.add(task);
    return () => timers.delete(task);
  });
  const gone: string[] = [];
  return {
    order,
    document,
    /** Names of the pushes that may be sent, in the order in which they were told so. */
    gone,
    timers,
    push(name: string, urgency: number) {
      const pushed = stream();
      const turn = order.add(pushed as MuxStream, urgency);
      void turn.come.then(() => gone.push(name));
      return { stream: pushed, release: () => turn.release() };
    },
    async end(ended: FakeStream) {
      ended.state = "closed";
      order.update();
      await settle(1);
    },
    /** The time passes after which a silent origin holds nobody back. */
    async pass() {
      for (const task of [...timers]) {
        timers.delete(task);
        task();
      }
      await settle(1);
    },
  };
}

it("lets pushes go after their document, the more urgent ones first", async () => {
  const { order, document, gone, push, end } = rig();
  const image = push("image", 7);
  const script = push("script", 6);
  const [style, other] = [push("style", 5), push("other style", 5)];
  await settle(1);
  expect(gone).toEqual([]);
  await end(document);
  expect(gone).toEqual(["style", "other style"]);
  await end(style.stream);
  expect(gone).toHaveLength(2);
  await end(other.stream);
  expect(gone).toEqual(["style", "other style", "script"]);
  await end(script.stream);
  expect(gone).toEqual(["style", "other style", "script", "image"]);
  expect(order.isOver).toBe(false);
  await end(image.stream);
  expect(order.isOver).toBe(true);
});

it("lets go at once what the page has asked for", async () => {
  const { gone, push } = rig();
  push("style", 5);
  push("image", 7).release();
  await settle(1);
  expect(gone).toEqual(["image"]);
});

it("does not wait for an origin that sends nothing, but for a link that is slow", async () => {
  const { document, gone, push, pass } = rig();
  push("image", 7);
  for (const ready of ["data", "blocked"] as const) {
    document.ready = ready;
    await pass();
  }
  document.ready = "nothing";
  document.sentBytes = 100;
  await pass();
  expect(gone).toEqual([]);
  await pass();
  expect(gone).toEqual(["image"]);
});

it("runs no timer when nothing waits", async () => {
  const { document, gone, timers, push, pass, end } = rig();
  const image = push("image", 7);
  await end(document);
  await pass();
  expect([gone, timers.size]).toEqual([["image"], 0]);
  await end(image.stream);
  expect(timers.size).toBe(0);
});

it("forgets what was given up while it waited", async () => {
  const { document, gone, push, end } = rig();
  const style = push("style", 5);
  push("image", 7);
  await end(style.stream);
  await end(document);
  expect(gone).toEqual(["style", "image"]);
});
