/** Entry of the script that undoes `br`, which the tunnel loads when no page waits for it. */
import zipped from "ropeway:brotli-decoder-wasm";
import init, { BrotliDecStream, type BrotliStreamResult, BrotliStreamResultCode } from "brotli-dec-wasm/web";
import { type DecoderHandler, hasLargeWindow, type OpenDecoder } from "../../../shared/coding/link-coding.ts";
import { ContextPool, lateDecoder, type OpenSteppedDecoder, type SteppedDecoder, unzipped } from "./late-decoder.ts";

/** Each context has a window of up to 1 MB. A push that is not claimed yet has one, too. */
const CONTEXTS = { most: 16, mostStalled: 64 };

/** @throws Error where the browser runs no wasm. */
export async function brotliDecoder(): Promise<OpenDecoder> {
  await init({ module_or_path: await WebAssembly.compile(await unzipped(zipped)) });
  const pool = new ContextPool(CONTEXTS);
  const open: OpenSteppedDecoder = async (deliver) => {
    await pool.take();
    return new BrotliDecoder(deliver, pool);
  };
  return (handler) => lateDecoder(open, handler);
}

/** Bytes that one step puts out at most. Brotli can put out millions of times its input. */
const STEP = 64 * 1024;

/** Undoes `br` (RFC 7932, PROTOCOL.md section 5.3) in steps, and waits for the consumer between them. */
class BrotliDecoder implements SteppedDecoder {
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

  /** The edge passes on bodies as their origins coded them. A body that lacks its end is shown as far as it goes, as in browsers. */
  end(): void {
    if (this.#place === "beginning") throw new Error("Cannot decode the response: it ends too soon");
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
