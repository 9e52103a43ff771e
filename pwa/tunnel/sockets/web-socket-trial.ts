/**
 * Tries WebSocket now and then beside a fetch road that works, with a socket that says nothing: the edge hears of no
 * session by it.
 */
import type { LinkSocket } from "../../../shared/fetch-road/fetch-socket.ts";
import { limits } from "../../../shared/limits.ts";
import type { WebSocketFailure } from "./road.ts";

export interface TrialHandler {
  open(): LinkSocket;
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
  #socket: LinkSocket | null = null;
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
    this.#drop();
  }

  #begin(): void {
    const socket = this.#handler.open();
    this.#socket = socket;
    this.#cancelTimer = this.#clock.setTimer(() => this.#fail("slow"), limits.socketOpenTimeout);
    socket.onopen = () => {
      this.end();
      this.#handler.onOpened();
    };
    socket.onclose = () => this.#fail("refused");
  }

  #fail(failure: WebSocketFailure): void {
    this.end();
    this.#handler.onFailed(failure);
    this.schedule();
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = null;
    if (socket === null) return;
    socket.onopen = socket.onclose = null;
    socket.close();
  }
}
