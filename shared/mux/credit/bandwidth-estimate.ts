import * as limits from "../../limits.ts";

/** A receiver's knowledge of its link. */
export interface LinkEstimate {
  /** Bytes per ms, or 0 as long as nothing is known. */
  readonly rate: number;
  /** The shortest round trip in ms, or null as long as nothing is known. */
  readonly minRtt: number | null;
  /** The last one. */
  readonly rtt: number | null;
  /** How long arrivals pause for other reasons than the rate, in ms. */
  readonly stall: number;
  /** Bytes per ms when the link carried all that it can, a queue standing and bytes coming evenly; null if it never did. */
  readonly fullRate: number | null;
  /** Part of the last ten round trips in which arrivals stalled for half of one or more. */
  readonly stallShare: number;
}

/** One round trip, measured by a ping and its answer. */
interface Round {
  readonly startedAt: number;
  /** Credit that the peer had and bytes that were under way when the round began. */
  readonly outstanding: number;
  /** The window when an answer last told that no queue stands, or when the round began. */
  window: number;
  /** One of several channels has answered in time. */
  isAnswered: boolean;
  /** Bytes per ms, two slices each. */
  readonly rates: number[];
  gap: number;
  stall: number;
}

/** How a window grows while deliveries surge. */
interface SurgeGrowth {
  /** The window as a multiple of what came in the last two slices. */
  readonly gain: number;
  /** Bytes that each byte adds to the window. */
  readonly step: number;
  /** The window grows to no more than so many times what came in one slice. */
  readonly enough: number;
  /** And to no more than so many times what it was when the last ping left: the answer to that may tell of a queue. */
  readonly most: number;
}

/** Slow start adds as much to TCP's own window, and that began smaller. */
const EVEN_GROWTH: SurgeGrowth = { gain: 2, step: 1, enough: 4, most: 2 };
/** Under loss nobody sees from here how fast a cold sender grows: what is late holds back what follows. */
const DISTURBED_GROWTH: SurgeGrowth = { gain: 3, step: 4, enough: 8, most: 3 };

/**
 * Least credit that is given back at once. Data that waited for it leaves as one frame. With the headers of the frame, of
 * WebSocket and of the two TLS records that workerd makes of a message, that fits a TCP segment of 1,448 bytes.
 */
export const CREDIT_STEP_BYTES = 1376;
/** The window is given back in so many increments, since the peer cuts its messages by them... */
export const CREDIT_STEPS = 16;
/** ...and each of several channels gets a part of one, but not less than the link carries in so many ms. */
export const CREDIT_STEP_TIME = 8;
/**
 * Increments go in one message, once so small a part of the window is owed: each message is work for both ends, and
 * answered.
 */
export const CREDIT_BATCHES = 12;
/**
 * The same while arrivals grow. A connection that starts sends a burst for each message: with longer ones there would
 * be pauses in between, and what is held back would be missing from the next burst.
 */
export const EARLY_CREDIT_BATCHES = 32;

/** Parts of a slice: a gap is so long without a byte; after that, what was held back comes within so long. */
const GAP_PART = 0.25;
const JUMP_PART = 0.125;
/** The rate over so many slices is a lasting one. */
const LASTING_SLICES = 4;

interface Slice {
  readonly bytes: number;
  /** Milliseconds. */
  readonly time: number;
  /** The longest time without a byte that the bytes themselves do not explain, in ms. */
  readonly gap: number;
  /** How far ahead of the best rate the bytes ran after such a gap, in ms: what they had fallen behind on the link. */
  readonly stall: number;
}

interface EndedSlice extends Slice {
  /** The largest of this slice and the one before. */
  readonly worst: { readonly gap: number; readonly stall: number };
  /** Bytes per ms in these two. */
  readonly rate: number;
  /** By how much it was faster than the one before. */
  readonly rise: number;
  /**
   * Over the last LASTING_SLICES: long enough to have what one channel's loss held back together with the time that it
   * was held back.
   */
  readonly lastingRate: number;
}

/**
 * Arrivals of a session's bytes in slices of about a round trip: how fast they came, and how evenly. A gap that the bytes
 * themselves do not explain is either the sender's, who had nothing to send, or the link's, which lost a segment or slept;
 * then what it held back comes at once. Arithmetic only: the clock is passed in.
 */
class ArrivalSlices {
  #start: number | null = null;
  #lastArrival = 0;
  #bytes = 0;
  #gap = 0;
  #stall = 0;
  /** Since when a slice that is over is kept open for what a gap held back; null where none is. */
  #heldSince: number | null = null;
  /** Bytes that came sooner than at the best rate, as a bucket that leaks at that rate. */
  #ahead = 0;
  #gapEnd = Number.NEGATIVE_INFINITY;
  #jump = 0;
  #last: Slice[] = [];
  /** Bytes per ms of the last two slices. By it one reckons how long the bytes of a message have been coming. */
  #recentRate = 0;

