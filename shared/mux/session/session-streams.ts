/** The streams of a session: how many there are and may be, the order in which they came, and what they share. */
import type { RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { DEFAULT_PRIORITY, type Priority } from "../../wire/frame.ts";
import { CreditPool } from "../credit/credit-pool.ts";
import { initialStreamCredit, pooledCredit } from "../credit/initial-credit.ts";
import type { ChannelSet } from "../pipe/channel-set.ts";
import { MuxStream, type StreamHost, type StreamKind, type StreamPlace } from "../stream/stream.ts";
import type { PeerSettings } from "./peer-settings.ts";
import type { SessionReceiver } from "./session-receiver.ts";
import type { SessionSender } from "./session-sender.ts";
import type { SessionHandler } from "./session-types.ts";

/** What the streams need of their session. */
export interface StreamsOwner {
  readonly role: "phone" | "edge";
  readonly handler: SessionHandler;
  readonly channels: ChannelSet;
  readonly sender: SessionSender;
  readonly receiver: SessionReceiver;
  readonly peer: PeerSettings;
  /** How many channels new exchanges go on. */
  readonly wantedChannels: number;
}

export class SessionStreams implements StreamHost {
  /** Encoded bytes of request heads sent or received, frame headers included; for statistics. */
  readonly headBytes = { sent: 0, received: 0, count: 0 };
  readonly creditPool: CreditPool;
  readonly unread = { pieces: 0 };
  readonly sender: SessionSender;
  readonly receiver: SessionReceiver;

  #owner: StreamsOwner;
  #onClosed: () => void;
  /** Streams that were opened here and have sent no head yet: the peer knows nothing of them. */
  #headless = new Set<MuxStream>();
  /** Streams whose head was sent or received. */
  #begun = { exchanges: 0, pushes: 0 };
  #made = { exchanges: 0, pushes: 0 };
  #waiting: (() => void)[] = [];
  #ended: RopewayError | null = null;

  constructor(owner: StreamsOwner, onClosed: () => void) {
    this.#owner = owner;
    this.#onClosed = onClosed;
    this.sender = owner.sender;
    this.receiver = owner.receiver;
    this.creditPool = new CreditPool(pooledCredit(owner.role));
  }

  /** Streams that are open, pushes included. */
  get count(): number {
    return this.#begun.exchanges + this.#begun.pushes + this.#headless.size;
  }

  /** Phone: whether the peer takes one more. */
  get hasRoom(): boolean {
    return this.#begun.exchanges + this.#headless.size < this.#owner.peer.concurrentStreams;
  }

  /**
   * Phone: a new stream. Resolves at once while the peer takes more streams, else when one ends.
   *
   * @throws RopewayError of scope "session" when the session is over.
   */
  async open(priority: Priority = DEFAULT_PRIORITY): Promise<MuxStream> {
    while (this.#ended === null && !this.hasRoom) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.openNow(priority);
  }

  /** As `open`, for callers that know there is room. */
  openNow(priority: Priority = DEFAULT_PRIORITY): MuxStream {
    if (this.#ended !== null) throw this.#ended;
    return this.#open("exchange", priority);
  }

  /** Edge: a stream for a push, or null while there are as many as there may be. Its first head is the request's. */
  openPush(priority: Priority): MuxStream | null {
    const isFull = this.#begun.pushes + this.#headless.size >= limits.concurrentPushes;
    if (this.#ended !== null || isFull) return null;
    return this.#open("push-sent", priority);
  }

  create(kind: StreamKind, priority: Priority, place: StreamPlace | null = null): MuxStream {
    return new MuxStream({ host: this, credit: this.#creditOf(kind), priority, kind, place });
  }

  /** Whether the peer may open one more. */
  hasRoomFor(kind: StreamKind): boolean {
    return kind === "exchange"
      ? this.#begun.exchanges < limits.concurrentStreams
      : this.#begun.pushes < limits.concurrentPushes;
  }

  /** The peer opened it; its head follows. */
  accepted(stream: MuxStream): void {
    const { handler } = this.#owner;
    this.#count(stream, 1);
    if (stream.isPush) handler.onPush?.(stream);
    else handler.onStream?.(stream);
    handler.onStreamsChanged?.();
  }

  /** One of the peer's SETTINGS. */
  setting(id: number, value: number): void {
    const { streams, session } = this.#owner.peer.apply(id, value);
    this.sender.shift(session);
    // The streams send at the end of the message, since one message may have many of these.
    if (streams !== 0)
      for (const stream of this.#owner.channels.streams()) if (!stream.isPush) stream.shiftCredit(streams);
    this.#wakeWaiting();
  }

  /** The session is over. */
  fail(error: RopewayError): void {
    this.#ended = error;
    for (const stream of [...this.#owner.channels.streams(), ...this.#headless]) stream.fail(error);
    this.#wakeWaiting();
  }

  // StreamHost

  nextOrder(isPush: boolean): number {
    return isPush ? 2 * ++this.#made.pushes : 2 * this.#made.exchanges++ + 1;
  }

  begin(stream: MuxStream): StreamPlace {
    // How many channels pay, the phone knows: pushes go on all that it has opened.
    const channel = this.#owner.channels.choice.forStream(stream.isPush ? limits.channels : this.#owner.wantedChannels);
    this.#headless.delete(stream);
    this.#count(stream, 1);
    return { id: channel.number(stream), carrier: channel };
  }

  closed(stream: MuxStream): void {
    const { channels, handler } = this.#owner;
    if (channels.of(stream).forget(stream)) this.#count(stream, -1);
    this.#headless.delete(stream);
    this.sender.remove(stream);
    this.#onClosed();
    this.#wakeWaiting();
    handler.onStreamsChanged?.();
  }

  #open(kind: StreamKind, priority: Priority): MuxStream {
    const stream = this.create(kind, priority);
    this.#headless.add(stream);
    return stream;
  }

  #creditOf(kind: StreamKind): { readonly send: number; readonly receive: number } {
    if (kind === "push-sent") return { send: limits.pushCreditBytes, receive: 0 };
    if (kind === "push-received") return { send: 0, receive: limits.pushCreditBytes };
    return { send: this.#owner.peer.streamCredit, receive: initialStreamCredit(this.#owner.role).receive };
  }

  #count(stream: MuxStream, change: 1 | -1): void {
    this.#begun[stream.isPush ? "pushes" : "exchanges"] += change;
  }

  #wakeWaiting(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }
}
