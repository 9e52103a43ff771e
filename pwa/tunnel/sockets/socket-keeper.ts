/**
 * Keeps one socket to the edge: dials it, gives up a handshake that takes too long, watches whether it lives, has the
 * edge close it, and waits before it is dialled again. When to do what, its owner says.
 *
 * ```
 *            dial              opens           retire              closed by the edge
 *  idle ──────────────► dialling ──────► open ────────► retiring ─────────────────────► idle, onEnd
 *   │ ▲                    └─ refused, late ┴─ lost, silent ┴─ lost, late ─────────────────▲
 *   │ └─── the time is over ───┐
 *   └─ wait ──────────────► waiting ─ dial ─► dialling
 *
 *  each ─ drop ─► idle
 * ```
 */
import type { Clock } from "../../../shared/clock.ts";
import { CLOSED_ABNORMALLY, type PhoneSocket, type SocketListener } from "../../../shared/phone-socket.ts";
import { CLOSED_NORMALLY, END_OF_LINK, KEEP_ALIVE } from "../../../shared/subprotocol.ts";
import type { Transport } from "../../../shared/transport.ts";
import { RttEstimator } from "./rtt-estimator.ts";
import { type Demand, SocketWatch } from "./socket-watch.ts";

/** TCP, TLS and the upgrade. */
export const HANDSHAKE_ROUND_TRIPS = 3;

/** Milliseconds: upper end of the backoff between attempts to reach the edge. */
export const RECONNECT_DELAY_MAX = 15_000;

export interface SocketEnd {
  readonly from: "dialling" | "open" | "retiring";
  /**
   * lost: the network or the edge said so. silent: what was awaited did not come. closed: its transport was closed
   * here. retired: the edge closed it when asked to, and both sides have got all that was sent.
   */
  readonly why: "lost" | "silent" | "closed" | "retired";
  /** WebSocket close code. */
  readonly code: number;
  /** Whether frames have come. */
  readonly wasHeard: boolean;
  /** Since when it is gone. */
  readonly since: number;
}

export interface KeeperOwner {
  /** @param handshake milliseconds that it took. */
  onOpen(transport: Transport, handshake: number): void;
  onMessage(message: Uint8Array): void;
  /** Since when nothing has come, though something is awaited; null when something has come. */
  onStall(since: number | null): void;
  /** Not for one that was dropped. */
  onEnd(end: SocketEnd): void;
}

/** What all sockets of a phone have in common. */
export class SocketContext {
  readonly clock: Clock;
  readonly demand: Demand;
  readonly rtt = new RttEstimator();
  /** What they cost beside their frames. */
  readonly traffic = { opened: 0, keepAliveBytesUp: 0, keepAliveBytesDown: 0 };

  constructor(clock: Clock, demand: Demand) {
    this.clock = clock;
    this.demand = demand;
  }
}

type State =
  | { readonly kind: "idle" }
  | { readonly kind: "waiting"; readonly cancelTimer: () => void }
  | { readonly kind: "dialling"; readonly socket: PhoneSocket; readonly cancelTimer: () => void }
  | { readonly kind: "open"; readonly socket: PhoneSocket; readonly watch: SocketWatch; wasHeard: boolean }
  | { readonly kind: "retiring"; readonly socket: PhoneSocket; readonly cancelTimer: () => void };

export class SocketKeeper {
  /** When it was dialled last. */
  dialledAt = 0;

  #owner: KeeperOwner;
  #context: SocketContext;
  #state: State = { kind: "idle" };

  constructor(owner: KeeperOwner, context: SocketContext) {
    this.#owner = owner;
    this.#context = context;
  }

  get kind(): State["kind"] {
    return this.#state.kind;
  }

  get isStalled(): boolean {
    return this.#state.kind === "open" && this.#state.watch.isStalled;
  }

