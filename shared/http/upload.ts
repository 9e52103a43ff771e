import { ErrorCode, RopewayError } from "../errors.ts";
import type { MuxStream } from "../mux/stream/stream.ts";

/**
 * A request body at the edge: what arrived and was not read yet. Bounded by the stream's credit, which reading gives
 * back. A body that nobody reads must not keep credit of the session: see `answered`.
 */
export class Upload {
  readonly readable: ReadableStream<Uint8Array>;
  #stream: MuxStream;
  #chunks: Uint8Array[] = [];
  #unwanted = false;
  #ended = false;
  #answered = false;
  #failure: RopewayError | null = null;
  #wake: (() => void) | null = null;

  constructor(stream: MuxStream) {
    this.#stream = stream;
    this.readable = new ReadableStream<Uint8Array>(
      { pull: (controller) => this.#pull(controller), cancel: () => this.#discard() },
      { highWaterMark: 0 },
    );
  }

  push(chunk: Uint8Array): void {
    if (this.#unwanted) {
      this.#stream.consumed(chunk.length);
      return;
    }
    this.#chunks.push(chunk);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
    this.#settle();
  }

  fail(error: RopewayError): void {
    this.#failure = error;
    this.#chunks = [];
    this.#wake?.();
  }

  /** The response was sent whole. A body that nobody holds is dropped; one that is being read goes on. */
  answered(): void {
    this.#answered = true;
    if (!this.readable.locked) this.#discard();
    this.#settle();
  }

  /** Nobody wants more of it: what still comes is dropped, so that the phone can finish sending. */
  #discard(): void {
    this.#unwanted = true;
    for (const chunk of this.#chunks.splice(0)) this.#stream.consumed(chunk.length);
    this.#wake?.();
  }

  /** Once both sides have ended, a reader that is slow or gone holds what it has without the session's credit. */
  #settle(): void {
    if (this.#answered && this.#ended) this.#stream.reset(ErrorCode.NO_ERROR);
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (this.#chunks.length === 0 && !this.#ended && !this.#unwanted && this.#failure === null) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure !== null) return controller.error(this.#failure);
    const chunk = this.#chunks.shift();
    if (chunk === undefined) return this.#unwanted ? controller.error(dropped()) : controller.close();
    controller.enqueue(chunk);
    this.#stream.consumed(chunk.length);
  }
}

function dropped(): RopewayError {
  return new RopewayError(
    ErrorCode.CANCEL,
    "stream",
    "user",
    "Cannot read the request body: it was answered without it",
  );
}
