/** Sockets to origins to which Cloudflare opens no connection. */
import { expect, it } from "vitest";
import * as limits from "../../shared/limits.ts";
import { createOpenSocket } from "./origin-socket-workerd.ts";

const MIB = 1024 * 1024;

async function openUnpaced() {
  let asked: Request | null = null;
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  const got: unknown[] = [];
  server.addEventListener("message", ({ data }) => got.push(typeof data === "string" ? data : data.byteLength));
  const open = createOpenSocket({
    dial: async (request) => {
      await request.body?.cancel();
      return new Response(null, { status: 502 });
    },
    fetch: async (request) => {
      asked = request;
      return new Response(null, { status: 101, webSocket: client });
    },
  });
  const handshake = { url: new URL("https://a.example/live"), headers: new Headers({ origin: "https://a.example" }) };
  const { status, socket } = await open(handshake, new AbortController().signal);
  if (socket === null) throw new Error("Cannot test: no socket");
  return { asked: asked as Request | null, status, socket, server, got };
}

it("are opened by fetch, and carry messages both ways", async () => {
  const { asked, status, socket, server, got } = await openUnpaced();
  expect([status, asked?.url, asked?.headers.get("upgrade")]).toEqual([101, "https://a.example/live", "websocket"]);
  await socket.send({ kind: "text", bytes: new Uint8Array([0xc3]), isLast: false });
  await socket.send({ kind: "text", bytes: new Uint8Array([0xa4]), isLast: true });
  await socket.send({ kind: "binary", bytes: new Uint8Array(3), isLast: true });
  server.send("hi");
  expect(await socket.receive()).toEqual({ kind: "text", bytes: new TextEncoder().encode("hi"), isLast: true });
  await expect.poll(() => got).toEqual(["ä", 3]);
  server.close(4000, "enough");
  expect(await socket.receive()).toEqual({ kind: "close", code: 4000, reason: "enough" });
});

it("count all that was ever sent as held, and give it back only when they are cut", async () => {
  const { asked, socket } = await openUnpaced();
  let told = 0;
  socket.onHeld = () => {
    told += 1;
  };
  for (let count = 0; count < 8; count++)
    await socket.send({ kind: "binary", bytes: new Uint8Array(MIB), isLast: true });
  expect([socket.heldBytes, told]).toEqual([8 * (MIB + limits.retainedFrameBytes), 8]);
  expect(asked?.signal.aborted).toBe(false);
  socket.abort();
  // What the runtime has queued goes at once.
  expect(asked?.signal.aborted).toBe(true);
});

it("count messages without a payload, too, until they are taken", async () => {
  const { socket, server } = await openUnpaced();
  for (let count = 0; count < 100; count++) server.send("");
  await expect.poll(() => socket.heldBytes).toBe(100 * limits.retainedFrameBytes);
  for (let count = 0; count < 100; count++) await socket.receive();
  expect(socket.heldBytes).toBe(0);
});
