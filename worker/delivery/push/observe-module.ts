/** Reads along in modules that are pushed, for what they import. */
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { ObserveBody } from "../stage.ts";
import type { NamedResource } from "./document-scanner.ts";
import { importsOfModule } from "./module-imports.ts";

/** Characters: hardly any module imports so much. */
const LENGTH = 8 * 1024;
/** Chunks in which they may come: each is read with what the one before left over. */
const CHUNKS = 16;

/**
 * @param onImport told of each, as its module asks for it.
 * @returns null for what is no module.
 */
export function observeModule(
  importer: NamedResource,
  onImport: (resource: NamedResource) => void,
): ObserveBody | null {
  if (!importer.isModule) return null;
  return ({ status, headers, url: base }) => {
    const type = (headerValue(headers, "content-type") ?? "").replace(/;.*$/s, "").trim();
    if (status !== 200 || !/^(?:text|application)\/javascript$/i.test(type)) return null;
    const decoder = new TextDecoder();
    const told = new Set<string>();
    const tell = (url: string): void => {
      if (told.has(url) || !URL.canParse(url, base)) return;
      told.add(url);
      onImport({ ...importer, url: new URL(url, base).href, importer: base, isDeferred: false });
    };
    let [left, chunks] = [LENGTH, CHUNKS];
    let unread = "";
    return (chunk) => {
      if (chunk === null || left <= 0 || chunks <= 0) return;
      const text = decoder.decode(chunk.subarray(0, left), { stream: true });
      left -= chunk.length;
      chunks -= 1;
      unread += text;
      const { urls, read: length, isOver } = importsOfModule(unread);
      unread = unread.slice(length);
      if (isOver) left = 0;
      for (const url of urls) tell(url);
    };
  };
}
