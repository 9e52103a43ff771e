/** Reads along in style sheets and modules that are pushed, for what they import. */
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { ResponseHead } from "../../../shared/http/heads.ts";
import type { ObserveBody } from "../stage.ts";
import type { NamedResource } from "./document-scanner.ts";
import { type Imports, importsOfModule, importsOfStyle } from "./leading-imports.ts";

/** Characters: hardly any file imports so much. */
const LENGTH = 32 * 1024;

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
    let text: string | null = "";
    return (chunk) => {
      if (text === null) return;
      text += decoder.decode(chunk, { stream: true });
      const { urls, isOver } = read(text);
      for (const url of urls) {
        if (told.has(url) || !URL.canParse(url, response.url)) continue;
        told.add(url);
        onImport({ ...importer, url: new URL(url, response.url).href, importer: response.url, isDeferred: false });
      }
      if (isOver || text.length > LENGTH) text = null;
    };
  };
}

function typeOf({ headers }: ResponseHead): string {
  return (headerValue(headers, "content-type") ?? "").replace(/;.*$/s, "").trim().toLowerCase();
}