  /**
   * @param dial returns null where no socket is of use; then there is none.
   * @param time milliseconds that its handshake may take.
   * @throws Error when there is one.
   */
  dial(dial: (listener: SocketListener) => PhoneSocket | null, time: number): void {
    if ("socket" in this.#state) throw new Error("Cannot dial: there is a socket");
    this.drop();
    this.dialledAt = this.#context.clock.now();
    const socket = dial({
      onOpen: () => this.#opened(),
      onMessage: (message) => this.#receive(message),
      onClose: (code, isClean) => {
        const isRetired = this.#state.kind === "retiring" && isClean && code === CLOSED_NORMALLY;
        this.#end(code, isRetired ? "retired" : "lost");
      },
    });
    if (socket === null) return;
    this.#state = { kind: "dialling", socket, cancelTimer: this.#context.clock.setTimer(() => this.giveUp(), time) };
  }

  /** @throws Error when there is a socket. */
  wait(delay: number, task: () => void): void {
    if ("socket" in this.#state) throw new Error("Cannot wait: there is a socket");
    this.drop();
    const run = (): void => {
      this.#state = { kind: "idle" };
      task();
    };
    this.#state = { kind: "waiting", cancelTimer: this.#context.clock.setTimer(run, delay) };
  }

  /**
   * Nothing more is sent: the edge sends what it has left, then closes. It does, since a browser drops what arrives after
   * it was told to close a socket itself.
   *
   * @param time milliseconds that this may take.
   * @throws Error when it is not open.
   */
  retire(time: number): void {
    const state = this.#state;
    if (state.kind !== "open") throw new Error("Cannot retire: the socket is not open");
    state.watch.stop();
    state.socket.send(END_OF_LINK);
    const cancelTimer = this.#context.clock.setTimer(() => this.giveUp(), time);
    this.#state = { kind: "retiring", socket: state.socket, cancelTimer };
  }

  /** Ends it as one that is silent. */
  giveUp(): void {
    this.#end(CLOSED_ABNORMALLY, "silent");
  }

  /** Gives up whatever there is, or is waited for. Its owner is told nothing more of it. */
  drop(): void {
    const state = this.#state;
    this.#state = { kind: "idle" };
    if ("cancelTimer" in state) state.cancelTimer();
    if (state.kind === "open") state.watch.stop();
    if ("socket" in state) state.socket.close();
  }

  /** A request went out. */
  awaiting(): void {
    if (this.#state.kind === "open") this.#state.watch.awaiting();
  }

  /** As SocketWatch.check, of one that is open. */
  check(isSuspect = false): void {
    if (this.#state.kind === "open") this.#state.watch.check(isSuspect);
  }

  #opened(): void {
    const state = this.#state;
    if (state.kind !== "dialling") return;
    const { socket } = state;
    const { clock, demand, rtt, traffic } = this.#context;
    state.cancelTimer();
    traffic.opened += 1;
    const handshake = clock.now() - this.dialledAt;
    rtt.guess(handshake / HANDSHAKE_ROUND_TRIPS);
    const watch = new SocketWatch(
      {
        sendProbe: () => {
          if (socket.send(KEEP_ALIVE)) traffic.keepAliveBytesUp += KEEP_ALIVE.length;
        },
        onStall: (since) => this.#owner.onStall(since),
        onDead: () => this.giveUp(),
      },
      demand,
      clock,
      rtt,
    );
    this.#state = { kind: "open", socket, watch, wasHeard: false };
    this.#owner.onOpen(this.#transport(socket), handshake);
  }

  #transport(socket: PhoneSocket): Transport {
    return {
      send: (message) => socket.send(message),
      close: (code, reason) => {
        socket.close(code, reason);
        // Its owner need not wait until the edge has answered that, nor hear of it in the call.
        queueMicrotask(() => {
          if ("socket" in this.#state && this.#state.socket === socket) this.#end(code, "closed");
        });
      },
    };
  }

  #receive(message: Uint8Array | string): void {
    const state = this.#state;
    const isAnswer = typeof message === "string";
    if (state.kind === "open") {
      state.wasHeard ||= !isAnswer;
      state.watch.heard(isAnswer);
    }
    if (isAnswer) this.#context.traffic.keepAliveBytesDown += message.length;
    else this.#owner.onMessage(message);
  }

  #end(code: number, why: SocketEnd["why"]): void {
    const state = this.#state;
    if (!("socket" in state)) return;
    const isOpen = state.kind === "open";
    const since = isOpen && why === "silent" ? state.watch.lastHeard : this.#context.clock.now();
    this.drop();
    this.#owner.onEnd({ from: state.kind, why, code, wasHeard: isOpen && state.wasHeard, since });
  }
}
