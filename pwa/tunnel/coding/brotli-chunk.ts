/** Entry of the script that undoes `br`, which the tunnel loads when no page waits for it. */

import zipped from "ropeway:brotli-decoder-wasm";
import init from "brotli-dec-wasm/web";
import type { OpenDecoder } from "../../../shared/coding/link-coding.ts";
import { BrotliDecoder } from "./brotli-decoder.ts";
import { lateDecoder } from "./late-decoder.ts";
import { unzipped } from "./unzipped.ts";

/** @throws Error where the browser runs no wasm. */
export async function brotliDecoder(): Promise<OpenDecoder> {
  await init({ module_or_path: await WebAssembly.compile(await unzipped(zipped)) });
  return (handler) => lateDecoder(async (deliver) => new BrotliDecoder(deliver), handler);
}
