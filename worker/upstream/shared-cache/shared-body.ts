/**
 * One body for several readers, each at a pace of its own. What was read is kept until its end for who comes later or is
 * slower, up to a bound; beyond it the reader that is farthest has the source to itself, and the others go on alone.
 */
import { concat } from "../../../shared/wire/frame.ts";
import { type ChunkReader, startingWith } from "../body/response-body.ts";

/** Bytes of one body that are kept, and so of the largest that is stored; above nearly all scripts, fonts and pictures. */
export const SHARED_BODY_BYTES = 2 * 1024 * 1024;

type State =
  | { readonly kind: "reading" }
  | { readonly kind: "whole" }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "taken"; readonly by: symbol };

export interface SharedBodyOptions {
  /** Asked before more is kept. */
  readonly hasRoom: (bytes: number) => boolean;
  /** Once: with the whole body, or null where it is too long, broken or wanted by nobody, or there is no room. */
  readonly onEnd: (body: Uint8Array<ArrayBuffer> | null) => void;
}

export interface BodyReaderOptions {
  /** Gives the body from its start, where this reader cannot go on with the source. */
  readonly readAnew: () => Promise<ChunkReader>;
  /** It has the whole body, or does not want the rest. */
  readonly onOver: () => void;
}

export class SharedBody {
  readonly #source: ChunkReader;
  readonly #options: SharedBodyOptions;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #state: State = { kind: "reading" };
  #step: Promise<void> | null = null;

  constructor(source: ChunkReader, options: SharedBodyOptions) {
    this.#source = source;
    this.#options = options;
  }

  open({ readAnew, onOver }: BodyReaderOptions): ReadableStream<Uint8Array> {
    const reader = Symbol("reader");
    let chunks = this.#chunks;
    let position = 0;
    let own: ChunkReader | null = null;
    const next = async (): Promise<Uint8Array | null> => {
      while (own === null) {
        const chunk = chunks[position];
        if (chunk !== undefined) position++;
        if (chunk !== undefined) return chunk;
        if (this.#state.kind === "whole") return null;
        if (this.#state.kind === "failed") throw this.#state.error;
        if (this.#state.kind === "reading") await this.#advance(reader);
        else {
          own = this.#state.by === reader ? this.#source : await startingBehind(chunks, await readAnew());
          chunks = [];
        }
      }
      return own.read();
    };
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const chunk = await next();
          if (chunk !== null) return controller.enqueue(chunk);
          onOver();
          controller.close();
        },
        async cancel(reason) {
          await own?.cancel(reason);
          onOver();
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Nobody reads it any more. */
  close(): void {
    if (this.#state.kind !== "reading") return;
    this.#end({ kind: "failed", error: new Error("Cannot read on: the body was given up") });
    this.#source.cancel().catch(() => {});
  }

  #advance(reader: symbol): Promise<void> {
    this.#step ??= this.#read(reader).finally(() => {
      this.#step = null;
    });
    return this.#step;
  }

  async #read(reader: symbol): Promise<void> {
    try {
      const chunk = await this.#source.read();
      if (this.#state.kind !== "reading") return;
      if (chunk === null) return this.#end({ kind: "whole" });
      this.#chunks.push(chunk);
      this.#bytes += chunk.length;
      const mayGoOn = this.#bytes <= SHARED_BODY_BYTES && this.#options.hasRoom(chunk.length);
      if (!mayGoOn) this.#end({ kind: "taken", by: reader });
    } catch (error) {
      if (this.#state.kind === "reading") this.#end({ kind: "failed", error });
    }
  }

  #end(state: Exclude<State, { kind: "reading" }>): void {
    this.#state = state;
    const body = state.kind === "whole" ? (concat(...this.#chunks) as Uint8Array<ArrayBuffer>) : null;
    // Readers that need them yet have them.
    if (state.kind !== "whole") this.#chunks = [];
    this.#options.onEnd(body);
  }
}

/** @throws Error where the body does not start as the former did: it is another by now. */
async function startingBehind(chunks: readonly Uint8Array[], body: ChunkReader): Promise<ChunkReader> {
  const former = concat(...chunks);
  for (let passed = 0; passed < former.length; ) {
    const chunk = await body.read();
    const part = chunk?.subarray(0, former.length - passed);
    const from = passed;
    if (chunk === null || part?.every((byte, index) => byte === former[from + index]) !== true) {
      await body.cancel();
      throw new Error("Cannot go on: connection reset, since the body is another by now");
    }
    passed += part.length;
    if (part.length < chunk.length) return startingWith(chunk.slice(part.length), body);
  }
  return body;
}
