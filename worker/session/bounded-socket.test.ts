import { expect, it } from "vitest";
import * as limits from "../../shared/limits.ts";
import { KEEP_ALIVE } from "../../shared/subprotocol.ts";
import { BoundedSocket } from "./tunnel-server.ts";

/** A socket whose phone reads as much as a test says. */
function rig() {
  const socket = {
    readyState: WebSocket.OPEN as WebSocket["readyState"],
    bufferedAmount: 0,
    closedWith: [] as (number | undefined)[],
    send(message: string | ArrayBufferLike | Blob | ArrayBufferView) {
      socket.bufferedAmount += typeof message === "string" ? message.length : (message as Uint8Array).length;
    },
    close(code?: number) {
      socket.closedWith.push(code);
      socket.readyState = WebSocket.CLOSING;
    },
  };
  const overflows: number[] = [];
  const transport = new BoundedSocket(socket, () => overflows.push(socket.bufferedAmount));
  return { socket, overflows, transport };
}

const MESSAGE = new Uint8Array(limits.messageBytes);

it("a socket whose phone does not read is closed, and takes nothing more", () => {
  const { socket, overflows, transport } = rig();
  let sent = 0;
  while (sent < 10 * limits.fetchQueueBytes && transport.send(MESSAGE)) sent += MESSAGE.length;
  expect(sent).toBeGreaterThanOrEqual(limits.fetchQueueBytes);
  expect(sent).toBeLessThanOrEqual(limits.fetchQueueBytes + MESSAGE.length);
  expect([overflows, socket.closedWith]).toEqual([[sent], [undefined]]);
  expect([transport.send(MESSAGE), overflows.length, socket.bufferedAmount]).toEqual([false, 1, sent]);
});

it("answers to keep-alives are few that nobody reads, and any number that a phone reads", () => {
  const unread = rig();
  let answered = 0;
  while (answered < 1e6 && unread.transport.send(KEEP_ALIVE)) answered += 1;
  expect(answered).toBeLessThan(20_000);
  expect([unread.overflows.length, unread.transport.send(KEEP_ALIVE)]).toEqual([1, false]);
  const read = rig();
  for (let count = 0; count < 50_000; count += 1) {
    read.transport.send(KEEP_ALIVE);
    if (count % 100 === 0) read.socket.bufferedAmount = 0;
  }
  expect(read.overflows).toEqual([]);
});

it("a socket whose phone reads goes on, and is closed once, as the edge says", () => {
  const { socket, overflows, transport } = rig();
  for (let count = 0; count < 500; count += 1) {
    expect(transport.send(MESSAGE)).toBe(true);
    socket.bufferedAmount = 0;
  }
  transport.close(4001, "over");
  transport.close(4002, "over again");
  expect([overflows, socket.closedWith, transport.send(MESSAGE)]).toEqual([[], [4001], false]);
});
