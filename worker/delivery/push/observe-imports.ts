/** Reads along in style sheets and modules that are pushed, for what they import. */
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { ResponseHead } from "../../../shared/http/heads.ts";
import type { ObserveBody } from "../stage.ts";
import type { NamedResource } from "./document-scanner.ts";
import { type Imports, importsOfModule, importsOfStyle } from "./leading-imports.ts";

/** Characters: hardly any file imports so much. */
const LENGTH = 8 * 1024;
/** Chunks in which they may come: each is read with what the one before left over. */
const CHUNKS = 16;

const READERS: Readonly<Record<string, (text: string) => Imports>> = {
  "text/css": importsOfStyle,
  "text/javascript": importsOfModule,
  "application/javascript": importsOfModule,
};

/**
 * @param onImport told of each, as its file asks for it.
 * @returns null for what imports nothing that could be known.
 */
export function observeImports(
  importer: NamedResource,
  onImport: (resource: NamedResource) => void,
): ObserveBody | null {
  const { destination, isModule } = importer;
  if (destination !== "style" && !isModule) return null;
  return (response) => {
    const read = READERS[typeOf(response)];
    if (response.status !== 200 || read === undefined || (read === importsOfModule) !== isModule) return null;
    const decoder = new TextDecoder();
    const told = new Set<string>();
    const tell = (url: string): void => {
      if (told.has(url) || !URL.canParse(url, response.url)) return;
      told.add(url);
      // The nonce is the module's, and no style sheet's.
      const nonce = isModule ? importer.nonce : "";
      onImport({ ...importer, url: new URL(url, response.url).href, importer: response.url, isDeferred: false, nonce });
    };
    let [left, chunks] = [LENGTH, CHUNKS];
    let unread = "";
    return (chunk) => {
      if (left <= 0 || chunks <= 0) return;
      const text = decoder.decode(chunk.subarray(0, left), { stream: true });
      left -= chunk.length;
      chunks -= 1;
      unread += text;
      const { urls, read: length, isOver } = read(unread);
      unread = unread.slice(length);
      if (isOver) left = 0;
      for (const url of urls) tell(url);
    };
  };
}

function typeOf({ headers }: ResponseHead): string {
  return (headerValue(headers, "content-type") ?? "").replace(/;.*$/s, "").trim().toLowerCase();
}
