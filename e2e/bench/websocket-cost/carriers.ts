/** Raw TCP, WebSocket messages and Ropeway streams, as one thing: bodies of a known length, both ways. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { type RawData, WebSocket } from "ws";
import { Session } from "../../../shared/mux/session/session.ts";
import type { MuxStream } from "../../../shared/mux/stream/stream.ts";
import type { Transport } from "../../../shared/transport.ts";
import { decodeMessage, SESSION_ID_BYTES } from "../../../shared/wire/frame.ts";

export const CARRIERS = ["tcp", "websocket", "ropeway"] as const;

export type Carrier = (typeof CARRIERS)[number];

/** What the client wants of a connection; said once, when it opens. */
export interface CarrierTask {
  /** "echo": every body comes back. "send": the server sends. "take": the client does, and one body comes back at the end. */
  readonly mode: "echo" | "send" | "take";
  /** Bytes of each body. */
  readonly payload: number;
  /** Bodies to send. */
  readonly count: number;
}

/** With this many bytes waiting in socket, WebSocket or stream, a sender waits too. */
export const HIGH_WATER = 1024 * 1024;

/** One end of a connection that carries bodies. */
export interface BodyPipe {
  /** Resolves when more may be sent. */
  send(body: Uint8Array): Promise<void> | void;
  /** Called with the bytes of bodies as they arrive, in parts of any length. */
  onBytes: (bytes: number) => void;
  close(): void;
}

/** What a server does on a connection that has a task. @param pipe its own end. */
export async function serveTask(pipe: BodyPipe, { mode, payload, count }: CarrierTask): Promise<void> {
  const body = new Uint8Array(payload);
  if (mode === "send") {
    for (let sent = 0; sent < count; sent++) await pipe.send(body);
    return;
  }
  let received = 0;
  pipe.onBytes = (bytes) => {
    const each = mode === "take" ? payload * count : payload;
    for (received += bytes; received >= each; received -= each) void pipe.send(body);
  };
}

/** Sends bodies one after the other, each once the one before has come back. @returns milliseconds of each. */
export async function echoTimes(pipe: BodyPipe, payload: number, count: number): Promise<number[]> {
  const body = new Uint8Array(payload);
  const times: number[] = [];
  for (let sent = 0; sent < count; sent++) {
    const start = performance.now();
    await new Promise<void>((resolve) => {
      let left = payload;
      pipe.onBytes = (bytes) => {
        left -= bytes;
        if (left === 0) resolve();
      };
      void pipe.send(body);
    });
    times.push(performance.now() - start);
  }
  return times;
}

/**
 * Sends what the server takes.
 *
 * @returns milliseconds until all has arrived there, and word of that is back.
 */
export async function sendTime(pipe: BodyPipe, payload: number, count: number): Promise<number> {
  const body = new Uint8Array(payload);
  const start = performance.now();
  const taken = new Promise<void>((resolve) => {
    let left = payload;
    pipe.onBytes = (bytes) => {
      left -= bytes;
      if (left === 0) resolve();
    };
  });
  for (let sent = 0; sent < count; sent++) await pipe.send(body);
  await taken;
  return performance.now() - start;
}

/**
 * Receives what the server sends.
 *
 * @param bytes to receive before the clock starts, and while it runs.
 * @returns milliseconds.
 */
export function receiveTime(
  pipe: BodyPipe,
  bytes: { readonly before: number; readonly timed: number },
): Promise<number> {
  return new Promise((resolve) => {
    let received = 0;
    let start = performance.now();
    pipe.onBytes = (part) => {
      if (received < bytes.before) start = performance.now();
      received += part;
      if (received === bytes.before + bytes.timed) resolve(performance.now() - start);
    };
  });
}

export async function connectTcp(host: string, port: number, task: CarrierTask): Promise<BodyPipe> {
  const socket = createConnection(port, host);
  await once(socket, "connect");
  socket.write(`${JSON.stringify(task)}\n`);
  return tcpPipe(socket);
}

/** The task is the connection's first line; what follows goes to the pipe. */
export function acceptTcp(socket: Socket, serve: (pipe: BodyPipe, task: CarrierTask) => void): void {
  let line = "";
  const read = (part: Buffer): void => {
    const end = part.indexOf(10);
    line += part.toString("utf8", 0, end < 0 ? part.length : end);
    if (end < 0) return;
    socket.off("data", read);
    const pipe = tcpPipe(socket);
    serve(pipe, JSON.parse(line));
    if (end + 1 < part.length) pipe.onBytes(part.length - end - 1);
  };
  socket.on("data", read);
}

