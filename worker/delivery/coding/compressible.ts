/** Which bodies are text, or as good as: what compresses well. */
const COMPRESSIBLE = new RegExp(
  "^(?:text/.*|.*\\+(?:json|xml|text)|application/(?:" +
    "json|x-ndjson|ndjson|jsonl|json5|graphql|(?:x-)?javascript|(?:x-)?ecmascript|xml|xml-dtd|wasm|manifest|" +
    "x-www-form-urlencoded|x-sh|rtf|postscript|x-font-ttf|x-font-otf|x-font-truetype|vnd\\.ms-fontobject" +
    ")|font/(?:ttf|otf|sfnt|collection)|image/(?:bmp|x-icon|vnd\\.microsoft\\.icon)|model/(?:obj|stl)|audio/midi)$",
);

/** Whose formats have a compression of their own. */
const COMPRESSED = new RegExp(
  "^(?:image/(?:png|apng|jpeg|jpg|gif|webp|avif|jxl|heic)|font/woff2?|application/(?:" +
    "zip|gzip|x-gzip|zstd|x-brotli|x-xz|x-bzip2?|x-7z-compressed|vnd\\.rar|java-archive|epub\\+zip|(?:x-)?font-woff2?" +
    ")|video/.*|audio/(?!midi$|(?:x-|vnd\\.)?wave?$).*)$",
);

/** @param contentType value of the field */
export function isCompressible(contentType: string | null): boolean {
  return COMPRESSIBLE.test(essence(contentType));
}

/** Whether coding is known to gain nothing. */
export function isCompressed(contentType: string | null): boolean {
  return COMPRESSED.test(essence(contentType));
}

/** What may go on as long as its page is there, so that its coder should be small. */
export function isEndless(contentType: string | null): boolean {
  return essence(contentType) === "text/event-stream";
}

function essence(contentType: string | null): string {
  return (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}
