/**
 * Tries WebSocket now and then beside a fetch road that works, with a socket that says nothing: the edge hears of no
 * session by it.
 */
import * as limits from "../../../shared/limits.ts";
import type { PhoneSocket, SocketListener } from "../../../shared/phone-socket.ts";
import type { WebSocketFailure } from "./road.ts";

export interface TrialHandler {
  dial(listener: SocketListener): PhoneSocket;
  /** When the next is due, by the clock of `now`; null when none is. */
  retryAt(): number | null;
  onFailed(failure: WebSocketFailure): void;
  /** It opened, and is closed already. No other trial follows. */
  onOpened(): void;
}

export interface TrialClock {
  now(): number;
  setTimer(task: () => void, delay: number): () => void;
}

export class WebSocketTrial {
  #handler: TrialHandler;
  #clock: TrialClock;
  #socket: PhoneSocket | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(handler: TrialHandler, clock: TrialClock) {
    this.#handler = handler;
    this.#clock = clock;
    this.schedule();
  }

  /** Waits for the time that the handler says now. */
  schedule(): void {
    if (this.#socket !== null) return;
    const at = this.#handler.retryAt();
    this.#cancelTimer?.();
    this.#cancelTimer = at === null ? null : this.#clock.setTimer(() => this.#begin(), at - this.#clock.now());
  }

  end(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#socket?.close();
    this.#socket = null;
  }

  #begin(): void {
    this.#socket = this.#handler.dial({
      onOpen: () => {
        this.end();
        this.#handler.onOpened();
      },
      onMessage() {},
      onClose: () => this.#fail("refused"),
    });
    this.#cancelTimer = this.#clock.setTimer(() => this.#fail("slow"), limits.socketOpenTimeout);
  }

  #fail(failure: WebSocketFailure): void {
    this.end();
    this.#handler.onFailed(failure);
    this.schedule();
  }
}
