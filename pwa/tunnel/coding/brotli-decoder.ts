/** Undoes `br` (RFC 7932, PROTOCOL.md section 5.3) in steps, and waits for the consumer between them. */
import { BrotliDecStream, type BrotliStreamResult, BrotliStreamResultCode } from "brotli-dec-wasm/web";
import { type DecoderHandler, hasLargeWindow } from "../../../shared/coding/link-coding.ts";
import type { ContextPool } from "./context-pool.ts";
import type { SteppedDecoder } from "./late-decoder.ts";

/** Bytes: what one step puts out at most. Brotli can give millions of times what it takes. */
const STEP = 64 * 1024;

export class BrotliDecoder implements SteppedDecoder {
  readonly #deliver: DecoderHandler["deliver"];
  readonly #pool: Pick<ContextPool, "stepped" | "release">;
  /** Null when it is closed. */
  #stream: BrotliDecStream | null = new BrotliDecStream();
  #place: "beginning" | "body" | "end" = "beginning";

  /** The wasm is there. @param pool in which it has a place until it is closed. */
  constructor(deliver: DecoderHandler["deliver"], pool: Pick<ContextPool, "stepped" | "release">) {
    this.#deliver = deliver;
    this.#pool = pool;
  }

  async write(chunk: Uint8Array): Promise<void> {
    const [first] = chunk;
    if (first === undefined || this.#stream === null) return;
    if (this.#place === "beginning") this.#begin(first);
    let rest = chunk;
    while (this.#stream !== null) {
      if (this.#place === "end") throw new Error("Cannot decode the response: something follows its end");
      this.#pool.stepped();
      const { bytes, taken, code } = step(this.#stream, rest);
      rest = rest.subarray(taken);
      if (code === BrotliStreamResultCode.ResultSuccess) this.#place = "end";
      if (bytes.length > 0) await this.#deliver(bytes);
      if (code !== BrotliStreamResultCode.NeedsMoreOutput && rest.length === 0) return;
    }
  }

  end(): void {
    if (this.#place !== "end") throw new Error("Cannot decode the response: it ends too soon");
  }

  close(): void {
    if (this.#stream === null) return;
    this.#stream.free();
    this.#stream = null;
    this.#pool.release();
  }

  #begin(first: number): void {
    if (hasLargeWindow(first)) {
      throw new Error("Cannot decode the response: its window is larger than any that is sent");
    }
    this.#place = "body";
  }
}

interface Step {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Bytes of the input that were taken. */
  readonly taken: number;
  readonly code: BrotliStreamResultCode;
}

/** @throws Error at what is no brotli. */
function step(stream: BrotliDecStream, input: Uint8Array): Step {
  const result: BrotliStreamResult = stream.dec(input, STEP);
  try {
    return { bytes: result.buf as Uint8Array<ArrayBuffer>, taken: result.input_offset, code: result.code };
  } finally {
    result.free();
  }
}
