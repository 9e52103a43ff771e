/**
 * A WebSocket of the edge as a transport that queues no more than limits.fetchQueueBytes for a phone that does not read.
 * Credit and acknowledgements are no bound: a hostile phone can give both for what it never took from its connection.
 */
import * as limits from "../../shared/limits.ts";
import type { EdgeSocket } from "./edge-socket.ts";

export type QueuingSocket = Pick<WebSocket, "readyState" | "bufferedAmount" | "send" | "close">;

/** A short message takes Deno a thousand bytes to queue. More texts than an honest phone asks for in hours. */
const QUEUED_TEXTS = 10_000;

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
