import type { Bottleneck } from "./simulated-bottleneck.ts";
import { type CongestionControl, SEGMENT_BYTES } from "./simulated-congestion.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** TCP, IP and TLS headers of one full segment. */
export const HEADER_BYTES = 60;
const REORDER_SEGMENTS = 3;
const LEAST_TIMEOUT = 200;

interface Segment {
  readonly start: number;
  readonly end: number;
  order: number;
  sentAt: number;
  deliveredAtSend: number;
  deliveredTimeAtSend: number;
  appLimited: boolean;
  state: "flying" | "lost" | "acknowledged";
}

export interface TcpOptions {
  readonly time: VirtualTime;
  readonly bottleneck: Bottleneck;
  /** Of acknowledgements on their way back, in ms. */
  readonly backDelay: number;
  readonly congestion: CongestionControl;
  readonly deliver: (message: Uint8Array) => void;
}

/**
 * One direction of a TCP connection with messages on it: congestion window, selective acknowledgements, loss recovery,
 * and delivery in order, so that what was lost holds back what follows.
 */
export class TcpFlow {
  #options: TcpOptions;
  #messages: { readonly end: number; readonly message: Uint8Array }[] = [];
  #written = 0;
  #sent = 0;
  #inFlight = 0;
  #order = 0;
  /** In the order of sending; acknowledged ones at the front are dropped. */
  #flying: Segment[] = [];
  #retransmissions: Segment[] = [];
  #recoverBelow = 0;
  #roundBelow = 0;
  #delivered = 0;
  #deliveredTime = 0;
  #srtt = 0;
  #nextSend = 0;
  #waitsForPace = false;
  #timerSet = false;
  /** Of the receiver: what arrived beyond a gap, end by start. */
  #beyond = new Map<number, number>();
  #received = 0;

  constructor(options: TcpOptions) {
    this.#options = options;
  }

  /** Bytes that were handed over and have never left. */
  get backlog(): number {
    return this.#written - this.#sent;
  }

  /** Bytes that were handed over and have not been delivered. */
  get outstanding(): number {
    return this.#written - this.#received;
  }

  send(message: Uint8Array): void {
    this.#written += message.length;
    // The sender may use its buffer again once the peer has acknowledged it, which in a simulation is after delivery.
    this.#messages.push({ end: this.#written, message });
    this.#transmit();
  }

  #transmit(): void {
    const { time, congestion } = this.#options;
    while (this.#inFlight + SEGMENT_BYTES <= congestion.window) {
      if (congestion.pace !== null && this.#nextSend > time.now()) return this.#waitForPace();
      const segment = this.#retransmissions.shift() ?? this.#nextSegment();
      if (segment === undefined) return;
      this.#fly(segment);
      const start = Math.max(this.#nextSend, time.now());
      if (congestion.pace !== null) this.#nextSend = start + (segment.end - segment.start) / congestion.pace;
    }
  }

  #waitForPace(): void {
    if (this.#waitsForPace) return;
    this.#waitsForPace = true;
    const { time } = this.#options;
    time.in(this.#nextSend - time.now(), () => {
      this.#waitsForPace = false;
      this.#transmit();
    });
  }

  #nextSegment(): Segment | undefined {
    if (this.#sent === this.#written) return undefined;
    const start = this.#sent;
    this.#sent = Math.min(this.#written, start + SEGMENT_BYTES);
    const blank = { order: 0, sentAt: 0, deliveredAtSend: 0, deliveredTimeAtSend: 0, appLimited: false };
    return { start, end: this.#sent, ...blank, state: "flying" };
  }

  #fly(segment: Segment): void {
    const { time, bottleneck, backDelay } = this.#options;
    const bytes = segment.end - segment.start;
    if (this.#inFlight === 0) this.#deliveredTime = time.now();
    segment.order = this.#order++;
    segment.sentAt = time.now();
    segment.state = "flying";
    segment.deliveredAtSend = this.#delivered;
    segment.deliveredTimeAtSend = this.#deliveredTime;
    segment.appLimited = this.backlog === 0 && this.#retransmissions.length === 0;
    this.#inFlight += bytes;
    this.#flying.push(segment);
    const { order } = segment;
    bottleneck.send(bytes + HEADER_BYTES, () => {
      this.#arrive(segment);
      time.in(backDelay, () => this.#acknowledge(segment, order));
    });
    this.#setTimer();
  }

  #arrive(segment: Segment): void {
    if (segment.end <= this.#received) return;
    this.#beyond.set(segment.start, segment.end);
    for (let end = this.#beyond.get(this.#received); end !== undefined; end = this.#beyond.get(this.#received)) {
      this.#beyond.delete(this.#received);
      this.#received = end;
    }
    while (this.#messages[0] !== undefined && this.#messages[0].end <= this.#received) {
      this.#options.deliver((this.#messages.shift() as { message: Uint8Array }).message);
    }
  }

  #acknowledge(segment: Segment, order: number): void {
    if (segment.state === "acknowledged") return;
    const { time, congestion } = this.#options;
    const now = time.now();
    const bytes = segment.end - segment.start;
    const inFlight = this.#inFlight;
    if (segment.state === "flying") this.#inFlight -= bytes;
    else this.#retransmissions = this.#retransmissions.filter((other) => other !== segment);
    segment.state = "acknowledged";
    this.#delivered += bytes;
    this.#deliveredTime = now;
    const rtt = now - segment.sentAt;
    this.#srtt = this.#srtt === 0 ? rtt : this.#srtt * 0.875 + rtt * 0.125;
    const roundStart = order >= this.#roundBelow;
    if (roundStart) this.#roundBelow = this.#order;
    const span = Math.max(now - segment.deliveredTimeAtSend, rtt);
    const rate = (this.#delivered - segment.deliveredAtSend) / span;
    congestion.acknowledged({ now, bytes, rtt, inFlight, rate, appLimited: segment.appLimited, roundStart });
    this.#markLost(order - REORDER_SEGMENTS);
    this.#transmit();
  }

  /** Takes all that flies and was sent up to `order` for lost. */
  #markLost(order: number): void {
    // They fly in the order in which they were sent.
    const later = this.#flying.findIndex((segment) => segment.order > order);
    const lost = this.#flying
      .splice(0, later === -1 ? this.#flying.length : later)
      .filter((segment) => segment.state === "flying");
    if (lost.length === 0) return;
    for (const segment of lost) {
      segment.state = "lost";
      this.#inFlight -= segment.end - segment.start;
    }
    this.#retransmissions.push(...lost);
    if (lost.every((segment) => segment.order < this.#recoverBelow)) return;
    this.#recoverBelow = this.#order;
    this.#options.congestion.lost(this.#options.time.now());
  }

  #setTimer(): void {
    if (this.#timerSet) return;
    const oldest = this.#flying.find((segment) => segment.state === "flying");
    if (oldest === undefined) return;
    this.#timerSet = true;
    const { time } = this.#options;
    const timeout = Math.max(LEAST_TIMEOUT, 2 * this.#srtt) + (this.#srtt === 0 ? 1000 : 0);
    time.in(oldest.sentAt + timeout - time.now(), () => {
      this.#timerSet = false;
      if (oldest.state === "flying" && oldest.sentAt + timeout <= time.now() + 0.001) {
        this.#markLost(this.#order);
        this.#options.congestion.timedOut();
        this.#transmit();
      }
      this.#setTimer();
    });
  }
}
