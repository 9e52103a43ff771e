/**
 * Tries WebSocket now and then beside a fetch road that works, with a socket that says nothing: the edge hears of no
 * session by it.
 */
import type { Clock } from "../../../shared/clock.ts";
import type { PhoneSocket, SocketListener } from "../../../shared/phone-socket.ts";
import { SOCKET_OPEN_TIMEOUT } from "./attempt-time.ts";
import type { WebSocketFailure } from "./road.ts";

export interface TrialHandler {
  dial(listener: SocketListener): PhoneSocket;
  /** When the next is due, by the clock of `now`; null when none is. */
  retryAt(): number | null;
  onFailed(failure: WebSocketFailure): void;
  /** It opened, and is closed already. No other trial follows. */
  onOpened(): void;
}

export class WebSocketTrial {
  #handler: TrialHandler;
  #clock: Clock;
  #socket: PhoneSocket | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(handler: TrialHandler, clock: Clock) {
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
    this.#cancelTimer = this.#clock.setTimer(() => this.#fail("slow"), SOCKET_OPEN_TIMEOUT);
  }

  #fail(failure: WebSocketFailure): void {
    this.end();
    this.#handler.onFailed(failure);
    this.schedule();
  }
}
