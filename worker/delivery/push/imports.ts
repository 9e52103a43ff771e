/**
 * What a pushed style sheet or module imports before anything else: browsers ask for it when the file has come, and what is
 * imported there for more. Only the beginning is read, where both have to stand or by custom do, so nothing in a comment or
 * a string is taken for an import.
 */
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { Viewport } from "../../../shared/http/phone-fields.ts";
import type { ObserveBody } from "../stage.ts";
import { type NamedResource, UNNAMED } from "./document-scanner.ts";
import { matchesMedia } from "./media-query.ts";

/** Characters: hardly any file imports so much. */
const LENGTH = 8 * 1024;
/** Chunks in which they may come: each is read with what the one before left over. */
const CHUNKS = 16;

export interface Imports {
  /** As written. */
  readonly urls: readonly string[];
  /** Characters that were read: what follows is to be read again when there is more. */
  readonly read: number;
  /** Whether anything else follows: no more are to come. */
  readonly isOver: boolean;
}

/** How imports are written. What these match is found in one pass: no two parts of them may take the same white space. */
interface Notation {
  readonly space: RegExp;
  /** Groups: ways to write the address, the last what it is for. */
  readonly statement: RegExp;
  /** What may become an import when more of the text is there. */
  readonly begun: RegExp;
}

const STYLE: Notation = {
  space: /(?:\s|\/\*[^*]*(?:\*(?!\/)[^*]*)*\*\/|@charset\s*"[^"]*"\s*;|@layer\s[^;{}"']*;)*/iy,
  statement:
    /@import\s*(?:url\(\s*(?:"([^"\\]*)"|'([^'\\]*)'|([^\s"'()\\]+))\s*\)|"([^"\\]*)"|'([^'\\]*)')([^;{}"']*);/iy,
  begun: /^(?:@[a-z]*|@(?:import|charset|layer)\b[^;{]*|\/.*)?$/is,
};

const MODULE: Notation = {
  space: /(?:\s|\/\*[^*]*(?:\*(?!\/)[^*]*)*\*\/|\/\/[^\n]*\n|;|(?:"use strict"|'use strict')\s*;?)*/y,
  statement: /(?:import|export)(?:(?=[\s{*])[^"'();]*[\s}*]from)?\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)')(?!\s*with\b)()/y,
  begun: /^(?:[a-z]*|(?:import|export)\b[^;(]*|\/.*)$/s,
};

/** Those for a screen like the phone's. */
export function importsOfStyle(text: string, viewport: Viewport | undefined): Imports {
  return leadingImports(text, STYLE, (url, condition) => {
    const query = condition.replace(/^\s*layer(?:\([^)]*\))?/i, "").trim();
    if (url === "") return false;
    return /^(?:all|screen)?$/i.test(query) || (viewport !== undefined && matchesMedia(query, viewport) === true);
  });
}

/** Those that name an address, and not a bare name. */
export function importsOfModule(text: string): Imports {
  return leadingImports(text, MODULE, (url) => /^(?:\.{0,2}\/|https?:)/.test(url));
}

function leadingImports(
  text: string,
  { space, statement, begun }: Notation,
  isWanted: (url: string, condition: string) => boolean,
): Imports {
  const urls: string[] = [];
  for (let at = 0; ; ) {
    space.lastIndex = at;
    at += space.exec(text)?.[0].length ?? 0;
    statement.lastIndex = at;
    const [whole, ...parts] = statement.exec(text) ?? [];
    if (whole === undefined) return { urls, read: at, isOver: !begun.test(text.slice(at, at + 4_000)) };
    const condition = parts.pop() ?? "";
    const url = parts.find((part) => part !== undefined) ?? "";
    if (isWanted(url, condition)) urls.push(url);
    at += whole.length;
  }
}

/**
 * Reads along in what is pushed.
 *
 * @param onImport told of each, as its file asks for it.
 * @returns null for what imports nothing that could be known.
 */
export function observeImports(
  importer: NamedResource,
  viewport: Viewport | undefined,
  onImport: (resource: NamedResource) => void,
): ObserveBody | null {
  const { destination, isModule } = importer;
  if (destination !== "style" && !isModule) return null;
  const type = isModule ? /^(?:text|application)\/javascript$/i : /^text\/css$/i;
  // A nonce is that of an element, and goes on to what modules import alone.
  const by = { ...importer, isDeferred: false, nonce: isModule ? importer.nonce : "" };
  return ({ status, headers, url: base }) => {
    const found = (headerValue(headers, "content-type") ?? "").replace(/;.*$/s, "").trim();
    if (status !== 200 || !type.test(found)) return null;
    const told = new Set<string>();
    const tell = (url: string): void => {
      if (told.has(url) || !URL.canParse(url, base)) return;
      told.add(url);
      onImport({ ...by, url: new URL(url, base).href, importer: base });
    };
    const read = isModule ? importsOfModule : (text: string) => importsOfStyle(text, viewport);
    return importReader(read, tell);
  };
}

/** To be told of the bytes of a file. */
function importReader(read: (text: string) => Imports, tell: (url: string) => void) {
  const decoder = new TextDecoder();
  let [left, chunks, unread] = [LENGTH, CHUNKS, ""];
  return (chunk: Uint8Array | null): void => {
    if (chunk === null || left <= 0 || chunks <= 0) return;
    unread += decoder.decode(chunk.subarray(0, left), { stream: true });
    left -= chunk.length;
    chunks -= 1;
    const { urls, read: length, isOver } = read(unread);
    unread = unread.slice(length);
    if (isOver) left = 0;
    for (const url of urls) tell(url);
  };
}

/** What a `<style>` of the document imports, whose addresses are relative to `base`. */
export function importsOfInline(text: string, base: string, viewport: Viewport | undefined): NamedResource[] {
  const { urls } = importsOfStyle(text.slice(0, LENGTH), viewport);
  return urls
    .filter((url) => URL.canParse(url, base))
    .map((url) => ({
      ...UNNAMED,
      destination: "style",
      mode: "no-cors",
      credentials: "include",
      url: new URL(url, base).href,
    }));
}
