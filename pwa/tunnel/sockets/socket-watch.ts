/**
 * Tells a dead link from a silent and from a slow one. Whatever arrives proves that it lives. When nothing does, though
 * something is waited for, a probe is sent, and one that stays unanswered for longer than round trips have taken so far
 * means that the link is dead. Messages are heard of when they are whole, so one that takes long on a slow link is no
 * silence: the gaps that there were between them count too.
 *
 * ```
 *            silent for too long, or a hint            a round trip and more
 *  trusted ──────────────────────────────► probing ─────────────────────► stalled
 *     ▲                                       │                              │
 *     └──────────── anything heard ───────────┴──────────────────────────────┤
 *                                                       the timeout: onDead ─┘
 * ```
 */
import type { Clock } from "../../../shared/clock.ts";
import type { RttEstimator } from "./rtt-estimator.ts";

/** Milliseconds: under the 30 s after which many mobile NATs forget a silent flow. */
export const PING_INTERVAL = 25_000;

/** Milliseconds: no answer to a probe for less than this means nothing: a radio that slept takes 2 s to wake. */
export const PROBE_TIMEOUT_MIN = 3_000;

/**
 * Milliseconds: no traffic for this long after a probe means the link is dead, whatever its round trips were (GPRSWeb).
 */
export const PROBE_TIMEOUT_MAX = 30_000;

export interface WatchHandler {
  /** Sends what the edge answers at once. */
  sendProbe(): void;
  /** Since when nothing has come, though something is awaited; null when something has come. */
  onStall(since: number | null): void;
  onDead(): void;
}

/** What silence is judged by. */
export interface Demand {
  /** Whether requests wait for the edge. */
  isAwaiting(): boolean;
  /** Milliseconds that an answer may lag because of what is queued before the question. */
  uploadDelay(): number;
}

/** A timer that is this late did not run because the device slept or the app was frozen. */
export const FROZEN_AFTER = 5_000;

/** A timer that is this late, in milliseconds, ran on a busy device: what came meanwhile may wait to be handed over. */
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
/** What comes after so many quiet milliseconds is an answer, not a part of a longer message. */
const QUIET_TIME = 1_000;

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
      // What the answer to a probe ends was a silence of the edge's until it was sent, not a long message.
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
      // What was asked before the device slept may have been answered and lost; what counts is now.
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
