/** The sending side of a session: bodies of all streams go out as credit allows, the most urgent first. */
import { SendWindow } from "../credit/credit.ts";
import type { ChannelSet } from "../pipe/channel-set.ts";
import { SendQueue } from "../stream/send-queue.ts";
import type { MuxStream } from "../stream/stream.ts";
import type { SessionChannel } from "./session-channel.ts";

export class SessionSender {
  #queue = new SendQueue<MuxStream>();
  #window: SendWindow;
  #channels: ChannelSet;
  #mayStray: boolean;
  #takesData: () => boolean;
  #isPumping = false;
  #isStopped = false;

  /**
   * @param credit bytes that may be sent at first.
   * @param mayStray pieces of bodies may go on other channels than their stream's.
   * @param takesData as of SessionOptions.
   */
  constructor(channels: ChannelSet, credit: number, mayStray: boolean, takesData = () => true) {
    this.#channels = channels;
    this.#window = new SendWindow(credit, "session");
    this.#mayStray = mayStray;
    this.#takesData = takesData;
  }

  /** Bytes that may be sent now. */
  get credit(): number {
    return this.#window.available;
  }

  /** The peer gives small parts of what it lets be under way: longer messages would only make it wait for their ends. */
  grant(bytes: number): void {
    this.#window.grant(bytes);
    this.#channels.batchBytes = bytes;
  }

  /** The peer changed what there was at first. */
  shift(bytes: number): void {
    this.#window.shift(bytes);
  }

  /** The stream has something to send. */
  wake(stream: MuxStream): void {
    this.#queue.add(stream);
    this.pump();
  }

  /** The stream may have something to send when `pump` is called next. */
  queue(stream: MuxStream): void {
    this.#queue.add(stream);
  }

  /** Its place among the others has changed. */
  requeue(stream: MuxStream): void {
    this.#queue.remove(stream);
    this.wake(stream);
  }

  remove(stream: MuxStream): void {
    this.#queue.remove(stream);
  }

  /** The session is over. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Sends what credit allows, most urgent first. */
  pump(): void {
    if (this.#isPumping || this.#isStopped) return;
    this.#isPumping = true;
    try {
      for (;;) {
        const available = this.#takesData() ? this.#window.available : 0;
        const stream = this.#queue.next((sender) => available > 0 && this.#carrierOf(sender) !== null);
        if (stream === undefined) return;
        this.#sendPiece(stream, available);
      }
    } finally {
      this.#isPumping = false;
    }
  }

  #sendPiece(stream: MuxStream, available: number): void {
    const home = this.#channels.of(stream);
    const carrier = this.#carrierOf(stream) ?? home;
    const room = Math.min(carrier.channel.outbox.batchBytes, available);
    const { bytes: payload, end, offset } = stream.takePiece(room, carrier !== home);
    this.#window.take(payload.length);
    const { id: streamId } = stream;
    carrier.channel.send(
      offset === null
        ? { type: "data", streamId, end, payload }
        : { type: "stripe", home: home.index, streamId, offset, end, payload },
    );
  }

  #carrierOf(stream: MuxStream): SessionChannel | null {
    return this.#channels.choice.forPiece(this.#channels.of(stream), this.#mayStray);
  }
}
