/**
 * The receiving side of a session: counts what comes on all channels, gives credit for it on the channel that works, and
 * measures round trips along with frames that are sent anyway. PROTOCOL.md sections 4.6 and 6.
 */
import { ErrorCode, RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";
import type { SessionWindow } from "../credit/session-window.ts";
import type { ChannelSet } from "../pipe/channel-set.ts";
import type { SessionChannel, StripeFrame } from "./session-channel.ts";

export class SessionReceiver {
  readonly window: SessionWindow;
  #channels: ChannelSet;

  constructor(channels: ChannelSet, window: SessionWindow) {
    this.#channels = channels;
    this.window = window;
  }

  /** Bytes that one stream may have unread, so that its credit does not hold back what the link carries. */
  get streamWindow(): number {
    return this.window.streamSize;
  }

  /** A piece of a stream that may be on another channel. */
  receivePiece(piece: StripeFrame): void {
    this.window.receive(piece.payload.length);
    const home = this.#channels.by(piece.home);
    // Pieces of a channel that was retired may still have been under way on others.
    if (home === undefined && piece.home < limits.channels) return this.consume(piece.payload.length);
    if (home === undefined) {
      const message = `Cannot take a piece: there is no channel ${piece.home}`;
      throw new RopewayError(ErrorCode.PROTOCOL_ERROR, "session", "peer", message);
    }
    home.receivePiece(piece);
  }

  /** Somebody has read what came, or nobody will. */
  consume(bytes: number): void {
    if (bytes === 0) return;
    this.window.consume(bytes);
    this.#giveCredit();
  }

  /** All frames of a message were handled. */
  messageEnd(from: SessionChannel): void {
    this.#channels.choice.heard(from);
    const ackBytes = Math.floor(this.window.size / ACKS_PER_WINDOW);
    this.#channels.ackBytes = Math.min(MOST_ACK_BYTES, Math.max(LEAST_ACK_BYTES, ackBytes));
    this.#giveCredit();
  }

  /** The channel has a fresh transport. */
  attached(channel: SessionChannel): void {
    // Where it came from another transport, its answer is lost with that.
    this.window.forgetPing(channel.index);
    if (this.#channels.choice.attached.length === 1) this.window.restart();
    else if (channel.channel.isNew) this.window.joined();
    this.strand();
  }

  detached(channel: SessionChannel): void {
    this.window.forgetPing(channel.index);
    this.strand();
  }

  /** To be told whenever that changes which channels can go on. */
  strand(): void {
    const part = this.#channels.choice.strandedPart;
    if (part !== null) this.window.strand(part);
  }

  /**
   * Pings along with a frame that is sent anyway, and on the other channels that bytes may be under way on: only when all
   * have answered it is clear what the edge had left to send.
   *
   * @param increment credit that goes with it.
   */
  measure(carrier: SessionChannel, increment = 0): void {
    if (!carrier.channel.attached) return;
    const others = this.#channels.choice.live.filter((other) => other !== carrier && other.streams.size > 0);
    const pinged = [carrier, ...others];
    const token = this.window.takePing(
      increment,
      pinged.map(({ index }) => index),
    );
    if (token !== null) for (const { channel } of pinged) channel.ping(token);
  }

  #giveCredit(): void {
    const channels = this.#channels.choice.attached.length;
    const increments = this.window.takeIncrements(Math.max(1, channels));
    if (increments.length === 0) return;
    const carrier = this.#channels.choice.forCredit;
    for (const increment of increments) carrier.channel.send({ type: "credit", streamId: 0, increment });
    const given = increments.reduce((sum, each) => sum + each, 0);
    this.measure(carrier, given);
  }
}

/** With several channels an acknowledgement goes out whenever this part of what may be under way has come... */
const ACKS_PER_WINDOW = 24;
/** ...and in no smaller ones, in bytes: three segments. */
const LEAST_ACK_BYTES = 4_200;
/** ...nor in larger ones, or the peer would not see what a channel carries. */
const MOST_ACK_BYTES = 16_384;