  /** The gap in the slice that goes on, in ms. */
  get gap(): number {
    return this.#gap;
  }

  /** Bytes of the slice that goes on, or of the one before if those are more. */
  get bytes(): number {
    return Math.max(this.#bytes, this.#last.at(-1)?.bytes ?? 0);
  }

  /** The most that came at once after a gap, in ms of the best rate, since that was last taken. */
  get jump(): number {
    return this.#jump;
  }

  takeJump(): number {
    const jump = this.#jump;
    this.#jump = 0;
    return jump;
  }

  /**
   * Bytes came at `now` (ms).
   *
   * @param link its best rate in bytes per ms, 0 if it is not known; how long a slice is to be, in ms; and by what
   *   ratio a rate may be above the best without being ahead of it.
   * @returns false for the first: how long they took nobody knows.
   */
  add(bytes: number, now: number, link: { rate: number; sliceTime: number; tolerance: number }): boolean {
    const { rate, sliceTime, tolerance } = link;
    const since = now - this.#lastArrival;
    this.#lastArrival = now;
    if (this.#start === null) {
      this.#start = now;
      return false;
    }
    this.#gap = Math.max(this.#gap, since - (this.#recentRate > 0 ? bytes / this.#recentRate : 0));
    this.#ahead = Math.max(0, this.#ahead - tolerance * rate * since);
    if (rate > 0) this.#stall = Math.max(this.#stall, this.#ahead / rate);
    if (since > GAP_PART * sliceTime) {
      this.#gapEnd = now;
      // Bytes that a gap held back come at once: in the gap's slice, or in the next one they would look like a better link.
      if (now - this.#start >= sliceTime) this.#heldSince ??= now;
    }
    // A sender's burst takes as long as the link needs for it; bytes that one lost segment held back come at once.
    if (rate > 0 && now - this.#gapEnd < JUMP_PART * sliceTime) this.#jump = Math.max(this.#jump, this.#ahead / rate);
    this.#ahead += bytes;
    this.#bytes += bytes;
    return true;
  }

  /** The slice that goes on, if it is over. */
  takeEnded(now: number, sliceTime: number): EndedSlice | null {
    const isHeld = this.#heldSince !== null && now - this.#heldSince < JUMP_PART * sliceTime;
    if (this.#start === null || isHeld || now - this.#start < sliceTime) return null;
    const slice: Slice = { bytes: this.#bytes, time: now - this.#start, gap: this.#gap, stall: this.#stall };
    const previous = this.#last.at(-1) ?? slice;
    this.#last.push(slice);
    if (this.#last.length > LASTING_SLICES) this.#last.shift();
    this.#start = now;
    this.#heldSince = null;
    this.#bytes = 0;
    this.#gap = 0;
    this.#stall = 0;
    this.#recentRate = rateOf([previous, slice]);
    return {
      ...slice,
      worst: { gap: Math.max(slice.gap, previous.gap), stall: Math.max(slice.stall, previous.stall) },
      rate: this.#recentRate,
      rise: rateOf([slice]) / rateOf([previous]),
      lastingRate: rateOf(this.#last),
    };
  }

  /** Nothing is expected any more: the time until the next arrival says nothing about the link. */
  clear(): void {
    this.#start = null;
    this.#heldSince = null;
    this.#bytes = 0;
    this.#gap = 0;
    this.#stall = 0;
    this.#ahead = 0;
    this.#last = [];
    this.#recentRate = 0;
  }
}

/** Bytes per ms. */
function rateOf(slices: readonly Slice[]): number {
  const [bytes, time] = slices.reduce(([b, t], each) => [b + each.bytes, t + each.time], [0, 0]);
  return bytes / time;
}

/** Part of the credit by which it is changed, up or down. */
const STEP = 0.1;
/** A change of the rate by this part is one that the credit made: half of a step. */
const EFFECT = 0.05;
/** Rates of so many rounds are compared, by their mean. */
const ROUNDS = 4;
/** After a step that was taken back, so many rounds without another; twice as many each time. */
const FIRST_REST = 8;
const LONGEST_REST = 64;

/**
 * Finds out whether credit is what limits a sender that uses it all up while no queue stands. By the shortest round trip
 * less of it would do; but on a radio that jitters, or with a busy device at either end, credit takes longer than that to
 * come round. So it is taken away by tenths, and each is given back if fewer bytes come without it; then a tenth more is
 * tried. Arithmetic only, a round being the time of one ping.
 */
export class CreditTrial {
  /** The step that is being tried, as what the credit was before, and the rate then. */
  #tried: { readonly from: number; readonly rate: number; readonly isMore: boolean } | null = null;
  #rates: number[] = [];
  /** The first round after a change still has the old credit. */
  #skip = 0;
  #rest = 0;
  #restTime = FIRST_REST;
  /** Less was tried, and cost. */
  #isScarce = false;

  /**
   * After each round.
   *
   * @param credit bytes that there were in it.
   * @param rate that bytes came at, per ms.
   * @param enough bytes of credit by the shortest round trip: no less is tried.
   * @returns bytes of credit for the next.
   */
  next(credit: number, rate: number, enough: number): number {
    if (credit <= enough) {
      this.reset();
      return enough;
    }
    if (this.#skip > 0) {
      this.#skip -= 1;
      return credit;
    }
    if (this.#rest > 0) {
      this.#rest -= 1;
      return credit;
    }
    this.#rates.push(rate);
    if (this.#rates.length < ROUNDS) return credit;
    const mean = this.#rates.reduce((sum, each) => sum + each, 0) / ROUNDS;
    this.#rates = [];
    const tried = this.#tried;
    this.#tried = null;
    if (tried !== null && (tried.isMore ? mean < (1 + EFFECT) * tried.rate : mean < (1 - EFFECT) * tried.rate)) {
      this.#skip = 1;
      this.#isScarce = !tried.isMore;
      if (tried.isMore) {
        this.#rest = this.#restTime;
        this.#restTime = Math.min(LONGEST_REST, 2 * this.#restTime);
      }
      return tried.from;
    }
    if (tried !== null) this.#restTime = FIRST_REST;
    const isMore = tried?.isMore ?? this.#isScarce;
    this.#isScarce = false;
    this.#tried = { from: credit, rate: mean, isMore };
    this.#skip = 1;
    return isMore ? credit * (1 + STEP) : Math.max(enough, credit * (1 - STEP));
  }

  /** The credit was changed for another reason than a trial. */
  reset(): void {
    this.#tried = null;
    this.#rates = [];
    this.#skip = 1;
    this.#isScarce = false;
  }
}

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
/** A single answer that is late by this factor proves a queue; otherwise two in a row do. */
const CERTAIN_QUEUE = 2;
/** A queue of so many ms is felt by a person who waits behind it. */
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
/**
 * What a link carries, as seen by the receiver, and the session credit that follows from it: 110 % of bandwidth times
 * round trip. Arithmetic only: the clock is passed in. After BBR (draft-cardwell-iccrg-bbr-congestion-control): the
 * bandwidth is the largest of ten rounds, the round trip the smallest; both are measured on traffic that is there anyway.
 *
 * Three things differ, since this is no congestion control but a cap above one:
 * - The cap must never keep a sender small: while deliveries grow the credit grows as slow start does, and faster under
 *   loss. The credit doubles at most until a ping has come back, so an unknown link gets no more than it has shown to carry.
 * - Arrivals that stall and then come all at once (a loss under TCP's ordering, a radio that pauses) need credit for the
 *   pause too, or the sender would stall with them: the pause counts as part of the round trip.
 * - Only a queue shrinks the credit: a round trip that is longer than the shortest, while bytes arrive evenly.
 */
export class BandwidthEstimate {
  readonly #most: number;
  /** The window at first, or after the first round trip. */
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
  /** Whether the last round trip told of a queue that stands, the sender's own pauses taken off. */
  #queueSeen = false;
  /** The last round trip was a much longer one, which alone is no proof of a queue. */
  #isLate = false;
  /** The best rate of each of the last rounds in which the link was full. */
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
    // Bytes that are sent again on connections that were given up make a queue too, and cold ones are slow.
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
   * The first of several channels answered the ping after `rtt` ms. The others are not kept by the link that they share
   * but by the bytes that their own connections have to send before.
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
    // A window that was small on the last link is a queue of seconds on 2G.
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

  /** Pauses of arrival to allow for. A pause of a round trip is a segment lost and sent again. */
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

  /** The longest round trip without a queue, in ms, once an answer has come. */
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
    // Bytes that were held back and came at once are faster than the link.
    const isFlood = worst.stall > FLOOD_PART * this.#sliceTime;
    const rate = isFlood ? Math.min(slice.rate, lastingRate) : slice.rate;
    const round = this.#round;
    // The rate around an outage, or while the sender paused, says nothing about how fast a queue drains.
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
    // The new peak answers whether the link carries more than it did.
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
    // Credit that waits to be given back is missing meanwhile: half a batch on average, more where a segment is much.
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
