import { expect, test } from "vitest";
import { type EdgeSocket, hear } from "./tunnel-server.ts";

function setUp(isOpen = true) {
  const events: unknown[] = [];
  const connection = {
    receive: (message: Uint8Array) => events.push(["receive", message]),
    keptAlive: () => events.push("kept alive"),
    finish: () => events.push("finish"),
    closed() {},
  };
  const socket: EdgeSocket = {
    send(message) {
      events.push(["send", message]);
      return isOpen;
    },
    close: (code) => events.push(["close", code]),
  };
  return { events, hear: (message: Uint8Array | string) => hear(connection, socket, message) };
}

test("frames, keep-alives and the end of the link each go their way", () => {
  const { events, hear } = setUp();
  const frames = Uint8Array.of(0x80, 1);
  expect([hear(frames), hear("ropeway.keep-alive"), hear("ropeway.end")]).toEqual([true, true, true]);
  expect(events).toEqual([["receive", frames], ["send", "ropeway.keep-alive"], "kept alive", "finish"]);
});

test("a keep-alive that cannot be answered counts for nothing", () => {
  const { events, hear } = setUp(false);
  hear("ropeway.keep-alive");
  expect(events).toEqual([["send", "ropeway.keep-alive"]]);
});

test("any other text ends the socket with PROTOCOL_ERROR", () => {
  const { events, hear } = setUp();
  expect(hear("GET / HTTP/1.1")).toBe(false);
  expect(events).toEqual([["close", 4001]]);
});
