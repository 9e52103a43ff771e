/**
 * Keeps one WebSocket to the edge alive: opens it, notices that it died, opens the next with backoff and jitter. Knows
 * nothing of sessions: it hands each open socket to its owner as a transport.
 *
 * ```
 *  idle ─start─► connecting ─open─► open ─close/timeout─► waiting ─timer/online/retry─► connecting
 *                    └────────────── close/timeout ─────────▲ │
 *                                                             └─ token refused ─► refused (until start)
 * ```
 */
import { limits } from "../../shared/limits.ts";
import { KEEP_ALIVE, SUBPROTOCOL, TOKEN_PREFIX } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import type { LinkPhase } from "../shell/browser-state.ts";

export interface LinkHandler {
  onOpen(transport: Transport): void;
  onMessage(transport: Transport, message: Uint8Array): void;
  /** `code` is the WebSocket close code. */
  onClose(transport: Transport, code: number): void;
  onPhase(phase: LinkPhase): void;
  /** No transport for so long, or so many attempts failed, that whoever waits should be told. */
  onUnreachable(): void;
}

/** Platform seams, so that tests bring their own. */
export interface LinkPlatform {
  openSocket(url: string, protocols: string[]): WebSocket;
  now(): number;
  random(): number;
  setTimer(task: () => void, delay: number): () => void;
  /** After a failed handshake: does the edge answer, and does it know the token? */
  probe(token: string): Promise<"reachable" | "refused" | "unreachable">;
}

const FIRST_RETRY_DELAY = 300;
const ATTEMPTS_BEFORE_UNREACHABLE = 3;

export class Link {
  readonly traffic = { opened: 0, keepAliveBytesUp: 0, keepAliveBytesDown: 0 };

  #handler: LinkHandler;
  #platform: LinkPlatform;
  #target: { url: string; token: string } | null = null;
  #socket: WebSocket | null = null;
  #isOpen = false;
  #attempt = 0;
  #lostAt: number;
  #cancelTimer: (() => void) | null = null;
  #lastHeard = 0;
  #awaitingAnswerSince: number | null = null;
  #online = true;

  constructor(handler: LinkHandler, platform: LinkPlatform) {
    this.#handler = handler;
    this.#platform = platform;
    this.#lostAt = platform.now();
  }

  get open(): boolean {
    return this.#isOpen;
  }

  start(url: string, token: string): void {
    this.#target = { url, token };
    this.#attempt = 0;
    this.#lostAt = this.#platform.now();
    this.#drop();
    this.#connect();
  }

  setOnline(online: boolean): void {
    this.#online = online;
    if (online) this.retryNow();
    else if (!this.#isOpen && this.#target !== null) this.#handler.onPhase({ kind: "offline", since: this.#lostAt });
  }

  /** Opens a socket at once if none is open or being opened. */
  retryNow(): void {
    if (this.#target !== null && this.#socket === null) this.#connect();
  }

  #connect(): void {
    const target = this.#target;
    if (target === null) return;
    this.#attempt += 1;
    this.#handler.onPhase({ kind: "connecting", since: this.#lostAt, attempt: this.#attempt });
    const socket = this.#platform.openSocket(target.url, [SUBPROTOCOL, TOKEN_PREFIX + target.token]);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    const transport: Transport = {
      send(message) {
        if (socket.readyState !== WebSocket.OPEN) return false;
        socket.send(message as Uint8Array<ArrayBuffer>);
        return true;
      },
      close: (code, reason) => socket.close(code, reason),
    };
    this.#schedule(() => this.#lose(socket, transport, CLOSED_ABNORMALLY), limits.socketOpenTimeout);
    socket.onopen = () => this.#opened(transport);
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      this.#lastHeard = this.#platform.now();
      this.#awaitingAnswerSince = null;
      if (typeof event.data === "string") this.traffic.keepAliveBytesDown += event.data.length;
      else this.#handler.onMessage(transport, new Uint8Array(event.data));
    };
    socket.onclose = (event) => this.#lose(socket, transport, event.code);
  }

  #opened(transport: Transport): void {
    this.traffic.opened += 1;
    this.#isOpen = true;
    this.#attempt = 0;
    this.#lastHeard = this.#platform.now();
    this.#awaitingAnswerSince = null;
    this.#handler.onPhase({ kind: "open" });
    this.#handler.onOpen(transport);
    this.#schedule(() => this.#watch(transport), limits.pingInterval);
  }

  /** Says keep-alive on a silent link, and gives the socket up when nothing comes back. */
  #watch(transport: Transport): void {
    const socket = this.#socket;
    if (socket === null) return;
    const now = this.#platform.now();
    if (this.#awaitingAnswerSince !== null && now - this.#awaitingAnswerSince >= limits.pingTimeout) {
      this.#lose(socket, transport, CLOSED_ABNORMALLY);
      return;
    }
    if (this.#awaitingAnswerSince === null && now - this.#lastHeard >= limits.pingInterval) {
      this.#awaitingAnswerSince = now;
      this.traffic.keepAliveBytesUp += KEEP_ALIVE.length;
      socket.send(KEEP_ALIVE);
    }
    this.#schedule(() => this.#watch(transport), limits.pingInterval / 5);
  }

  #lose(socket: WebSocket, transport: Transport, code: number): void {
    if (socket !== this.#socket) return;
    const wasOpen = this.#isOpen;
    this.#drop();
    if (wasOpen) this.#lostAt = this.#platform.now();
    this.#handler.onClose(transport, code);
    if (wasOpen) return this.#retryLater("reachable");
    const token = this.#target?.token ?? "";
    this.#platform.probe(token).then(
      (result) => this.#retryLater(result),
      () => this.#retryLater("unreachable"),
    );
  }

  #retryLater(probe: "reachable" | "refused" | "unreachable"): void {
    if (this.#socket !== null) return;
    if (probe === "refused") {
      this.#target = null;
      this.#handler.onPhase({ kind: "refused" });
      this.#handler.onUnreachable();
      return;
    }
    const now = this.#platform.now();
    if (this.#attempt >= ATTEMPTS_BEFORE_UNREACHABLE || now - this.#lostAt > limits.linkWaitTime) {
      this.#handler.onUnreachable();
    }
    const ceiling = Math.min(limits.reconnectDelayMax, FIRST_RETRY_DELAY * 2 ** this.#attempt);
    const delay = this.#attempt === 0 ? 0 : ceiling * (0.5 + this.#platform.random() / 2);
    if (this.#online) this.#handler.onPhase({ kind: "waiting", since: this.#lostAt, retryAt: now + delay });
    else this.#handler.onPhase({ kind: "offline", since: this.#lostAt });
    this.#schedule(() => this.#connect(), delay);
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = null;
    this.#isOpen = false;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (socket === null) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  #schedule(task: () => void, delay: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#platform.setTimer(task, delay);
  }
}

/** RFC 6455 section 7.4.1: never sent, only reported. */
const CLOSED_ABNORMALLY = 1006;
