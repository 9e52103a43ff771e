import { describe, expect, test } from "vitest";
import * as limits from "../../limits.ts";
import { statusOf } from "../../testing/mux/channel-status.ts";
import { connected, request } from "../../testing/mux/channelled-sessions.ts";
import { GET, OK } from "../../testing/mux/session-rig.ts";
import { StreamLog } from "../../testing/mux/stream-log.ts";
import { DEFAULT_PRIORITY } from "../../wire/frame.ts";

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
    expect([sockets.phone.streams.hasRoom(), sockets.edge.streams.count]).toEqual([false, limits.concurrentStreams]);
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
