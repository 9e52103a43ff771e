import type { SetTimer } from "../../shared/clock.ts";
import { ErrorCode } from "../../shared/errors.ts";
import * as limits from "../../shared/limits.ts";
import type { Defer } from "../../shared/mux/pipe/channel.ts";
import { CLOSE_CODE_BASE, END_OF_LINK, KEEP_ALIVE } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import type { Connection } from "./tunnel-server.ts";

// A phone's socket at the edge, whatever carries it.

export interface EdgeSocket extends Transport {
  send(message: Uint8Array | string): boolean;
}

/**
 * Acts on what came: frames, or one of the texts of PROTOCOL.md section 1.2.
 *
 * @returns false for what no phone says; then the socket is closed.
 */
export function hear(connection: Connection, socket: EdgeSocket, message: Uint8Array | string): boolean {
  if (typeof message !== "string") connection.receive(message);
  else if (message === END_OF_LINK) connection.finish();
  else if (message === KEEP_ALIVE) {
    if (socket.send(KEEP_ALIVE)) connection.keptAlive();
  } else {
    socket.close(CLOSE_CODE_BASE + ErrorCode.PROTOCOL_ERROR, "neither a message nor a keep-alive");
    return false;
  }
  return true;
}

type QueuingSocket = Pick<WebSocket, "readyState" | "bufferedAmount" | "send" | "close">;

/** A short message takes Deno a thousand bytes to queue. More texts than an honest phone asks for in hours. */
const QUEUED_TEXTS = 10_000;

/**
 * A WebSocket of the edge as a transport that queues no more than limits.fetchQueueBytes for a phone that does not read.
 * Credit and acknowledgements are no bound: a hostile phone can give both for what it never took from its connection.
 */
export class BoundedSocket implements EdgeSocket {
  #socket: QueuingSocket;
  #onOverflow: () => void;
  /** Texts sent since the queue was empty. */
  #texts = 0;

  /** @param onOverflow too much is queued; the socket is being closed, which its phone may keep from ever ending. */
  constructor(socket: QueuingSocket, onOverflow: () => void) {
    this.#socket = socket;
    this.#onOverflow = onOverflow;
  }

  send(message: Uint8Array | string): boolean {
    if (this.#socket.readyState !== WebSocket.OPEN) return false;
    const queued = this.#socket.bufferedAmount;
    if (queued === 0) this.#texts = 0;
    else if (typeof message === "string") this.#texts += 1;
    if (queued > limits.fetchQueueBytes || this.#texts > QUEUED_TEXTS) {
      this.#socket.close();
      this.#onOverflow();
      return false;
    }
    this.#socket.send(message as string | Uint8Array<ArrayBuffer>);
    return true;
  }

  close(code: number, reason: string): void {
    if (this.#socket.readyState <= WebSocket.OPEN) this.#socket.close(code, reason);
  }
}

// What a session says in quick succession goes in one message: each costs the phone a task in three processes.

/** Milliseconds: what a session says within it goes in one message: each costs a phone tasks in three processes. */
const GATHER_TIME = 3;

/** Runs a task at the end of the turn, and those that come within `time` milliseconds after it together at its end. */
export function gathering(setTimer: SetTimer, time = GATHER_TIME): Defer {
  let isResting = false;
  let waiting: (() => void)[] = [];
  const rest = (): void => {
    isResting = true;
    setTimer(() => {
      isResting = false;
      if (waiting.length === 0) return;
      const tasks = waiting;
      waiting = [];
      rest();
      for (const task of tasks) task();
    }, time);
  };
  return (task) => {
    if (isResting) {
      waiting.push(task);
      return;
    }
    queueMicrotask(task);
    rest();
  };
}
