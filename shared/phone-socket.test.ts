import { expect, test } from "vitest";
import { dialWebSocket } from "./phone-socket.ts";
import { offeredProtocols } from "./subprotocol.ts";

const OPENING = Uint8Array.of(0x80, 1);

/** A WebSocket with only what is used of one. */
function setUp() {
  const raw = {
    protocols: [] as string[],
    readyState: WebSocket.CONNECTING as number,
    sent: [] as unknown[],
    closed: [] as unknown[],
    onopen: null as (() => void) | null,
    onmessage: null as ((event: { data: unknown }) => void) | null,
    onclose: null as ((event: { code: number; wasClean: boolean }) => void) | null,
    send: (message: unknown) => raw.sent.push(message),
    close: (...given: unknown[]) => raw.closed.push(given),
  };
  const events: unknown[] = [];
  const socket = dialWebSocket(
    { url: "wss://edge.example/", token: "device.sign", opening: OPENING },
    {
      onOpen: () => events.push("open"),
      onMessage: (message) => events.push(message),
      onClose: (code, isClean) => events.push([code, isClean]),
    },
    (_url, protocols) => {
      raw.protocols = protocols;
      return raw as unknown as WebSocket;
    },
  );
  return { raw, socket, events };
}

test("it offers what there is to offer, and takes messages while it is open", () => {
  const { raw, socket, events } = setUp();
  expect(raw.protocols).toEqual(offeredProtocols("device.sign", OPENING));
  expect(socket.send("early")).toBe(false);
  raw.readyState = WebSocket.OPEN;
  raw.onopen?.();
  expect(socket.send(OPENING)).toBe(true);
  raw.onmessage?.({ data: Uint8Array.of(1, 2).buffer });
  raw.onmessage?.({ data: "alive" });
  raw.readyState = WebSocket.CLOSED;
  raw.onclose?.({ code: 1001, wasClean: true });
  expect(socket.send("late")).toBe(false);
  expect(raw.sent).toEqual([OPENING]);
  expect(events).toEqual(["open", Uint8Array.of(1, 2), "alive", [1001, true]]);
});

test("it tells nothing more once it was closed here", () => {
  const { raw, socket } = setUp();
  socket.close(4001, "bye");
  expect([raw.closed, raw.onopen, raw.onmessage, raw.onclose]).toEqual([[[4001, "bye"]], null, null, null]);
});
