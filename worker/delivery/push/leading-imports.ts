/**
 * What a style sheet or a module imports before anything else: browsers ask for it when the file has come, and what is
 * imported there for more. Only the beginning is read, where both have to stand or by custom do, so nothing in a comment or
 * a string is taken for an import.
 */

export interface Imports {
  /** As written. */
  readonly urls: readonly string[];
  /** Characters that were read: what follows is to be read again when there is more. */
  readonly read: number;
  /** Whether anything else follows: no more are to come. */
  readonly isOver: boolean;
}

type Leading = (text: string, at: number) => RegExpExecArray | null;

const CSS_SPACE = /(?:\s|\/\*[^*]*(?:\*(?!\/)[^*]*)*\*\/|@charset\s*"[^"]*"\s*;|@layer\s[^;{}"']*;)*/y;
const CSS_IMPORT =
  /@import\s*(?:url\(\s*(?:"([^"\\]*)"|'([^'\\]*)'|([^\s"'()\\]+))\s*\)|"([^"\\]*)"|'([^'\\]*)')([^;{}"']*);/iy;
/** What an import is for: anything but a screen, or features of it, only the phone can tell. */
const FOR_ALL = /^(?:layer(?:\([^)]*\))?)?\s*(?:all|screen)?$/i;

const SCRIPT_SPACE = /(?:\s|\/\*[^*]*(?:\*(?!\/)[^*]*)*\*\/|\/\/[^\n]*\n|;|(?:"use strict"|'use strict')\s*;?)*/y;
const SCRIPT_IMPORT =
  /(?:import|export)(?:(?=[\s{*])[^"'();]*[\s}*]from)?\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)')(?!\s*with\b)/y;

// What they match has to be found in one pass: sites write the text. No two parts of them may take the same white space.

/** The imports of a style sheet that are for all media. */
export function importsOfStyle(text: string): Imports {
  return leadingImports(text, /^(?:@[a-z]*|@(?:import|charset|layer)\b[^;]*|\/.*)?$/is, CSS_SPACE, (from, at) => {
    CSS_IMPORT.lastIndex = at;
    return CSS_IMPORT.exec(from);
  });
}

/** The imports of a module that name an address, and not a bare name. */
export function importsOfModule(text: string): Imports {
  const { urls, ...more } = leadingImports(
    text,
    /^(?:[a-z]*|(?:import|export)\b[^;(]*|\/.*)$/s,
    SCRIPT_SPACE,
    (from, at) => {
      SCRIPT_IMPORT.lastIndex = at;
      return SCRIPT_IMPORT.exec(from);
    },
  );
  return { urls: urls.filter((url) => /^(?:\.{0,2}\/|https?:)/.test(url)), ...more };
}

/** @param mayGoOn whether what is left may become an import when more of the text is there. */
function leadingImports(text: string, mayGoOn: RegExp, space: RegExp, leading: Leading): Imports {
  const urls: string[] = [];
  for (let at = 0; ; ) {
    space.lastIndex = at;
    at += space.exec(text)?.[0].length ?? 0;
    const found = leading(text, at);
    if (found === null) return { urls, read: at, isOver: !mayGoOn.test(text.slice(at, at + 4_000)) };
    const [whole, ...parts] = found;
    const condition = parts.length > 2 ? (parts.pop() ?? "") : "";
    const url = parts.find((part) => part !== undefined) ?? "";
    if (url !== "" && FOR_ALL.test(condition.trim())) urls.push(url);
    at += whole.length;
  }
}
