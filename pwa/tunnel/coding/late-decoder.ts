import { type Clock, monotonicClock } from "../../../shared/clock.ts";
import type { DecoderHandler, LinkDecoder } from "../../../shared/coding/link-coding.ts";

/** A decoder in steps, which waits for its consumer between them. */
export interface SteppedDecoder {
  /** @throws Error where the bytes do not decode. */
  write(chunk: Uint8Array): Promise<void>;
  /** @throws Error where something lacks. */
  end(): void;
  /** Nothing more comes out. Idempotent. */
  close(): void;
}

/** A stored body that another one is coded against. */
export interface StoredDictionary {
  readonly bytes: Uint8Array;
  /** SHA-256 */
  readonly hash: Uint8Array;
}

/** Opens a decoder that hands what comes out to `deliver`. */
export type OpenSteppedDecoder = (deliver: DecoderHandler["deliver"]) => Promise<SteppedDecoder>;

/** A decoder whose script, and what it needs, may come later than the response does. */
export function lateDecoder(open: OpenSteppedDecoder, handler: DecoderHandler): LinkDecoder {
  const opened = open((bytes) => handler.deliver(bytes));
  let isOver = false;
  const close = (): void => {
    isOver = true;
    opened.then(
      (decoder) => decoder.close(),
      () => {},
    );
  };
  const failed = (error: unknown): void => {
    if (isOver) return;
    close();
    handler.failed(error);
  };
  let last: Promise<void> = Promise.resolve();
  /** In their order, and none after the end. */
  const then = (task: (decoder: SteppedDecoder) => Promise<void> | void): Promise<void> => {
    last = last
      .then(async () => {
        if (!isOver) await task(await opened);
      })
      .catch(failed);
    return last;
  };
  return {
    write(chunk) {
      const bytes = chunk.slice();
      return then((decoder) => decoder.write(bytes));
    },
    end() {
      void then((decoder) => {
        decoder.end();
        decoder.close();
        isOver = true;
        handler.finished();
      });
    },
    cancel: close,
  };
}

interface PoolBounds {
  /** Contexts in use at once. A body that comes later waits... */
  readonly most: number;
  /**
   * ...until one is free, or none has made a step for PATIENCE, since a page may never read its bodies. So many
   * contexts are all that there can be.
   */
  readonly mostStalled: number;
}

/** Milliseconds. */
const PATIENCE = 1000;

/** How many contexts of decoders may be in use: each holds its window. */
export class ContextPool {
  readonly #bounds: PoolBounds;
  readonly #clock: Clock;
  #used = 0;
  #steppedAt = 0;
  #queue: (() => void)[] = [];

  constructor(bounds: PoolBounds, clock: Clock = monotonicClock) {
    this.#bounds = bounds;
    this.#clock = clock;
  }

  /** Settles when one more may be in use. */
  async take(): Promise<void> {
    const { most, mostStalled } = this.#bounds;
    for (
      let left = PATIENCE;
      this.#used >= mostStalled || (this.#used >= most && left > 0);
      left = this.#patienceLeft
    ) {
      await this.#released(Math.max(left, 1));
    }
    this.#used += 1;
  }

  release(): void {
    this.#used -= 1;
    for (const resolve of this.#queue.splice(0)) resolve();
  }

  /** A decoder goes on. */
  stepped(): void {
    this.#steppedAt = this.#clock.now();
  }

  /** Settles when a decoder is released, or after so many ms; at `mostStalled` only a release helps. */
  #released(within: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#used < this.#bounds.mostStalled) this.#queue.push(this.#clock.setTimer(resolve, within));
      this.#queue.push(resolve);
    });
  }

  get #patienceLeft(): number {
    return this.#steppedAt + PATIENCE - this.#clock.now();
  }
}

/** A script carries its wasm in gzip. */
export function unzipped(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
