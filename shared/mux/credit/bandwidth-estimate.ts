/**
 * What a link carries, as seen by the receiver, and the session credit that follows from it: 110 % of bandwidth times
 * round trip. Arithmetic only: the clock is passed in. After BBR (draft-cardwell-iccrg-bbr-congestion-control): the
 * bandwidth is the largest of ten rounds, the round trip the smallest; both are measured on traffic that is there anyway.
 *
 * Three things differ, since this is no congestion control but a cap above one:
 * - It must never be what keeps a sender small: while deliveries grow the credit grows as slow start does, and faster
 *   under loss. It doubles at most until a ping has come back, so an unknown link gets no more than it has shown to carry.
 * - Arrivals that stall and then come all at once (a loss under TCP's ordering, a radio that pauses) need credit for the
 *   pause too, or the sender would stall with them: the pause counts as part of the round trip.
 * - Only a queue shrinks it: a round trip that is longer than the shortest, while bytes arrive evenly.
 */
import * as limits from "../../limits.ts";
import { ArrivalSlices, type EndedSlice } from "./arrival-slices.ts";
import { CREDIT_BATCHES, CREDIT_STEP_BYTES, CREDIT_STEPS } from "./credit-step.ts";
import { CreditTrial } from "./credit-trial.ts";
import type { LinkEstimate } from "./link-estimate.ts";
import type { Round } from "./round.ts";
import { DISTURBED_GROWTH, EVEN_GROWTH, type SurgeGrowth } from "./surge-growth.ts";

/** Credit as a multiple of bandwidth times round trip. */
const STEADY_GAIN = 1.1;
/**
 * If the link carries this many times what was thought, more credit is tried. Steady credit leaves room to see that.
 */
const GROWTH = 1.05;
const PROBE_GAIN = 1.5;
/** More credit is tried for so many slices after that, of about a round trip each; BBR tries it in one of eight. */
const PROBE_SLICES = 10;
/** A rate that rises by this ratio is that of a sender which doubles what it sends each round trip. */
const SURGE = 1.25;
/** So is that of one whose round trip stays below this multiple of the shortest while it sends more. */
const ROOMY_RATIO = 1.05;
const SURGE_SLICES = 2;

/** A slice is disturbed where bytes that were held back for this part of it came at once. */
const DISTURBED_PART = 0.6;
/** A sender that sends nothing for this part of a slice does not fill the link. */
const IDLE_PART = 0.5;
/** Nor is a slice a measure of the link in which bytes ran ahead of the best rate by so many slices. */
const FLOOD_PART = 0.75;
const ROUNDS_KEPT = 10;
/** Fewer say nothing. */
const LEAST_ROUNDS = 4;
/** A round trip above this multiple of the shortest, and by this many ms, means a queue. */
const QUEUE_RATIO = 1.25;
const QUEUE_SLACK = 5;
/** One answer that is late by this factor is enough; else it takes two in a row. */
const CERTAIN_QUEUE = 2;
/** A queue of so many ms is felt by whoever waits behind it. */
const LONG_WAIT = 300;
/** Milliseconds: shortest slice. Timers and tasks of browsers are no finer. */
const LEAST_SLICE = 10;
/** Milliseconds: a shorter round trip counts as this long, since two busy processes take as long to answer. */
const LEAST_ROUND_TRIP = 20;
/**
 * Milliseconds: on a longer round trip credit does not surge. Its answer stood in a queue, as on 2G while the app is
 * fetched.
 */
