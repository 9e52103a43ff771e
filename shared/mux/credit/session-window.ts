/**
 * The session's receiving side of PROTOCOL.md section 6: how much the peer may send on all streams together. Two bounds
 * at once. Credit that is out (bytes on the link) follows the measured bandwidth-delay product and is given back on
 * arrival. Bytes that nobody has read yet are bounded by `mostUnread`; their credit is given back on consumption. Were the
 * small bound on consumption too, one body that nobody reads would stop all others.
 */
import { ErrorCode, RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { FRESH_WINDOW_BYTES } from "../pipe/frame-log.ts";
import {
  BandwidthEstimate,
  CREDIT_BATCHES,
  CREDIT_STEP_BYTES,
  CREDIT_STEP_TIME,
  CREDIT_STEPS,
  EARLY_CREDIT_BATCHES,
  type LinkEstimate,
} from "./bandwidth-estimate.ts";

interface SessionWindowOptions {
  /** Credit that the peer has from the start. */
  readonly initial: number;
  /** For experiments: `initial` is all the credit there is, whatever is measured. */
  readonly isFixed?: boolean;
  /** Bytes that may be on their way at any time. */
  readonly most: number;
  /** Bytes that may be unread and on their way at any time. */
  readonly mostUnread: number;
  /** Bytes that one stream may have unread, on its way or not, where the round trip is not known or hardly. */
  readonly nearStream: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Credit that a former window of the session had out. The bytes that it had received are not known any more. */
  readonly outstanding?: number;
}

export class SessionWindow {
  #options: SessionWindowOptions;
  #estimate: BandwidthEstimate;
  /** Credit that the peer may still use, or has used for bytes that are under way. */
  #outstanding: number;
  #unread = 0;
  /**
   * Part of the channels without a transport; the credit that was out when the last of these lost its own; and whether
   * all had lost theirs.
   */
  #stranded = { part: 0, outstanding: 0, isSpread: false };
  /** Bytes received in all. */
  #received = 0;
  #pingToken = 0;
  /** The ping that waits for its answers; `rtt` is of the first. */
  #ping: { readonly sentAt: number; readonly spentAt: number; rtt: number | null } | null = null;
  /** Channels that have not answered it. */
  #unanswered = new Set<number>();
  #pingedAt = Number.NEGATIVE_INFINITY;

  constructor(options: SessionWindowOptions) {
    this.#options = options;
    this.#estimate = new BandwidthEstimate(options.initial, options.most);
    this.#outstanding = options.outstanding ?? options.initial;
  }

  get outstanding(): number {
    return this.#outstanding;
  }

  /** Received and not consumed. */
  get unread(): number {
    return this.#unread;
  }

  /** Bytes that the peer may have under way. */
  get size(): number {
    return this.#options.isFixed ? this.#options.initial : this.#estimate.window;
  }

  /**
   * Bytes that a stream which is read may have unread: somewhat more than all may have under way, since it is given back
   * in quarters, or it would be what limits the stream.
   */
  get streamSize(): number {
    const { most, nearStream } = this.#options;
    const isNear = (this.#estimate.estimate.minRtt ?? 0) < SHORT_ROUND_TRIP;
    return Math.min(isNear ? nearStream : most, Math.ceil(1.5 * this.size));
  }

  get estimate(): LinkEstimate {
    return this.#estimate.estimate;
  }

  /** @throws RopewayError FLOW_CONTROL_ERROR when the peer sent more than it had credit for. */
  receive(bytes: number): void {
    if (bytes > this.#outstanding) {
      throw new RopewayError(
        ErrorCode.FLOW_CONTROL_ERROR,
        "session",
        "peer",
        `Cannot take ${bytes} bytes: the peer has credit for ${this.#outstanding}`,
      );
    }
    this.#outstanding -= bytes;
    this.#received += bytes;
    this.#unread += bytes;
    if (bytes > 0) this.#estimate.arrived(bytes, this.#options.now());
  }

  consume(bytes: number): void {
    this.#unread -= bytes;
  }

  /**
   * The increments to send now, in one message: none while what is owed is not worth one. Much comes in several, since
   * the peer cuts its messages by them.
   *
   * @param channels that bytes come on at the same time: their messages share the link, and are whole only together. On
   *   a fast link they may be longer all the same: each is work for two processors.
   */
  takeIncrements(channels = 1): number[] {
    const { size } = this;
    const owed = Math.min(size + this.#stuck, this.#options.mostUnread - this.#unread) - this.#outstanding;
    const part = size / CREDIT_STEPS;
    const soon = Math.min(part, this.#estimate.estimate.rate * CREDIT_STEP_TIME);
    const step = Math.max(CREDIT_STEP_BYTES, Math.floor(Math.max(part / channels, soon)));
    const batch = size / (this.#estimate.isSurging ? EARLY_CREDIT_BATCHES : CREDIT_BATCHES);
    if (owed < Math.max(step, batch)) return [];
    const increments = Array.from({ length: Math.floor(owed / step) }, () => step);
    this.#outstanding += step * increments.length;
    return increments;
  }

  /** Another channel comes: a connection whose window is fresh. */
  joined(): void {
    this.#estimate.widen(FRESH_WINDOW_BYTES);
  }

  /**
   * Credit that is out may be stuck with channels that have no transport. The others get as much again, or the loss of
   * one channel would hold up all of them. To be called whenever that part changes, after `restart`.
   *
   * @param part of the channels that have none while others do, 0 to 1.
   */
  strand(part: number): void {
    const stranded = this.#stranded;
    // Credit that was given for channels lost before is with the peer, unused: no reason to give as much again.
    const most = stranded.part === 0 && !stranded.isSpread ? this.size : this.#outstanding;
    stranded.outstanding = part > stranded.part ? Math.min(most, this.#outstanding) : stranded.outstanding;
    stranded.isSpread &&= part > 0;
    stranded.part = part;
  }

  /** Bytes of credit that is out and may be stuck with channels that have no transport. */
  get #stuck(): number {
    const { part, outstanding, isSpread } = this.#stranded;
    if (part === 0) return 0;
    // If all channels were lost, the credit is spread over all of them; else all of it may be with the one that is
    // missing.
    if (!isSpread) return outstanding;
    return Math.max(part * outstanding, outstanding + limits.leastSessionCreditBytes - this.size);
  }

  /**
   * A token to ping with, if the round trip is to be measured anew. To be asked when a frame is sent anyway.
   *
   * @param increment credit that goes out with the ping and cannot be used before it is answered.
   * @param channels that are to answer it.
   */
  takePing(increment: number, channels: readonly number[]): number | null {
    const now = this.#options.now();
    if (this.#ping !== null && now - this.#ping.sentAt < PING_PATIENCE) return null;
    if (now - this.#pingedAt < PING_INTERVAL) return null;
    this.#pingToken += 1;
    this.#pingedAt = now;
    this.#ping = { sentAt: now, spentAt: this.#received + this.#outstanding - increment, rtt: null };
    this.#unanswered = new Set(channels);
    this.#estimate.pinged(now, this.#outstanding);
    return this.#pingToken;
  }

  /** @returns false when the token is none of ours. */
  pong(token: number, channel: number): boolean {
    const ping = this.#ping;
    if (ping === null || token !== this.#pingToken) return false;
    const now = this.#options.now();
    const isFirst = ping.rtt === null;
    ping.rtt ??= now - ping.sentAt;
    this.#unanswered.delete(channel);
    if (this.#unanswered.size > 0) {
      if (isFirst) this.#estimate.heard(ping.rtt);
      return true;
    }
    this.#ping = null;
    this.#estimate.ponged(now, this.#received >= ping.spentAt, ping.rtt);
    return true;
  }

  /** A channel lost its transport, and its ping with it. */
  forgetPing(channel: number): void {
    if (this.#unanswered.delete(channel)) this.#ping = null;
  }

  /** No stream is open: nothing more is to come. */
  rest(): void {
    this.#estimate.rest();
  }

  /** The session goes on over another link. */
  restart(): void {
    this.#ping = null;
    this.#stranded.isSpread = true;
    this.#estimate = this.#estimate.restarted();
  }
}

/** Shorter ones, in ms, are not measured well. */
const SHORT_ROUND_TRIP = 10;
/** Pings are not closer than this, in ms: a round trip on one machine takes less. */
const PING_INTERVAL = 10;
/** A ping that was not answered for so long, in ms, was lost or passed over. */
const PING_PATIENCE = 30_000;
