import type { Clock } from "../../../shared/clock.ts";
import { CLOSED_ABNORMALLY, type PhoneSocket, type SocketListener } from "../../../shared/phone-socket.ts";
import { CLOSED_NORMALLY, END_OF_LINK, KEEP_ALIVE } from "../../../shared/subprotocol.ts";
import type { Transport } from "../../../shared/transport.ts";

/** Smoothed round trip time and its variance, as TCP has them (RFC 6298 section 2). Milliseconds. */
const SMOOTHING = 1 / 8;
const VARIANCE_SMOOTHING = 1 / 4;
const VARIANCE_FACTOR = 4;

export class RttEstimator {
  #smoothed: number | null = null;
  #variance = 0;

  /** Null before the first sample. */
  get smoothed(): number | null {
    return this.#smoothed;
  }

  /** A guess before the first sample; later guesses are ignored. */
  guess(rtt: number): void {
    if (this.#smoothed === null) this.sample(rtt);
  }

  /** No round trip takes longer than this now: the first bytes after a request came this soon. */
  bound(rtt: number): void {
    if (this.#smoothed === null) this.sample(rtt);
    else if (rtt < this.#smoothed) [this.#smoothed, this.#variance] = [rtt, Math.min(this.#variance, rtt / 2)];
  }

  sample(rtt: number): void {
    if (this.#smoothed === null) {
      this.#smoothed = rtt;
      this.#variance = rtt / 2;
      return;
    }
    this.#variance += (Math.abs(this.#smoothed - rtt) - this.#variance) * VARIANCE_SMOOTHING;
    this.#smoothed += (rtt - this.#smoothed) * SMOOTHING;
  }

  /** After this long without an answer there will be none; `max` before the first sample. */
  timeout(min: number, max: number): number {
    if (this.#smoothed === null) return max;
    return Math.min(max, Math.max(min, this.#smoothed + VARIANCE_FACTOR * this.#variance));
  }
}

// How long an attempt to open a link may take. While the link is away its SYNs are lost, and the kernel sends them less
// and less often: 0, 1 and 3 s after the attempt began on Linux, from 6.5 on each second up to 5 s, then 7, 15 and 31 s.
// A new attempt begins with new ones, so that the link's return is met soon; but one whose SYN got through needs the
// time of a handshake from there. Pure.

/** Milliseconds: WebSocket handshake; six round trips at GPRS's worst 3 s. */
export const SOCKET_OPEN_TIMEOUT = 20_000;

/** Milliseconds: a handshake gets at least this: SYN sent again after 1 and 3 s, then three round trips. */
export const SOCKET_OPEN_TIMEOUT_MIN = 5_000;

/** Milliseconds in which a kernel sends SYNs often. */
const DENSE_SYNS = 4_000;
/** A handshake may take so much longer than the last one did. */
const HANDSHAKE_SLACK = 1.25;
/**
 * Milliseconds: a handshake that took longer shared a slow link, for instance with the app's own files at its start.
 */
const LONGEST_HANDSHAKE = 5_000;
/**
 * Each so many attempts, the last gets more time, by this factor: the phone may be on a slower network by now. Where
 * handshakes take long already, that is each `everySlow`: networks that are slower still are rare, and in most of a long
 * attempt SYNs are rare, too.
 */
const LONG_ATTEMPT = { every: 3, everySlow: 6, factor: 2 };

/**
 * @param handshake milliseconds that handshakes took here, null before the first.
 * @param timeouts attempts before it that ended in silence.
 * @returns milliseconds.
 */
export function attemptTime(handshake: number | null, timeouts: number): number {
  if (handshake === null) return SOCKET_OPEN_TIMEOUT;
  const time = Math.max(SOCKET_OPEN_TIMEOUT_MIN, DENSE_SYNS + allowance(handshake));
  const { factor } = LONG_ATTEMPT;
  const every = handshake < LONGEST_HANDSHAKE ? LONG_ATTEMPT.every : LONG_ATTEMPT.everySlow;
  return Math.min(SOCKET_OPEN_TIMEOUT, timeouts % every === every - 1 ? factor * time : time);
}

/** Whether an attempt that is `age` ms old may have lost no packet yet. */
export function isOnTime(handshake: number | null, age: number): boolean {
  return age <= allowance(handshake ?? LONGEST_HANDSHAKE);
}

function allowance(handshake: number): number {
  return HANDSHAKE_SLACK * Math.min(handshake, LONGEST_HANDSHAKE);
}

/** The next handshake's expected time: a handshake that had to wait for the link to come back says little. */
export function expectedHandshake(known: number | null, measured: number): number {
  return known === null ? measured : Math.min(measured, 2 * known);
}

/** Milliseconds: under the 30 s after which many mobile NATs forget a silent flow. */
export const PING_INTERVAL = 25_000;

/** Milliseconds: no answer to a probe for less than this means nothing: a radio that slept takes 2 s to wake. */
export const PROBE_TIMEOUT_MIN = 3_000;

/**
 * Milliseconds: no traffic for this long after a probe means the link is dead, whatever its round trips were (GPRSWeb).
 */
export const PROBE_TIMEOUT_MAX = 30_000;

interface WatchHandler {
  /** Sends a probe, which the edge answers at once. */
  sendProbe(): void;
  /** Since when nothing has come, though something is awaited; null when something has come. */
  onStall(since: number | null): void;
  onDead(): void;
}

/** The phone's waiting, by which silence is judged. */
interface Demand {
  /** Whether requests wait for the edge. */
  isAwaiting(): boolean;
  /** Milliseconds that an answer may lag because of what is queued before the question. */
  uploadDelay(): number;
}

/** A timer that is this late did not run because the device slept or the app was frozen. */
export const FROZEN_AFTER = 5_000;

/** A timer that is this late, in milliseconds, ran on a busy device: messages may wait to be handed over. */
const LATE = 100;

/** Silence is no sign of a dead link before it is so many times as long as the longest gap lately. */
const GAP_FACTOR = 4;
/** After a silence of so many times that gap a probe is sent. */
const SILENCE_FACTOR = 2;
/** An answer that takes so many times a round trip is late. */
const LATE_FACTOR = 1.25;
/**
 * The longest gap shrinks by this factor with each message, and is never above the cap, in milliseconds: an outage is
 * no measure of the next gap.
 */
const GAP_DECAY = 0.9;
const GAP_CAP = 2_000;
/** A message after so many quiet milliseconds is an answer, not a part of a longer message. */
const QUIET_TIME = 1_000;

/**
 * Tells a dead link from a silent and from a slow one. Any arrival proves that it lives. When nothing arrives,
 * though an answer is awaited, a probe is sent, and a probe that stays unanswered for longer than round trips have taken so
 * far means that the link is dead. Messages are heard of when they are whole, so a message that takes long on a slow link
 * is no silence: the gaps that there were between messages count too.
 *
 * ```
 *            silent for too long, or a hint            a round trip and more
 *  trusted ──────────────────────────────► probing ─────────────────────► stalled
 *     ▲                                       │                              │
 *     └──────────── anything heard ───────────┴──────────────────────────────┤
 *                                                       the timeout: onDead ─┘
 * ```
 */
export class SocketWatch {
  /** When something last arrived. */
  lastHeard: number;

  #handler: WatchHandler;
  #demand: Demand;
  #clock: Clock;
  #rtt: RttEstimator;
  #awaitedSince: number | null = null;
  /** Whether nothing was on its way when the request was sent, and nothing has come yet. */
  #awaitsFirst = false;
  /** The longest between two messages lately. */
  #gap = 0;
  /** The probe that nothing has followed yet. */
  #probe: { readonly sentAt: number; readonly isSuspect: boolean; stalled: boolean } | null = null;
  /** Probes whose own answer is outstanding, though other bytes may have come: only a lone one is a sample. */
  #unanswered = 0;
  #lastProbeAt = 0;
  /** Silence before the next probe while something is awaited; longer while only probes are answered. */
  #patience: number;
  #timer: { readonly at: number; readonly cancel: () => void } | null = null;
  /** A late timer let what had come be handed over first; nothing had. */
  #isPostponed = false;

  constructor(handler: WatchHandler, demand: Demand, clock: Clock, rtt: RttEstimator) {
    this.#handler = handler;
    this.#demand = demand;
    this.#clock = clock;
    this.#rtt = rtt;
    this.lastHeard = clock.now();
    this.#patience = this.#silence();
    this.#evaluate();
  }

  /** Nothing has come since a probe that should have been answered by now. */
  get isStalled(): boolean {
    return this.#probe?.stalled === true;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** @param isAnswer to a probe; else frames. */
  heard(isAnswer: boolean): void {
    const now = this.#clock.now();
    if (this.#awaitedSince !== null) {
      // The edge was silent until the probe was sent: the probe's answer ends no long message.
      const asked = isAnswer ? (this.#probe?.sentAt ?? 0) : 0;
      const gap = now - Math.max(this.lastHeard, this.#awaitedSince, asked);
      this.#gap = Math.min(GAP_CAP, Math.max(gap, this.#gap * GAP_DECAY));
      if (this.#awaitsFirst) this.#rtt.bound(now - this.#awaitedSince);
    }
    this.#awaitsFirst = false;
    this.#isPostponed = false;
    this.lastHeard = now;
    const wasStalled = this.#probe?.stalled === true;
    this.#probe = null;
    if (isAnswer) {
      if (this.#unanswered === 1) this.#rtt.sample(now - this.#lastProbeAt);
      this.#unanswered = Math.max(0, this.#unanswered - 1);
      this.#patience = Math.min(this.#patience * 2, PING_INTERVAL);
    } else {
      this.#patience = this.#silence();
    }
    if (!this.#demand.isAwaiting()) this.#awaitedSince = null;
    if (!wasStalled) return;
    // The timer is for the moment at which the link would have been dead.
    this.#evaluate();
    this.#handler.onStall(null);
  }

  /** A request went out. */
  awaiting(): void {
    const now = this.#clock.now();
    if (this.#awaitedSince === null) this.#awaitsFirst = now - this.lastHeard > QUIET_TIME && this.#probe === null;
    this.#awaitedSince ??= now;
    this.#patience = this.#silence();
    if (this.#probe === null && this.#timer !== null && this.#timer.at > now + this.#patience) this.#evaluate();
  }

  /**
   * Time may have passed unnoticed: asks at once whether the link lives.
   *
   * @param isSuspect the network has changed: the link is more likely dead than slow, so only its round trips count.
   */
  check(isSuspect = false): void {
    if (this.#probe === null || (isSuspect && !this.#probe.isSuspect)) this.#sendProbe(isSuspect);
    this.#evaluate();
  }

  #evaluate(): void {
    const now = this.#clock.now();
    const probe = this.#probe;
    if (probe === null) {
      const due = this.#probeDue();
      if (due > now) return this.#schedule(due);
      this.#sendProbe();
      return this.#evaluate();
    }
    const timeout = probe.isSuspect ? this.#rttTimeout() : this.#timeout();
    const delay = this.#demand.uploadDelay();
    const dead = probe.sentAt + timeout + delay;
    if (now >= dead) {
      this.stop();
      this.#handler.onDead();
      return;
    }
    const stalls = probe.sentAt + Math.min(timeout / 2, this.#roundTrips(LATE_FACTOR)) + delay;
    if (now >= stalls && !probe.stalled) {
      probe.stalled = true;
      this.#handler.onStall(this.lastHeard);
    }
    this.#schedule(probe.stalled ? dead : stalls);
  }

  #probeDue(): number {
    const idle = this.lastHeard + PING_INTERVAL;
    if (!this.#demand.isAwaiting()) return idle;
    return Math.min(idle, Math.max(this.lastHeard, this.#awaitedSince ?? 0) + this.#patience);
  }

  #sendProbe(isSuspect = false): void {
    const now = this.#clock.now();
    this.#probe = { sentAt: now, isSuspect, stalled: this.#probe?.stalled ?? false };
    this.#isPostponed = false;
    this.#lastProbeAt = now;
    this.#unanswered += 1;
    this.#handler.sendProbe();
  }

  #schedule(at: number): void {
    this.#timer?.cancel();
    const run = (): void => {
      this.#timer = null;
      // Answers from before the device slept may be lost: a new probe asks from now on.
      const now = this.#clock.now();
      if (now - at > FROZEN_AFTER) this.#sendProbe();
      if (now - at <= LATE || this.#isPostponed) return this.#evaluate();
      this.#isPostponed = true;
      this.#schedule(now + LATE);
    };
    this.#timer = { at, cancel: this.#clock.setTimer(run, at - this.#clock.now()) };
  }

  /** A probe costs a few bytes, and giving up a link that is only slow costs a handshake: the one comes soon. */
  #silence(): number {
    return Math.min(this.#timeout() / 2, Math.max(SILENCE_FACTOR * this.#gap, this.#roundTrips(1)));
  }

  #roundTrips(count: number): number {
    return Math.max(PROBE_TIMEOUT_MIN / 2, count * (this.#rtt.smoothed ?? Number.POSITIVE_INFINITY));
  }

  #timeout(): number {
    return Math.max(GAP_FACTOR * this.#gap, this.#rttTimeout());
  }

  #rttTimeout(): number {
    return this.#rtt.timeout(PROBE_TIMEOUT_MIN, PROBE_TIMEOUT_MAX);
  }
}

/** TCP, TLS and the upgrade. */
export const HANDSHAKE_ROUND_TRIPS = 3;

/** Milliseconds: upper end of the backoff between attempts to reach the edge. */
export const RECONNECT_DELAY_MAX = 15_000;

export interface SocketEnd {
  readonly from: "dialling" | "open" | "retiring";
  /**
   * lost: the network or the edge said so. silent: the awaited answer did not come. closed: its transport was closed
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

interface KeeperOwner {
  /** @param handshake milliseconds that it took, or would have as a WebSocket. */
  onOpen(transport: Transport, handshake: number): void;
  onMessage(message: Uint8Array): void;
  /** Since when nothing has come, though something is awaited; null when something has come. */
  onStall(since: number | null): void;
  /** Not for one that was dropped. */
  onEnd(end: SocketEnd): void;
}

/** The common parts of a phone's sockets. */
export class SocketContext {
  readonly clock: Clock;
  readonly demand: Demand;
  readonly rtt = new RttEstimator();
  /** The sockets' costs beside their frames. */
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

/**
 * Keeps one socket to the edge: dials it, gives up a handshake that takes too long, watches whether it lives, has the
 * edge close it, and waits before it is dialled again. Its owner says when.
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
   * Nothing more is sent: the edge sends what it has left, then closes. The edge closes, since a browser drops
   * messages that arrive after it was told to close a socket itself.
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
    const { roundTrips = HANDSHAKE_ROUND_TRIPS } = socket;
    const handshake = ((clock.now() - this.dialledAt) * HANDSHAKE_ROUND_TRIPS) / roundTrips;
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
