/** The decoder of zstd, compiled to wasm (`zstddec`), and as many of its contexts as may be in use at once. */
import { ContextPool } from "../../coding/context-pool.ts";

/** Functions of zstd.h and Emscripten. Sizes are bytes, the rest addresses. */
interface ZstdExports {
  readonly memory: WebAssembly.Memory;
  malloc(size: number): number;
  free(address: number): void;
  ZSTD_createDCtx(): number;
  ZSTD_freeDCtx(context: number): number;
  /** @returns an error in the highest numbers. */
  ZSTD_decompressStream(context: number, output: number, input: number): number;
}

/** Bytes: what one step takes and puts out. */
const STEP = 64 * 1024;
/** ZSTD_inBuffer and ZSTD_outBuffer: address, size, position, 4 bytes each. */
const BUFFER = 12;

/** Each has a window of up to 8 MB. */
const CONTEXTS = { most: 4, mostStalled: 16 };

/** Results from here on are errors: ZSTD_error_maxCode is 120. */
const FIRST_ERROR = 2 ** 32 - 120;

export class ZstdWasm {
  readonly #zstd: ZstdExports;
  /** Both buffers' descriptions, what goes in, and what comes out: a step uses them and leaves them. */
  readonly #memory: number;
  readonly #pool = new ContextPool(CONTEXTS);

  private constructor(zstd: ZstdExports) {
    this.#zstd = zstd;
    this.#memory = zstd.malloc(2 * BUFFER + 2 * STEP);
  }

  static async compile(bytes: ArrayBuffer): Promise<ZstdWasm> {
    const imports = { env: { emscripten_notify_memory_growth() {} } };
    const { instance } = await WebAssembly.instantiate(bytes, imports);
    return new ZstdWasm(instance.exports as unknown as ZstdExports);
  }

  /** One frame after the other may be decoded in it. It is to be closed. @throws Error where zstd has no memory. */
  async open(): Promise<ZstdContext> {
    await this.#pool.take();
    const context = this.#zstd.ZSTD_createDCtx();
    if (context === 0) {
      this.#pool.release();
      throw new Error("Cannot decode the response: no memory");
    }
    return {
      decode: (input) => this.#decode(context, input),
      close: () => {
        this.#zstd.ZSTD_freeDCtx(context);
        this.#pool.release();
      },
    };
  }

  *#decode(context: number, input: Uint8Array): Generator<Uint8Array<ArrayBuffer>> {
    for (let start = 0; start < input.length; start += STEP) {
      const piece = input.subarray(start, start + STEP);
      for (let taken = 0, isFull = true; taken < piece.length || isFull; ) {
        const step = this.#step(context, piece, taken);
        taken = step.taken;
        isFull = step.bytes.length === STEP;
        yield step.bytes;
      }
    }
  }

  /** What others do between two steps may overwrite the input, and move the memory. */
  #step(context: number, input: Uint8Array, taken: number): Step {
    this.#pool.stepped();
    const [inBuffer, outBuffer] = [this.#memory, this.#memory + BUFFER];
    const [from, to] = [outBuffer + BUFFER, outBuffer + BUFFER + STEP];
    const { memory } = this.#zstd;
    new Uint8Array(memory.buffer).set(input, from);
    new Uint32Array(memory.buffer, inBuffer, 6).set([from, input.length, taken, to, STEP, 0]);
    const result = this.#zstd.ZSTD_decompressStream(context, outBuffer, inBuffer) >>> 0;
    if (result >= FIRST_ERROR) throw new Error("Cannot decode the response: its zstd is broken");
    const after = new Uint32Array(memory.buffer, inBuffer, 6);
    const bytes = new Uint8Array(memory.buffer, to, after[5] ?? 0).slice();
    return { bytes, taken: after[2] ?? 0 };
  }
}

interface Step {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Bytes of the input that were taken, in all steps together. */
  readonly taken: number;
}

export interface ZstdContext {
  /** @returns what comes out, the caller's. @throws Error at what is no zstd; then it can only be closed. */
  decode(input: Uint8Array): Iterable<Uint8Array<ArrayBuffer>>;
  close(): void;
}