function tcpPipe(socket: Socket): BodyPipe {
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  const pipe: BodyPipe = {
    // As much as the others let wait; more than Node's own mark, so the event for an empty buffer will come.
    send: (body) => {
      socket.write(body);
      return socket.writableLength < HIGH_WATER ? undefined : drained(socket);
    },
    onBytes: () => {},
    close: () => void socket.destroy(),
  };
  socket.on("data", (part: Buffer) => pipe.onBytes(part.length));
  return pipe;
}

/** Resolves when the socket takes more, or is gone. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.on("drain", done).on("close", done);
  });
}

/** Each body is one message. */
export async function connectWebSocket(url: string, task: CarrierTask): Promise<BodyPipe> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, "open");
  socket.send(JSON.stringify(task));
  return webSocketPipe(socket);
}

/** The task is the first message. */
export function acceptWebSocket(socket: WebSocket, serve: (pipe: BodyPipe, task: CarrierTask) => void): void {
  socket.once("message", (data: RawData) => serve(webSocketPipe(socket), JSON.parse(String(data))));
}

function webSocketPipe(socket: WebSocket): BodyPipe {
  socket.on("error", () => socket.terminate());
  const pipe: BodyPipe = {
    send(body) {
      if (socket.bufferedAmount < HIGH_WATER) return void socket.send(body);
      return new Promise((resolve) => socket.send(body, () => resolve()));
    },
    onBytes: () => {},
    close: () => socket.terminate(),
  };
  socket.on("message", (data: Buffer) => pipe.onBytes(data.length));
  return pipe;
}

// Bodies on one Ropeway stream over a WebSocket: the product's own mux at both ends, without HTTP and optimizer.

export async function connectRopeway(url: string, task: CarrierTask): Promise<BodyPipe> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, "open");
  const session = new Session({
    role: "phone",
    sessionId: randomBytes(SESSION_ID_BYTES),
    handler: { onEnd: () => socket.terminate() },
  });
  const transport = transportOver(socket);
  session.channel.attach(transport);
  socket.on("message", (data: Buffer) => session.channel.receive(data, transport));
  const stream = session.streams.openNow();
  const pipe = streamPipe(stream, () => socket.terminate());
  stream.sendHead([["task", JSON.stringify(task)]], false);
  return pipe;
}

/** The task is in the stream's head. */
export function acceptRopeway(socket: WebSocket, serve: (pipe: BodyPipe, task: CarrierTask) => void): void {
  socket.once("message", (first: Buffer) => {
    const hello = decodeMessage(first).next().value;
    if (hello?.type !== "hello") return socket.terminate();
    const session = new Session({
      role: "edge",
      sessionId: hello.sessionId,
      handler: {
        onEnd: () => socket.terminate(),
        onStream(stream) {
          const pipe = streamPipe(
            stream,
            () => socket.terminate(),
            (task) => {
              stream.sendHead([["task", "taken"]], false);
              serve(pipe, task);
            },
          );
        },
      },
    });
    const transport = transportOver(socket);
    session.channel.resume(transport, hello);
    session.channel.receive(first, transport);
    socket.on("message", (data: Buffer) => session.channel.receive(data, transport));
  });
}

function streamPipe(stream: MuxStream, close: () => void, onTask?: (task: CarrierTask) => void): BodyPipe {
  let waiting = 0;
  const pipe: BodyPipe = {
    send(body) {
      waiting += body.length;
      const sent = stream.write(body).then(() => {
        waiting -= body.length;
      }, close);
      return waiting < HIGH_WATER ? undefined : sent;
    },
    onBytes: () => {},
    close,
  };
  stream.handler = {
    onHead: (fields) => onTask?.(JSON.parse(fields[0]?.[1] ?? "")),
    onData(part) {
      stream.consumed(part.length);
      pipe.onBytes(part.length);
    },
    onEnd: close,
    onReset: close,
  };
  return pipe;
}

function transportOver(socket: WebSocket): Transport {
  socket.on("error", () => socket.terminate());
  return {
    send(message) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(message);
      return true;
    },
    close: (code, reason) => socket.close(code, reason),
  };
}
