import { extname } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const COMPRESSIBLE = new Set([".html", ".css", ".js", ".mjs", ".json", ".svg", ".txt", ".xml", ".wasm", ".ttf"]);

/** Below this a file fits into a packet anyway. */
const LEAST_BYTES = 200;

/** Quality that servers use by default or are told to use for files that are compressed ahead. */
const BROTLI_QUALITY = 5;
const GZIP_LEVEL = 6;

export interface CodedForm {
  readonly suffix: ".br" | ".gz";
  readonly content: Buffer;
}

/** The coded forms that a server keeps beside a file; none if coding does not pay. */
export function codedForms(path: string, content: Buffer): readonly CodedForm[] {
  if (!COMPRESSIBLE.has(extname(path)) || content.length <= LEAST_BYTES) return [];
  const forms: readonly CodedForm[] = [
    {
      suffix: ".br",
      content: brotliCompressSync(content, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
          [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
        },
      }),
    },
    { suffix: ".gz", content: gzipSync(content, { level: GZIP_LEVEL }) },
  ];
  return forms.filter((form) => form.content.length < content.length);
}

export function isCodedForm(path: string): boolean {
  return path.endsWith(".br") || path.endsWith(".gz");
}
