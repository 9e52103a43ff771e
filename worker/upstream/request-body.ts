/**
 * A request body on its way from the phone. Small ones are collected: the origin then gets a Content-Length, which
 * many want, and a redirect can send them again. Large ones stream and are sent once.
 */
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import * as limits from "../../shared/limits.ts";

/** Bytes: request body kept for a 307 or 308; more cannot be sent again. */
export const REPLAYABLE_BODY_BYTES = 1024 * 1024;

/** Bytes: request bodies kept for replay by all exchanges of one object together; beyond it they only stream. */
export const RETAINED_BODIES_BYTES = 8 * 1024 * 1024;

/** A body as `fetch` takes it. */
export type SendableBody = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | Blob;

/** Makes `stream`, which is `length` bytes, a body that is sent with a Content-Length (workerd: FixedLengthStream). */
export type WithFixedLength = (stream: ReadableStream<Uint8Array>, length: number) => ReadableStream<Uint8Array> | Blob;

/** Counts the bytes that all bodies of one upstream keep. */
export interface RetainedBytes {
  total: number;
}

export interface RequestBodyOptions {
  /** Content-Length as the phone declares it, or null. */
  readonly declaredLength: number | null;
  readonly retained: RetainedBytes;
  /** Called when the phone is waited for, and when that is over. */
  readonly onWait: () => void;
  readonly onWaited: () => void;
  /** Called when a body that streams cannot go on; the platform's fetch does not always pass the reason on. */
  readonly onFailure: (error: unknown) => void;
  readonly withFixedLength?: WithFixedLength;
}

export class RequestBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #options: RequestBodyOptions;
  #received = 0;
  #kept: Uint8Array<ArrayBuffer> | null = null;
  /** What `retained` counts of collected chunks that were handed on and have not left. */
  #unsent = 0;
  #opened = false;

  /** Takes ownership of `stream`. */
  constructor(stream: ReadableStream<Uint8Array>, options: RequestBodyOptions) {
    this.#reader = stream.getReader();
    this.#options = options;
  }

  /**
   * The body for the next request.
   * @throws RopewayError BODY_NOT_REPLAYABLE if it streamed in an earlier one
   */
  async open(): Promise<SendableBody> {
    if (this.#kept !== null) return this.#kept;
    if (this.#opened) {
      throw new RopewayError(
        ErrorCode.BODY_NOT_REPLAYABLE,
        "stream",
        "origin",
        `Cannot follow the redirect: the request body is larger than ${REPLAYABLE_BODY_BYTES} bytes and was sent`,
      );
    }
    this.#opened = true;
    const { declaredLength, withFixedLength } = this.#options;
    if (declaredLength !== null && declaredLength > REPLAYABLE_BODY_BYTES) {
      const stream = this.#stream([], declaredLength);
      return withFixedLength?.(stream, declaredLength) ?? stream;
    }
    return this.#collect();
  }

  /** True if the next `open` gives the body again. */
  get isReplayable(): boolean {
    return this.#kept !== null;
  }

  /** Ends the body: what was kept is given up and the phone is told to stop sending. */
  async close(reason: unknown): Promise<void> {
    this.#release(this.#unsent);
    this.#options.retained.total -= this.#kept?.byteLength ?? 0;
    this.#kept = null;
    this.#opened = true;
    await this.#reader.cancel(reason).catch(() => {});
  }

  /** What was collected of a body that is too long to be kept, and has left or is given up. */
  #release(cost: number): void {
    const released = Math.min(cost, this.#unsent);
    this.#unsent -= released;
    this.#options.retained.total -= released;
  }

  async #collect(): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>> {
    const { retained, declaredLength } = this.#options;
    const chunks: Uint8Array[] = [];
    let reserved = 0;
    let overhead = 0;
    try {
      for (;;) {
        const chunk = await this.#read();
        if (chunk === null) break;
        chunks.push(chunk);
        const isTooMuch = this.#received > REPLAYABLE_BODY_BYTES;
        const cost = chunk.byteLength + limits.retainedFrameBytes;
        if (isTooMuch || retained.total + cost > RETAINED_BODIES_BYTES) {
          // Given back as they leave.
          this.#unsent = reserved;
          reserved = 0;
          return this.#stream(chunks, declaredLength);
        }
        retained.total += cost;
        reserved += cost;
        overhead += limits.retainedFrameBytes;
      }
      this.#checkLength(declaredLength);
      const whole = new Uint8Array(this.#received);
      let offset = 0;
      for (const chunk of chunks) {
        whole.set(chunk, offset);
        offset += chunk.byteLength;
      }
      this.#kept = whole;
      retained.total -= overhead;
      return whole;
    } finally {
      if (this.#kept === null) retained.total -= reserved;
    }
  }

  #stream(prefix: readonly Uint8Array[], declaredLength: number | null): ReadableStream<Uint8Array> {
    const first = [...prefix];
    // By the platform: the origin has answered without it.
    let isUnwanted = false;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const collected = first.shift();
            if (collected !== undefined) this.#release(collected.byteLength + limits.retainedFrameBytes);
            const chunk = collected ?? (await this.#read());
            if (isUnwanted) return;
            const isOver = declaredLength !== null && this.#received > declaredLength;
            if (chunk === null || isOver) this.#checkLength(declaredLength);
            if (chunk === null) controller.close();
            else controller.enqueue(chunk);
          } catch (error) {
            this.#options.onFailure(error);
            throw error;
          }
        },
        cancel: (reason) => {
          isUnwanted = true;
          return this.close(reason);
        },
      },
      { highWaterMark: 0 },
    );
  }

  async #read(): Promise<Uint8Array | null> {
    for (;;) {
      this.#options.onWait();
      const { value, done } = await this.#reader.read().finally(this.#options.onWaited);
      if (done) return null;
      this.#received += value.byteLength;
      if (value.byteLength > 0) return value;
    }
  }

  /** A body that is not as long as its Content-Length would be read as two requests by some servers. */
  #checkLength(declaredLength: number | null): void {
    if (declaredLength === null || declaredLength === this.#received) return;
    throw new RopewayError(
      ErrorCode.PROTOCOL_ERROR,
      "stream",
      "peer",
      `Cannot send the request body: it is not the ${declaredLength} bytes that were declared`,
    );
  }
}
