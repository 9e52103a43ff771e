/** What a session outlives: hibernation of its edge, cuts of its link, a phone that is away. */
import { describe, expect, test } from "vitest";
import { ErrorCode, RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { OK, request, sessionRig } from "../../testing/mux/session-rig.ts";

describe("hibernation of an idle edge", () => {
  test("keeps header tables, stream numbers and credit", () => {
    const linked = sessionRig();
    for (let round = 0; round < 10; round += 1) {
      const { phone, edge } = request(linked, false);
      void phone.stream.write(new Uint8Array(200_000));
      phone.stream.end();
      edge.stream.sendHead([...OK, ["x-round", String(round % 3)]], false);
      void edge.stream.write(new Uint8Array(300_000));
      edge.stream.end();
      linked.flow();
      phone.stream.consumed(phone.bytes);
      linked.flow();
      expect(edge.bytes).toBe(200_000);
      expect(phone.bytes).toBe(300_000);
      linked.hibernateEdge();
    }
    expect(linked.ended).toEqual({ phone: null, edge: null });
  });

  test("gives credit back for what had arrived and went with its memory", () => {
    const linked = sessionRig({ consume: false });
    for (let round = 0; round < 20; round += 1) {
      const { phone, edge } = request(linked, false);
      void phone.stream.write(new Uint8Array(limits.uploadStreamCreditBytes));
      phone.stream.end();
      edge.stream.sendHead(OK, true);
      linked.flow();
      expect(edge.bytes).toBe(limits.uploadStreamCreditBytes);
      linked.hibernateEdge();
    }
  });
});

describe("a phone at rest", () => {
  /** Timers that run when a test says so. */
  function timers() {
    const waiting = new Map<() => void, number>();
    return {
      waiting,
      setTimer(task: () => void, delay: number) {
        waiting.set(task, delay);
        return () => waiting.delete(task);
      },
      run() {
        const due = [...waiting.keys()];
        waiting.clear();
        for (const task of due) task();
      },
    };
  }

  test("acknowledges what came, however little, so that the edge need not keep it", () => {
    const { setTimer, waiting, run } = timers();
    const linked = sessionRig({ setTimer });
    const { edge } = request(linked);
    edge.stream.sendHead(OK, true);
    linked.flow();
    expect([linked.edge.channels.isUnacknowledged, [...waiting.values()]]).toEqual([true, [limits.restTime]]);
    run();
    linked.flow();
    expect([linked.edge.channels.isUnacknowledged, waiting.size]).toEqual([false, 0]);
  });

  test("waits for its last stream, and says nothing twice", () => {
    const { setTimer, waiting, run } = timers();
    const linked = sessionRig({ setTimer });
    request(linked).edge.stream.sendHead(OK, true);
    linked.flow();
    const { edge } = request(linked);
    run();
    linked.flow();
    expect([linked.edge.channels.isUnacknowledged, waiting.size]).toEqual([true, 0]);
    edge.stream.sendHead(OK, true);
    linked.flow();
    run();
    linked.flow();
    const { messagesUp } = linked.phone.channels.traffic;
    expect([linked.edge.channels.isUnacknowledged, waiting.size]).toEqual([false, 0]);
    linked.flow();
    expect(linked.phone.channels.traffic.messagesUp).toBe(messagesUp);
  });

  test("lets its edge keep no memory for what may come, once all has arrived", () => {
    const { setTimer, run } = timers();
    const linked = sessionRig({ setTimer });
    const { phone, edge } = request(linked, false, true);
    void phone.stream.write(new Uint8Array(500_000));
    edge.stream.sendHead(OK, false);
    void edge.stream.write(new Uint8Array(500_000));
    linked.flow();
    const spare = (): number[] => [linked.phone, linked.edge].map(({ channel }) => channel.retained.spareBytes);
    expect(Math.min(...spare())).toBeGreaterThan(0);
    phone.stream.end();
    edge.stream.end();
    linked.flow();
    run();
    linked.flow();
    expect(spare()[1]).toBe(0);
  });

  test("leaves no timer behind when its session ends", () => {
    const { setTimer, waiting } = timers();
    const linked = sessionRig({ setTimer });
    request(linked).edge.stream.sendHead(OK, true);
    linked.flow();
    linked.phone.end(new RopewayError(ErrorCode.NO_ERROR, "session", "user", "over"));
    expect(waiting.size).toBe(0);
  });
});

test("a cut in the middle of everything costs nothing but time", () => {
  const linked = sessionRig();
  const logs = Array.from({ length: 20 }, () => request(linked, false, true));
  for (const [index, { phone, edge }] of logs.entries()) {
    void phone.stream.write(new Uint8Array(20_000));
    phone.stream.end();
    edge.stream.sendHead([...OK, ["x-index", String(index)]], false);
    edge.stream.write(new Uint8Array(150_000)).catch(() => {});
    edge.stream.end();
    linked.phone.channel.flush();
    linked.edge.channel.flush();
    for (let messages = 0; messages < index % 7; messages += 1) linked.link.deliver(index % 2 === 0 ? "up" : "down");
    if (index % 3 === 0) linked.link.connect();
  }
  linked.link.connect();
  linked.flow();
  for (const [index, { phone, edge }] of logs.entries()) {
    expect(phone.fields).toEqual([...OK, ["x-index", String(index)]]);
    expect([phone.bytes, edge.bytes]).toEqual([150_000, 20_000]);
    expect(phone.events.at(-1)).toBe("end");
  }
  expect([linked.phone.streams.count, linked.edge.streams.count]).toEqual([0, 0]);
});

test("a phone that is away does not cost the session, however small the origin's chunks are", () => {
  const linked = sessionRig();
  const { phone, edge } = request(linked, true, true);
  edge.stream.sendHead(OK, false);
  linked.flow();
  linked.link.cut();
  for (let chunk = 0; chunk < 100_000; chunk += 1) edge.stream.write(new Uint8Array(8)).catch(() => {});
  edge.stream.end();
  expect(linked.edge.channel.retained.bytes).toBeLessThan(limits.retainedBytes);
  linked.link.connect();
  linked.flow();
  expect(phone.bytes).toBe(800_000);
  expect(phone.events.at(-1)).toBe("end");
});