const LONGEST_SURGING_ROUND_TRIP = 1_500;
export class BandwidthEstimate {
  readonly #most: number;
  /** What the window was at first, or after the first round trip. */
  #initial: number;
  #window: number;
  /** The window is no smaller than this for the first rounds on another link. */
  #least: number = limits.leastSessionCreditBytes;
  #minRtt: number | null = null;
  #rtt: number | null = null;
  /** The best rate and the longest stall of each of the last rounds in which the sender had enough to send. */
  #peaks: number[] = [];
  #stalls: number[] = [];
  #gaps: number[] = [];
  #jumps: number[] = [];
  #trial = new CreditTrial();
  #slicesSinceGrowth = 0;
  #slicesSinceSurge = 0;
  /** Whether the last round trip told of a queue. */
  #queueSeen = false;
  /** The last round trip was a much longer one, which alone is no proof of a queue. */
  #isLate = false;
  /** What was the most that came in each of the last rounds in which the link was full. */
  #fullRates: number[] = [];
  #slices = new ArrivalSlices();
  #round: Round | null = null;
  #lastRound: Round | null = null;
  /** The last round that shrank the window, and the window before: for finding out that it did not help. */
  #shrunk: {
    readonly rtt: number;
    readonly outstanding: number;
    readonly window: number;
    readonly rate: number;
  } | null = null;

  /** @param initial bytes of credit at first. @param most bytes that it never goes above. */
  constructor(initial: number, most: number) {
    this.#initial = initial;
    this.#window = initial;
    this.#most = most;
  }

  /** Bytes that the sender may have under way. */
  get window(): number {
    return this.#window;
  }

  get estimate(): LinkEstimate {
    const [rate, minRtt] = [this.#rate, this.#minRtt];
    const fullRate = this.#fullRates.length === 0 ? null : Math.max(...this.#fullRates);
    const stalled = this.#gaps.filter((gap) => 2 * gap >= (minRtt ?? gap)).length;
    const stallShare = this.#gaps.length < LEAST_ROUNDS ? 0 : stalled / this.#gaps.length;
    return { rate, minRtt, rtt: this.#rtt, stall: this.#pause, fullRate, stallShare };
  }

  /** Deliveries grow as those of connections that start. */
  get isSurging(): boolean {
    return this.#slicesSinceSurge < SURGE_SLICES && (this.#minRtt ?? 0) < LONGEST_SURGING_ROUND_TRIP;
  }

  /** Bytes came at `now` (ms). */
  arrived(bytes: number, now: number): void {
    const isNew = this.isSurging || this.#gaps.length === 0;
    const rate = isNew ? Math.max(this.#rate, this.#unhinderedRate) : this.#rate;
    if (!this.#slices.add(bytes, now, { rate, sliceTime: this.#sliceTime, tolerance: SURGE })) return;
    this.#growWith(bytes, now);
    const slice = this.#slices.takeEnded(now, this.#sliceTime);
    if (slice !== null) this.#sliceEnded(slice, now);
  }

  /** Another sender of as many bytes comes in. Where the link is known, or a queue stands, that is no reason for more. */
  widen(bytes: number): void {
    if (!this.isSurging || this.#queueSeen) return;
    this.#window = Math.min(this.#most, this.#window + bytes);
    if (this.#round !== null) this.#round.window += bytes;
  }

  /** Nothing is expected any more: the time until the next arrival says nothing about the link. */
  rest(): void {
    this.#slices.clear();
  }

  /** For a new link: what was measured on the last one does not count. */
  restarted(): BandwidthEstimate {
    const next = new BandwidthEstimate(this.#initial, this.#most);
    next.#window = this.#window;
    // What is sent again on connections that were given up makes a queue too, and cold ones are slow.
    next.#least = this.#minRtt === null ? this.#least : Math.min(this.#initial, this.#window);
    next.#slices = this.#slices;
    next.#slices.clear();
    next.#slices.takeJump();
    return next;
  }

  /** A ping left. @param outstanding bytes of credit that were given and have not come back as data. */
  pinged(now: number, outstanding: number): void {
    this.#round = {
      startedAt: now,
      outstanding,
      window: this.#window,
      isAnswered: false,
      rates: [],
      gap: 0,
      stall: 0,
    };
  }

  /**
   * The first of several channels answered it after `rtt` ms. What keeps the others is not the link that they share but
   * what their own connections have to send before.
   */
  heard(rtt: number): void {
    const round = this.#round;
    if (round === null || this.#minRtt === null || this.#isQueue(rtt)) return;
    round.isAnswered = true;
    round.window = this.#window;
  }

  /**
   * Its answer came.
   *
   * @param spent the sender had used up all credit that it had before the ping reached it.
   * @param rtt where it went over several channels, of the first that answered.
   */
  ponged(now: number, spent: boolean, rtt = now - (this.#round?.startedAt ?? now)): void {
    const round = this.#round;
    if (round === null) return;
    this.#round = null;
    this.#lastRound = round;
    // A queue delays one answer after the other, a radio or a busy device every now and then one.
    const lasting = Math.min(rtt, this.#rtt ?? rtt);
    this.#rtt = rtt;
    if (this.#minRtt === null && rtt < limits.longRoundTrip) this.#grow();
    this.#minRtt = Math.min(rtt, this.#minRtt ?? rtt);
    // What was little on the last link is a queue of seconds on 2G.
    if (this.#minRtt >= limits.longRoundTrip) this.#least = limits.leastSessionCreditBytes;
    this.#isLate = this.#isMuchLonger(rtt);
    const queue = this.#isQueue(lasting) || this.#isQueue(rtt / CERTAIN_QUEUE);
    this.#queueSeen = this.#isQueue(lasting - round.gap) || this.#isQueue((rtt - round.gap) / CERTAIN_QUEUE);
    if (this.#queueSeen && !this.isSurging && round.rates.length > 0) keep(this.#fullRates, Math.max(...round.rates));
    // Even arrivals through a full queue: the gaps before were those of a sender that sent in bursts.
    if (rtt > QUEUE_RATIO * this.#minRtt + QUEUE_SLACK && round.gap < this.#minRtt / 4) this.#stalls = [];
    if (spent || queue) {
      keep(this.#gaps, Math.max(round.gap, 0));
      if (this.#gaps.length === ROUNDS_KEPT) this.#least = limits.leastSessionCreditBytes;
      keep(this.#jumps, this.#slices.takeJump());
      // Most of the gap was made up for at once: the link held it back, not the sender.
      keep(this.#stalls, 2 * round.stall >= round.gap ? Math.max(round.gap, round.stall) : round.stall);
    }
    if (spent && this.#shrinkingWasVain(rtt, round)) return;
    if (queue) this.#shrink(round, rtt);
    else if (spent) {
      this.#shrunk = null;
      if (round.rates.length > 0) keep(this.#peaks, Math.max(...round.rates));
      this.#aim(round);
    }
  }

  /** No 2G: what several fresh connections send at once is no queue of seconds. */
  #grow(): void {
    const grown = Math.min(this.#most, limits.grownSessionCreditBytes);
    this.#initial = Math.max(this.#initial, grown);
    if (this.#gaps.length === 0 && this.#least === limits.leastSessionCreditBytes)
      this.#window = Math.max(this.#window, grown);
  }

  get #rate(): number {
    return Math.max(0, ...this.#peaks);
  }

  get #sliceTime(): number {
    return Math.max(LEAST_SLICE, this.#minRtt ?? 100);
  }

  /**
   * Up to this rate the credit that there was at first holds nobody back. A cold sender is far below it, and what comes in
   * bursts then was not held back by the link: it must not count as a stall, for which credit is given.
   */
  get #unhinderedRate(): number {
    return Math.min(this.#initial, this.#window) / (SURGE * this.#sliceTime);
  }

  /** Pauses of arrival to allow for. One of a round trip is a segment lost and sent again. */
  get #pause(): number {
    return Math.min(Math.max(0, ...this.#stalls), this.#sliceTime);
  }

  /** Not even the tenth above the product made a queue, and nothing else disturbs. */
  get #isRoomy(): boolean {
    if (this.#minRtt === null || this.#rtt === null) return false;
    return this.#rtt < ROOMY_RATIO * this.#minRtt && this.#pause < this.#minRtt / 4;
  }

  /** While an answer is awaited, which may tell of a queue, the window does no more than so much. */
  get #surgeRoom(): number {
    return this.#round === null ? this.#most : Math.min(this.#most, this.#growth.most * this.#round.window);
  }

  get #growth(): SurgeGrowth {
    const jump = Math.max(this.#slices.jump, ...this.#jumps);
    return jump > DISTURBED_PART * this.#sliceTime ? DISTURBED_GROWTH : EVEN_GROWTH;
  }

  /** That an answer may take without a queue, in ms, once one has come. */
  get #longestRtt(): number {
    return QUEUE_RATIO * (Math.max(LEAST_ROUND_TRIP, this.#minRtt ?? 0) + this.#pause) + QUEUE_SLACK;
  }

  #isQueue(rtt: number): boolean {
    return this.#minRtt !== null && rtt > this.#longestRtt;
  }

  #isMuchLonger(rtt: number): boolean {
    return this.#isQueue(rtt) && rtt > (this.#minRtt ?? rtt) + LONG_WAIT;
  }

  /**
   * While deliveries surge and nothing says that a queue stands, the window grows with each byte: a sender that doubles
   * per round trip is never held back, and on a slow link it has doubled once when the first answer is overdue.
   */
  #growWith(bytes: number, now: number): void {
    if (!this.isSurging || this.#queueSeen) return;
    // The next answer tells whether to go on; until then what the rate asks for is enough.
    if (this.#isLate && this.#growth === EVEN_GROWTH) return;
    const round = this.#round;
    if (round !== null && !round.isAnswered && this.#isQueue(now - round.startedAt - this.#slices.gap)) {
      this.#queueSeen = true;
      return;
    }
    const { step, enough } = this.#growth;
    const room = Math.min(this.#surgeRoom, enough * this.#slices.bytes);
    this.#window = Math.max(this.#window, Math.min(room, this.#window + step * bytes));
  }

  #sliceEnded({ gap, stall, worst, rise, lastingRate, ...slice }: EndedSlice, now: number): void {
    // What was held back and came at once is faster than the link.
    const isFlood = worst.stall > FLOOD_PART * this.#sliceTime;
    const rate = isFlood ? Math.min(slice.rate, lastingRate) : slice.rate;
    const round = this.#round;
    // What came around an outage, or while the sender paused, says nothing about how fast a queue drains.
    const isPaused = worst.gap > this.#sliceTime || worst.gap - worst.stall > IDLE_PART * this.#sliceTime;
    if (round !== null) {
      round.gap = Math.max(round.gap, gap);
      round.stall = Math.max(round.stall, stall);
      if (!isPaused) round.rates.push(rate);
    }
    const wasSurging = this.isSurging;
    this.#slicesSinceGrowth += 1;
    // Slow start comes to its end within a round trip, and what follows it is a queue.
    this.#slicesSinceSurge += rise < GROWTH && this.#growth === EVEN_GROWTH ? SURGE_SLICES : 1;
    if (rate > GROWTH * this.#rate) {
      this.#slicesSinceGrowth = 0;
      const isNew = rate > GROWTH * Math.max(0, ...this.#fullRates);
      const isLasting = lastingRate > GROWTH * this.#rate;
      if (isNew && isLasting && (rate > SURGE * this.#rate || this.#isRoomy)) this.#slicesSinceSurge = 0;
      if (this.#peaks.length === 0) this.#peaks.push(rate);
      this.#peaks[this.#peaks.length - 1] = rate;
      this.#aim();
      return;
    }
    // The queue that an answer told of while deliveries surged is there still, and they do not any more.
    const isOver =
      wasSurging && !this.isSurging && !isPaused && this.#growth === EVEN_GROWTH && this.#gaps.length < LEAST_ROUNDS;
    if (isOver && this.#queueSeen && this.#lastRound !== null && this.#rtt !== null) {
      this.#shrink({ ...this.#lastRound, rates: [rate] }, this.#rtt);
      // The next answers are of pings that stood in it, and cannot tell whether that helped.
      this.#shrunk = null;
    }
    // An answer that is long overdue stands in a queue: so much is known before it is there.
    if (round !== null && this.#minRtt !== null && this.#isQueue((now - round.startedAt) / 2)) {
      this.#shrink(round, now - round.startedAt);
    }
  }

  /** A standing queue: what arrives of late is what the link carries. */
  #shrink(round: Round, rtt: number): void {
    if (this.isSurging) return;
    const late = round.rates.slice(Math.floor(round.rates.length / 2));
    if (late.length === 0) return;
    const window = this.#window;
    const rate = Math.max(...late);
    this.#peaks = [rate];
    // That is the answer to whether the link carries more than it did.
    this.#slicesSinceGrowth = PROBE_SLICES;
    this.#aim();
    if (this.#window < window) this.#shrunk = { rtt, outstanding: round.outstanding, window, rate };
  }

  /**
   * Much less is under way, and the round trip is as long as before: it is the link that became longer. Or it is shorter,
   * but so is what comes in it: the link was not full.
   */
  #shrinkingWasVain(rtt: number, round: Round): boolean {
    const shrunk = this.#shrunk;
    if (shrunk === null || round.outstanding > 0.8 * shrunk.outstanding) return false;
    this.#shrunk = null;
    const isLonger = rtt >= 0.9 * shrunk.rtt;
    const isSlower = round.rates.length > 0 && Math.max(...round.rates) < 0.85 * shrunk.rate;
    if (!isLonger && !isSlower) return false;
    if (isLonger && 2 * this.#pause < (this.#minRtt ?? rtt)) this.#minRtt = Math.min(rtt, shrunk.rtt);
    this.#window = Math.max(this.#window, shrunk.window);
    this.#slicesSinceGrowth = 0;
    this.#slicesSinceSurge = 0;
    return true;
  }

  /** @param round that used all credit up without making a queue: less may be what limits the rate, so that is tried. */
  #aim(round: Round | null = null): void {
    // As long as no answer has come, a rate is no product.
    if (this.#minRtt === null && !this.isSurging) return;
    const rtt = Math.max(LEAST_ROUND_TRIP, this.#minRtt ?? 0);
    const gain = this.isSurging ? this.#growth.gain : this.#slicesSinceGrowth < PROBE_SLICES ? PROBE_GAIN : STEADY_GAIN;
    const product = gain * this.#rate * (rtt + this.#pause);
    // What waits to be given back is missing meanwhile: half a batch on average, more where a segment is much.
    const batch = this.isSurging ? 0 : product / CREDIT_BATCHES;
    const missing = Math.max(batch / 2, CREDIT_STEP_BYTES - product / CREDIT_STEPS);
    const most = this.isSurging ? this.#surgeRoom : this.#most;
    const aim = Math.min(most, Math.max(this.#least, product + missing));
    const window = this.#window;
    if (this.isSurging) {
      // More comes in than before, but through a queue: it is the link that sets the pace by now.
      const isFull = this.#queueSeen && this.#growth === EVEN_GROWTH;
      if (!isFull) this.#window = Math.round(Math.max(window, aim));
    } else if (round === null || round.rates.length === 0) this.#window = Math.round(aim);
    else {
      const credit = Math.min(window, Math.max(aim, PROBE_GAIN * this.#rate * (rtt + this.#pause)));
      this.#window = Math.min(this.#most, Math.round(this.#trial.next(credit, Math.max(...round.rates), aim)));
    }
    if (round === null && this.#window !== window) this.#trial.reset();
  }
}

function keep(values: number[], value: number): void {
  values.push(value);
  if (values.length > ROUNDS_KEPT) values.shift();
}
