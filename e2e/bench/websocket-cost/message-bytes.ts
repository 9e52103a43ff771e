/** Bytes per message on real sockets: WebSocket messages and Ropeway's DATA frames, counted by a relay below them. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { WebSocket, WebSocketServer } from "ws";
import * as limits from "../../../shared/limits.ts";
import { encodeFrame } from "../../../shared/wire/frame.ts";
import type { Carrier } from "./carriers.ts";
import { type CountingRelay, startCountingRelay } from "./counting-relay.ts";

/** Bytes of TCP payload that one message of application data costs each way. */
export interface MessageBytes {
  readonly payload: number;
  /** From the client. */
  readonly up: number;
  /** From the server. */
  readonly down: number;
}

/** A stream in the midst of a sitting: its id takes two bytes. */
const COUNTED_STREAM = 101;

/** Bytes of a body in one frame and message, as Ropeway sends on a fast link. */
const COUNTED_PIECE = limits.batchBytes;

/** Sends one message each way for each size, over one connection, and counts. A byte of TCP is a byte. */
export async function countMessageBytes(carrier: Carrier, payloads: readonly number[]): Promise<MessageBytes[]> {
  if (carrier === "tcp") return payloads.map((payload) => ({ payload, up: payload, down: payload }));
  return overWebSocket(carrier, payloads);
}

async function overWebSocket(carrier: "websocket" | "ropeway", payloads: readonly number[]): Promise<MessageBytes[]> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  server.on("connection", (socket) => socket.on("message", (data) => socket.send(data)));
  await once(server, "listening");
  const relay = await startCountingRelay((server.address() as AddressInfo).port);
  const socket = new WebSocket(`ws://127.0.0.1:${relay.port}`, { perMessageDeflate: false });
  await once(socket, "open");
  try {
    return await countEach(relay, payloads, async (payload) => {
      const messages = carrier === "websocket" ? [new Uint8Array(payload)] : dataMessages(payload);
      for (const message of messages) {
        socket.send(message);
        await once(socket, "message");
      }
    });
  } finally {
    socket.terminate();
    await relay.close();
    server.close();
  }
}

function dataMessages(payload: number): Uint8Array[] {
  const messages: Uint8Array[] = [];
  for (let sent = 0; sent < payload; sent += COUNTED_PIECE) {
    const bytes = new Uint8Array(Math.min(COUNTED_PIECE, payload - sent));
    messages.push(encodeFrame({ type: "data", streamId: COUNTED_STREAM, end: false, payload: bytes }));
  }
  return messages;
}

/** @param exchange sends one message of so many bytes, and resolves when it has come back. */
async function countEach(
  relay: CountingRelay,
  payloads: readonly number[],
  exchange: (payload: number) => Promise<void>,
): Promise<MessageBytes[]> {
  const counts: MessageBytes[] = [];
  for (const payload of payloads) {
    const before = { ...relay.bytes };
    await exchange(payload);
    counts.push({ payload, up: relay.bytes.up - before.up, down: relay.bytes.down - before.down });
  }
  return counts;
}
