import { expect, it } from "vitest";
import type { RequestHandler } from "../../shared/http/exchange.ts";
import { KEEP_ALIVE } from "../../shared/subprotocol.ts";
import { CountedBody } from "../../shared/testing/http/exchange-rig.ts";
import { settle } from "../../shared/testing/turns.ts";
import type { FakeSocket } from "./testing/fake-platform.ts";
import { text, tunnelRig } from "./testing/tunnel-rig.ts";
import { UPLOAD_DRAIN_TIME } from "./tunnel.ts";

/** Bytes, and bytes per millisecond. */
const BATCH = 64 * 1024;
const RATE = 15;
/** Milliseconds. */
const ROUND_TRIP = 100;
const HANDSHAKE = 3 * ROUND_TRIP;
const STEP = 500;

const readAll: RequestHandler = async (request) => {
  await new Response(request.body as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer();
  return text(request);
};

/**
 * A tunnel on a slow fetch road: the edge gets nothing of a batch before it is whole, and acknowledges it in two messages
 * that are milliseconds apart.
 */
function slowUplink() {
  const due: { readonly at: number; readonly run: () => void }[] = [];
  const after = (delay: number, run: () => void): void => {
    due.push({ at: rig.platform.time + delay, run });
    due.sort((a, b) => a.at - b.at);
  };
  const queues = new Map<FakeSocket, { readonly bytes: number; readonly deliver: () => void }[]>();
  const sendBatch = (socket: FakeSocket): void => {
    const queue = queues.get(socket) ?? [];
    const batch: (() => void)[] = [];
    let length = 0;
    while (queue[0] !== undefined && (length === 0 || length + queue[0].bytes <= BATCH)) {
      length += queue[0].bytes;
      batch.push(queue[0].deliver);
      queue.shift();
    }
    if (length === 0) return void queues.delete(socket);
    const first = batch.splice(0, Math.ceil(batch.length / 2));
    after(ROUND_TRIP + length / RATE, () => {
      for (const deliver of first) deliver();
      after(3, () => {
        for (const deliver of batch) deliver();
        sendBatch(socket);
      });
    });
  };
  const uplink = (socket: FakeSocket, bytes: number, deliver: () => void): void => {
    const queue = queues.get(socket);
    if (queue !== undefined) return void queue.push({ bytes, deliver });
    queues.set(socket, [{ bytes, deliver }]);
    queueMicrotask(() => sendBatch(socket));
  };
  const rig = tunnelRig(readAll, { uplink });
  const connectSoon = (): void => {
    const { socket } = rig.platform;
    if (socket.readyState !== WebSocket.CONNECTING || socket.onSentText !== null) return;
    socket.onSentText = () => {};
    after(HANDSHAKE, () => {
      if (socket.readyState !== WebSocket.CONNECTING) return;
      void rig.connect();
      socket.onSentText = (word) => uplink(socket, word.length, () => socket.receive(KEEP_ALIVE));
    });
  };
  const pass = async (time: number): Promise<void> => {
    for (const end = rig.platform.time + time; rig.platform.time < end; ) {
      connectSoon();
      const until = Math.min(end, due[0]?.at ?? end, rig.platform.time + STEP);
      rig.platform.pass(until - rig.platform.time);
      while (due[0] !== undefined && due[0].at <= rig.platform.time) due.shift()?.run();
      await settle(3);
    }
  };
  return { ...rig, pass };
}

it("an upload on a slow uplink goes on after a cut, and no link is given up for what is under way", async () => {
  const { platform, tunnel, fetch, pass } = slowUplink();
  tunnel.setExperiment({ channels: 1 });
  const { consumer } = fetch({ method: "POST" }, new CountedBody(200_000).stream);
  await pass(11_000);
  platform.socket.lose();
  await pass(120_000);
  expect([consumer.text, platform.sockets.length]).toEqual(["text", 2]);
});

it("notices a dead link under an upload soon, also after cuts that it was told of", async () => {
  const { platform, tunnel, fetch, connect } = tunnelRig(readAll, { uplink: () => {} });
  tunnel.setExperiment({ channels: 1 });
  await connect();
  fetch({ method: "POST" }, new CountedBody(200_000).stream);
  await settle();
  for (let cut = 0; cut < 6; cut += 1) {
    platform.socket.lose();
    platform.pass(200);
    await connect();
  }
  const opened = platform.sockets.length;
  const start = platform.time;
  while (platform.sockets.length === opened && platform.time - start < 120_000) platform.pass(STEP);
  expect(platform.time - start).toBeLessThan(UPLOAD_DRAIN_TIME / 4);
});
