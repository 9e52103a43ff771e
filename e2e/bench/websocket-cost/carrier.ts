/** Raw TCP, WebSocket messages and Ropeway streams, as one thing: bodies of a known length, both ways. */

export const CARRIERS = ["tcp", "websocket", "ropeway"] as const;

export type Carrier = (typeof CARRIERS)[number];

/** What the client wants of a connection; said once, when it opens. */
export interface CarrierTask {
  /** "echo": every body comes back. "send": the server sends. */
  readonly mode: "echo" | "send";
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
    for (received += bytes; received >= payload; received -= payload) void pipe.send(body);
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
