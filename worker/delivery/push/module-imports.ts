/**
 * What a module imports before anything else: browsers ask for it when the file has come, and what is imported there for
 * more. Only the beginning is read, where by custom imports stand, so nothing in a comment or a string is taken for one.
 */

export interface Imports {
  /** As written. */
  readonly urls: readonly string[];
  /** Characters that were read: what follows is to be read again when there is more. */
  readonly read: number;
  /** Whether anything else follows: no more are to come. */
  readonly isOver: boolean;
}

// What they match has to be found in one pass: sites write the text. No two parts of them may take the same white space.
const SPACE = /(?:\s|\/\*[^*]*(?:\*(?!\/)[^*]*)*\*\/|\/\/[^\n]*\n|;|(?:"use strict"|'use strict')\s*;?)*/y;
const IMPORT = /(?:import|export)(?:(?=[\s{*])[^"'();]*[\s}*]from)?\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)')(?!\s*with\b)/y;
/** What may become an import when more of the text is there. */
const BEGUN = /^(?:[a-z]*|(?:import|export)\b[^;(]*|\/.*)$/s;

/** Those that name an address, and not a bare name. */
export function importsOfModule(text: string): Imports {
  const urls: string[] = [];
  for (let at = 0; ; ) {
    SPACE.lastIndex = at;
    at += SPACE.exec(text)?.[0].length ?? 0;
    IMPORT.lastIndex = at;
    const found = IMPORT.exec(text);
    if (found === null) return { urls, read: at, isOver: !BEGUN.test(text.slice(at, at + 4_000)) };
    const url = found[1] ?? found[2] ?? "";
    if (/^(?:\.{0,2}\/|https?:)/.test(url)) urls.push(url);
    at += found[0].length;
  }
}
