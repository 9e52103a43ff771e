/** Entry of the script that undoes `br`, which the tunnel loads when no page waits for it. */

import zipped from "ropeway:brotli-decoder-wasm";
import init from "brotli-dec-wasm/web";
import type { OpenDecoder } from "../../../shared/coding/link-coding.ts";
import { BrotliDecoder } from "./brotli-decoder.ts";
import { ContextPool } from "./context-pool.ts";
import { lateDecoder, type OpenSteppedDecoder } from "./late-decoder.ts";
import { unzipped } from "./unzipped.ts";

/** Each has a window of up to 1 MB. What is pushed, and not claimed yet, has one. */
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
