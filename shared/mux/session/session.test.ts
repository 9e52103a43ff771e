/** Two sessions that follow the rules. Lost links: session-survival.test.ts. Peers that do not: session-hostile.test.ts. */
import { describe, expect, test, vi } from "vitest";
import { ErrorCode, RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { linkSessions } from "../../testing/mux/linked-sessions.ts";
import { GET, OK, request, sessionRig } from "../../testing/mux/session-rig.ts";
import { StreamLog } from "../../testing/mux/stream-log.ts";
import { thrownBy } from "../../testing/thrown-by.ts";
import { Turns } from "../../testing/turns.ts";
import { DEFAULT_PRIORITY, type HeaderField } from "../../wire/frame.ts";
import type { MuxStream } from "../stream/stream.ts";

describe("an exchange", () => {
  test("carries heads, data and ends both ways, and is gone afterwards", async () => {
    const linked = sessionRig();
    const { phone, edge } = request(linked, false);
    const written = phone.stream.write(new Uint8Array(70_000));
    phone.stream.end();
    linked.flow();
    await written;
    edge.stream.sendHead(OK, false);
    void edge.stream.write(new Uint8Array(5));
    edge.stream.end();
    linked.flow();
    expect(edge.fields).toEqual(GET);
    expect(edge.bytes).toBe(70_000);
    expect(edge.events.at(-1)).toBe("end");
    expect(phone.fields).toEqual(OK);
    expect(phone.events).toEqual(["head", "data 5", "end"]);
    expect([linked.phone.streams.count, linked.edge.streams.count]).toEqual([0, 0]);
  });

  test("may end with its heads", () => {
    const linked = sessionRig();
    const { phone, edge } = request(linked);
    edge.stream.sendHead(OK, true);
    linked.flow();
    expect(edge.events).toEqual(["head+end", "end"]);
    expect(phone.events).toEqual(["head+end", "end"]);
  });

  test("may end with trailers, which nobody is told of", () => {
    const linked = sessionRig();
    const { phone, edge } = request(linked);
    edge.stream.sendHead(OK, false);
    void edge.stream.write(new Uint8Array(5));
    edge.stream.sendHead([["server-timing", "a"]], true);
    linked.flow();
    expect(phone.events).toEqual(["head", "data 5", "end"]);
    expect(phone.fields).toEqual(OK);
  });

  test("trailers never overtake data that waits for credit", async () => {
    const linked = sessionRig();
    const { edge } = request(linked);
    edge.stream.sendHead(OK, false);
    const written = edge.stream.write(new Uint8Array(limits.streamCreditBytes + 1));
    expect(() => edge.stream.sendHead([["a", "b"]], true)).toThrow("data is to go first");
    edge.stream.reset(ErrorCode.CANCEL);
    await expect(written).rejects.toBeInstanceOf(RopewayError);
  });

  test("data that is written before the head leaves after it", () => {
    const linked = sessionRig();
    const log = new StreamLog(linked.phone.streams.openNow());
    void log.stream.write(new Uint8Array(3));
    log.stream.end();
    linked.flow();
    expect(linked.accepted).toEqual([]);
    log.stream.sendHead(GET, false);
    linked.flow();
    expect(linked.accepted[0]?.events).toEqual(["head", "data 3", "end"]);
  });
});

describe("opening streams", () => {
  test("numbers them as their heads leave, whatever the order in which they were opened", () => {
    const linked = sessionRig();
    const first = linked.phone.streams.openNow();
    const second = linked.phone.streams.openNow();
    second.sendHead([["a", "second"]], true);
    first.sendHead([["a", "first"]], true);
    linked.flow();
    expect(linked.accepted.map((log) => [log.stream.id, log.fields[0]?.[1]])).toEqual([
      [1, "second"],
      [3, "first"],
    ]);
  });

  test("and giving them up before their head is nothing that the edge hears of", () => {
    const linked = sessionRig();
    const stream = linked.phone.streams.openNow();
    stream.reprioritize({ urgency: 1, incremental: false });
    stream.reset(ErrorCode.CANCEL);
    stream.sendHead(GET, true);
    linked.flow();
    expect(linked.phone.streams.count).toBe(0);
    expect(linked.accepted).toEqual([]);
    expect(linked.ended).toEqual({ phone: null, edge: null });
  });

  test("waits at the limit, in the order of asking", async () => {
    const linked = sessionRig();
    const open = Array.from({ length: limits.concurrentStreams }, () => linked.phone.streams.openNow());
    expect(linked.phone.streams.hasRoom()).toBe(false);
    const opened: string[] = [];
    const waiting = ["a", "b"].map(async (name) => {
      await linked.phone.streams.open();
      opened.push(name);
    });
    open[0]?.reset(ErrorCode.CANCEL);
    await waiting[0];
    expect(opened).toEqual(["a"]);
    open[1]?.reset(ErrorCode.CANCEL);
    await waiting[1];
    expect(opened).toEqual(["a", "b"]);
    expect(linked.phone.streams.count).toBe(limits.concurrentStreams);
  });

  test("waits for one that asks without end, and not for who comes next", async () => {
    const { phone } = sessionRig();
    const { streams } = phone;
    const take = (asker: string): MuxStream[] => {
      const taken: MuxStream[] = [];
      while (streams.hasRoom(asker)) taken.push(streams.openNow(DEFAULT_PRIORITY, asker));
      return taken;
    };
    const [greedy, second, third] = ["greedy", "second", "third"].map(take);
    expect([greedy, second, third].map((each) => each?.length)).toEqual([192, 48, 12]);
    expect([streams.hasRoom("next"), streams.hasRoom()]).toEqual([true, true]);
    const waiting = streams.open(DEFAULT_PRIORITY, "greedy");
    for (const stream of [...(greedy ?? []), ...(second ?? []), ...(third ?? [])]) stream.reset(ErrorCode.CANCEL);
    await waiting;
    expect(take("greedy")).toHaveLength(191);
  });

  test("takes steps in proportion to those who wait, and serves who ask in turn", async () => {
    const serve = async (count: number) => {
      const { streams } = sessionRig().phone;
      const open = Array.from({ length: limits.concurrentStreams }, () => streams.openNow());
      const looked = vi.spyOn(streams, "hasRoom");
      const served: string[] = [];
      const waiting = Array.from({ length: count }, (_, index) => {
        const asker = index < count - 2 ? "greedy" : "other";
        return streams.open(DEFAULT_PRIORITY, asker).then((stream) => {
          served.push(asker);
          open.push(stream);
        });
      });
      for (let stream = open.shift(); served.length < count && stream; stream = open.shift()) {
        stream.reset(ErrorCode.CANCEL);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all(waiting);
      expect(served.slice(0, 4)).toEqual(["greedy", "other", "greedy", "other"]);
      return looked.mock.calls.length;
    };
    expect(await serve(2000)).toBeLessThanOrEqual(2.2 * (await serve(1000)));
  });

  test("fails for all who wait when the session ends", async () => {
    const linked = sessionRig();
    for (let index = 0; index < limits.concurrentStreams; index += 1) linked.phone.streams.openNow();
    const waiting = linked.phone.streams.open();
    linked.phone.end(new RopewayError(ErrorCode.LINK_LOST, "session", "user", "Cannot go on: over"));
    await expect(waiting).rejects.toMatchObject({ code: ErrorCode.LINK_LOST });
    expect(linked.phone.streams.count).toBe(0);
  });
});

describe("a reset", () => {
  test("reaches the other side with its code, and fails what waits there", async () => {
    const linked = sessionRig();
    const { phone, edge } = request(linked);
    edge.stream.sendHead(OK, false);
    const written = edge.stream.write(new Uint8Array(limits.streamCreditBytes * 2));
    linked.flow();
    phone.stream.reset(ErrorCode.CANCEL);
    linked.flow();
    expect(edge.error).toMatchObject({ code: ErrorCode.CANCEL, scope: "stream", initiator: "peer" });
    await expect(written).rejects.toMatchObject({ code: ErrorCode.CANCEL });
    expect(phone.events.at(-1)).not.toBe("reset");
  });

  test("tells the other side its reason, if it has one", () => {
    const linked = sessionRig();
    const [plain, reasoned] = [request(linked), request(linked)];
    plain.edge.stream.reset(ErrorCode.CANCEL);
    reasoned.edge.stream.reset(ErrorCode.UPSTREAM_TIMEOUT, "Cannot load it: it did not answer");
    linked.flow();
    expect(plain.phone.error?.message).toBe("Cannot go on: the peer reset the stream");
    expect(reasoned.phone.error).toMatchObject({
      code: ErrorCode.UPSTREAM_TIMEOUT,
      message: "Cannot load it: it did not answer",
    });
  });

  test("gives the session's credit back: for what was not consumed, and for what was under way", () => {
    const linked = sessionRig();
    const rounds = (3 * limits.sessionCreditBytes) / limits.streamCreditBytes;
    for (let round = 0; round < rounds; round += 1) {
      const { phone, edge } = request(linked);
      edge.stream.sendHead(OK, false);
      edge.stream.write(new Uint8Array(limits.streamCreditBytes)).catch(() => {});
      linked.edge.channel.flush();
      for (let messages = 0; messages < 8; messages += 1) linked.link.deliver("down");
      expect(phone.bytes).toBeGreaterThan(0);
      phone.stream.reset(ErrorCode.CANCEL);
      linked.flow();
    }
    const { phone, edge } = request(linked);
    edge.stream.sendHead(OK, false);
    edge.stream.write(new Uint8Array(limits.streamCreditBytes)).catch(() => {});
    linked.flow();
    expect(phone.bytes).toBeGreaterThanOrEqual(limits.firstStreamCreditBytes);
  });

  test("of a stream that has ended both ways gives back what its owner will never consume", () => {
    const linked = sessionRig();
    for (let round = 0; round < 20; round += 1) {
      const { phone, edge } = request(linked);
      edge.stream.sendHead(OK, false);
      void edge.stream.write(new Uint8Array(limits.firstStreamCreditBytes));
      edge.stream.end();
      linked.flow();
      expect(phone.bytes).toBe(limits.firstStreamCreditBytes);
      expect(phone.stream.state).toBe("closed");
      phone.stream.reset(ErrorCode.CANCEL);
      linked.flow();
    }
  });
});

describe("credit", () => {
  test("stops a sender whose receiver consumes nothing, and consuming lets it go on", () => {
    const linked = sessionRig();
    const { phone, edge } = request(linked);
    edge.stream.sendHead(OK, false);
    edge.stream.write(new Uint8Array(3 * limits.streamCreditBytes)).catch(() => {});
    linked.flow();
    expect(phone.bytes).toBe(limits.firstStreamCreditBytes);
    phone.stream.consumed(limits.firstStreamCreditBytes);
    linked.flow();
    expect(phone.bytes).toBeGreaterThan(2 * limits.firstStreamCreditBytes - 1);
    expect(phone.bytes).toBeLessThan(limits.firstStreamCreditBytes + limits.streamCreditBytes + 1);
  });

  test("of the session is held by no number of bodies that nobody reads, and an end alone needs none", () => {
    const linked = sessionRig();
    const logs = Array.from({ length: limits.concurrentStreams - 2 }, () => request(linked));
    for (const { edge } of logs) {
      edge.stream.sendHead(OK, false);
      edge.stream.write(new Uint8Array(2 * limits.streamCreditBytes)).catch(() => {});
    }
    const bodyless = request(linked);
    bodyless.edge.stream.sendHead(OK, false);
    bodyless.edge.stream.end();
    linked.flow();
    expect(bodyless.phone.events).toEqual(["head", "end"]);
    expect(linked.phone.receiver.window.unread).toBeGreaterThanOrEqual(logs.length * limits.firstStreamCreditBytes);
    expect(linked.phone.receiver.window.unread).toBeLessThanOrEqual(limits.unreadBytes);
    const { phone, edge } = request(linked, true, true);
    edge.stream.sendHead(OK, false);
    void edge.stream.write(new Uint8Array(3_000_000));
    linked.flow();
    expect(phone.bytes).toBe(3_000_000);
  });

  test("of the session is held by no number of bodies that were read for a while, on a link that takes all of it", () => {
    const linked = sessionRig();
    vi.spyOn(linked.phone.receiver, "streamWindow", "get").mockReturnValue(limits.sessionCreditBytes);
    for (let paused = 0; paused < 40; paused += 1) {
      const { phone, edge } = request(linked);
      edge.stream.sendHead(OK, false);
      edge.stream.write(new Uint8Array(8 * limits.sessionCreditBytes)).catch(() => {});
      let consumed = 0;
      for (let reads = 0; reads < 6; reads += 1) {
        linked.flow();
        phone.stream.consumed(phone.bytes - consumed);
        consumed = phone.bytes;
      }
      linked.flow();
      // As much as the link carries, for one that is read alone.
      if (paused === 0) expect(phone.bytes - consumed).toBeGreaterThan(0.9 * limits.sessionCreditBytes);
    }
    const { phone, edge } = request(linked, true, true);
    edge.stream.sendHead(OK, false);
    void edge.stream.write(new Uint8Array(3_000_000));
    linked.flow();
    expect(phone.bytes).toBe(3_000_000);
    expect(linked.phone.receiver.window.unread).toBeLessThanOrEqual(
      limits.pooledCreditBytes + 40 * limits.firstStreamCreditBytes,
    );
  });

  test("of the session comes back to the pool from streams that are over and read", () => {
    const linked = sessionRig();
    vi.spyOn(linked.phone.receiver, "streamWindow", "get").mockReturnValue(limits.sessionCreditBytes);
    const most = (): number => {
      const { phone, edge } = request(linked);
      edge.stream.sendHead(OK, false);
      void edge.stream.write(new Uint8Array(limits.firstStreamCreditBytes));
      linked.flow();
      phone.stream.consumed(phone.bytes);
      const before = phone.bytes;
      edge.stream.write(new Uint8Array(limits.sessionCreditBytes)).catch(() => {});
      linked.flow();
      const unread = phone.bytes - before;
      edge.stream.end();
      phone.stream.consumed(unread);
      linked.flow();
      phone.stream.consumed(phone.bytes);
      if (phone.stream.state !== "closed") phone.stream.reset(ErrorCode.CANCEL);
      linked.flow();
      return unread;
    };
    const first = most();
    for (let round = 0; round < 10; round += 1) expect(most()).toBe(first);
  });

  test("consumed more than was received is not given back", () => {
    const linked = sessionRig();
    const { phone, edge } = request(linked);
    edge.stream.sendHead(OK, false);
    edge.stream.write(new Uint8Array(2 * limits.streamCreditBytes)).catch(() => {});
    linked.flow();
    phone.stream.consumed(Number.MAX_SAFE_INTEGER);
    linked.flow();
    expect(phone.bytes).toBeLessThan(limits.firstStreamCreditBytes + limits.streamCreditBytes + 1);
    expect(linked.ended).toEqual({ phone: null, edge: null });
  });
});

describe("priority", () => {
  test("the more urgent stream goes first, and the phone may change its mind", () => {
    const linked = sessionRig();
    const order: number[] = [];
    const streams = [5, 1].map((urgency) => {
      const stream = linked.phone.streams.openNow({ urgency, incremental: false });
      stream.handler = { onHead() {}, onData: () => order.push(stream.id), onEnd() {}, onReset() {} };
      stream.sendHead(GET, true);
      return stream;
    });
    linked.flow();
    expect(linked.accepted.map((log) => log.stream.priority.urgency)).toEqual([5, 1]);
    streams[1]?.reprioritize({ urgency: 7, incremental: true });
    linked.flow();
    expect(linked.accepted[1]?.stream.priority).toEqual({ urgency: 7, incremental: true });
  });
});

describe("heads above the limits", () => {
  test("are refused before they are encoded, so that the next one decodes", () => {
    const linked = sessionRig();
    const stream = linked.phone.streams.openNow();
    const long: HeaderField = ["x-new", "x".repeat(limits.headBytes)];
    const error = thrownBy(() => stream.sendHead([["x-first", "1"], long], true));
    expect(error).toMatchObject({ code: ErrorCode.ENHANCE_YOUR_CALM, scope: "stream", initiator: "user" });
    const many = Array.from({ length: limits.headFields + 1 }, (): HeaderField => ["a", "b"]);
    expect(thrownBy(() => stream.sendHead(many, true))).toMatchObject({ code: ErrorCode.ENHANCE_YOUR_CALM });
    stream.reset(ErrorCode.CANCEL);
    const { edge } = request(linked);
    expect(edge.fields).toEqual(GET);
    expect(linked.ended).toEqual({ phone: null, edge: null });
  });

  test("a head right at the limit passes", () => {
    const linked = sessionRig();
    const stream = linked.phone.streams.openNow();
    // Octets that Huffman coding would only lengthen.
    stream.sendHead([["x", "\u00ff".repeat(limits.headBytes - 33)]], true);
    linked.flow();
    expect(linked.accepted[0]?.fields[0]?.[1]).toHaveLength(limits.headBytes - 33);
  });
});

test("fields of the session reach the edge, once and in order with the requests", () => {
  const turns = new Turns();
  const seen: string[] = [];
  const linked = linkSessions({
    defer: turns.defer,
    edge: {
      onSessionHead: (fields) => seen.push(`session ${JSON.stringify(fields)}`),
      onStream: (stream) => seen.push(`stream ${stream.id}`),
    },
  });
  linked.phone.sendSessionHead([["user-agent", "a"]]);
  linked.phone.streams.openNow().sendHead(GET, true);
  turns.run();
  while (linked.link.deliver("up"));
  expect(seen).toEqual(['session [["user-agent","a"]]', "stream 1"]);
});

test("what an owner throws ends its stream with an internal error, not the session", () => {
  const linked = sessionRig();
  const { phone, edge } = request(linked, false);
  edge.stream.handler = {
    onHead() {},
    onData: () => {
      throw new TypeError("oops");
    },
    onEnd() {},
    onReset() {},
  };
  void phone.stream.write(new Uint8Array(10));
  linked.flow();
  expect(phone.error).toMatchObject({ code: ErrorCode.INTERNAL_ERROR, scope: "stream" });
  expect(linked.ended).toEqual({ phone: null, edge: null });
});

test("the end of a session reaches the other side with its code, and fails all streams once", () => {
  const linked = sessionRig();
  const { phone, edge } = request(linked);
  linked.edge.end(new RopewayError(ErrorCode.KEY_NOT_ACCEPTED, "session", "user", "Cannot go on: unpaired"));
  linked.flow();
  expect(linked.ended.phone).toMatchObject({ code: ErrorCode.KEY_NOT_ACCEPTED, message: "Cannot go on: unpaired" });
  expect(phone.events).toEqual(["reset"]);
  expect(edge.events).toEqual(["head+end", "end", "reset"]);
  expect(thrownBy(() => linked.phone.streams.openNow())).toMatchObject({ code: ErrorCode.KEY_NOT_ACCEPTED });
});

test("what is not acknowledged is counted as it goes over the link, without what keeping it costs", () => {
  const linked = sessionRig();
  const { phone } = request(linked, false);
  linked.flow();
  const before = linked.phone.channels.unacknowledgedBytes;
  for (let count = 0; count < 100; count += 1) phone.stream.reprioritize({ urgency: count % 8, incremental: false });
  const frames = linked.phone.channel.retained.count;
  expect(frames).toBeGreaterThan(90);
  expect(linked.phone.channels.unacknowledgedBytes - before).toBeGreaterThanOrEqual(3 * frames);
  expect(linked.phone.channels.unacknowledgedBytes - before).toBeLessThan(10 * frames);
});
