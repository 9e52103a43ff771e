/** Reads along in a style sheet: what it imports as soon as that stands there, the rest when it is whole. */
import type { Viewport } from "../../../../shared/http/viewport.ts";
import { readStyleSheet, type StyleSheet } from "./style-sheet.ts";

/** Bytes: so much of a style sheet is read. */
const LENGTH = 256 * 1024;
/** Characters in which imports are looked for at once: hardly any sheet imports so much. */
export const BEGINNING = 8 * 1024;
/** Count: of chunks, likewise. */
const CHUNKS = 16;

export interface SheetEvents {
  /** Once for each address. */
  onImport(url: string): void;
  /** Once, when all was read. */
  onSheet(sheet: StyleSheet): void;
}

/**
 * To be told of the bytes of a style sheet, and of their end by null.
 *
 * @param isWhole whether more than its beginning is of use.
 */
export function observeSheet(
  events: SheetEvents,
  viewport: Viewport | undefined,
  isWhole: boolean,
): (chunk: Uint8Array | null) => void {
  const decoder = new TextDecoder();
  const told = new Set<string>();
  let [text, left, chunks, isOver] = ["", isWhole ? LENGTH : BEGINNING, CHUNKS, false];
  const tell = (urls: readonly string[]): void => {
    for (const url of urls) {
      if (told.has(url)) continue;
      told.add(url);
      events.onImport(url);
    }
  };
  return (chunk) => {
    if (isOver) return;
    if (chunk === null) {
      isOver = true;
      const sheet = readStyleSheet(text, viewport);
      tell(sheet.imports);
      return events.onSheet(sheet);
    }
    text += decoder.decode(chunk.subarray(0, left), { stream: true });
    left = Math.max(0, left - chunk.length);
    if (chunks <= 0) return;
    chunks -= 1;
    const { imports, isPastImports } = readStyleSheet(text.slice(0, BEGINNING), viewport);
    tell(imports);
    if (isPastImports || text.length >= BEGINNING) chunks = 0;
  };
}
