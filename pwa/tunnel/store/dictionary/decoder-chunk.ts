/** Entry of the script that undoes `dcz`, which the store loads when one may come. */
import zipped from "ropeway:zstd-decoder-wasm";
import type { DecoderHandler } from "../../../../shared/coding/link-coding.ts";
import { unzipped } from "../../coding/unzipped.ts";
import { DczDecoder, type StoredDictionary } from "./dcz-decoder.ts";
import { ZstdWasm } from "./zstd-wasm.ts";

const compiled = unzipped(zipped).then((bytes) => ZstdWasm.compile(bytes));
// Who needs it hears of it.
compiled.catch(() => {});

export async function openDczDecoder(
  dictionary: StoredDictionary,
  deliver: DecoderHandler["deliver"],
): Promise<DczDecoder> {
  return new DczDecoder(await compiled, dictionary, deliver);
}
