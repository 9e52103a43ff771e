import { posix } from "node:path";
import { analyse } from "scslre";
import { isTesting, mayImport } from "./import-direction.ts";
import type { SourceShape } from "./source-shape.ts";

/** Above this, a reader loses the thread. Files and classes have no such limit: depth counts there, not length. */
const maxFunctionLines = 60;

/** Faults of a source file against the rules of the house, a line each. */
export function houseFaults(path: string, shape: SourceShape): string[] {
  return [...directionFaults(path, shape), ...sizeFaults(path, shape), ...expressionFaults(path, shape)];
}

function directionFaults(path: string, { imports }: SourceShape): string[] {
  return imports
    .filter(({ specifier }) => specifier.startsWith("."))
    .map(({ specifier }) => posix.join(posix.dirname(path), specifier))
    .filter((imported) => !mayImport(path, imported))
    .map((imported) => `${path}: may not import ${imported} (scripts/house/import-direction.ts)`);
}

function sizeFaults(path: string, { functions }: SourceShape): string[] {
  // Tests are as long as their cases, and so are the functions that make sites for the bench.
  if (isTesting(path) || posix.matchesGlob(path, "e2e/**")) return [];
  return functions
    .filter(({ lines }) => lines > maxFunctionLines)
    .map(({ line, lines }) => `${path}:${line}: function of ${lines} lines, more than ${maxFunctionLines}`);
}

/**
 * Expressions of the product read what sites write: time must not grow faster than the text. Where one begins at its place
 * alone ("y"), it is not tried at each that follows.
 */
function expressionFaults(path: string, { expressions, unseenExpressions }: SourceShape): string[] {
  if (isTesting(path) || !/^(?:pwa|shared|worker)\//.test(path)) return [];
  const slow = expressions
    .filter(({ source, flags }) => {
      const types = { Move: !flags.includes("y") && !neverFails(source) };
      return analyse({ source, flags }, { reportTypes: types, maxReports: 1 }).reports.length > 0;
    })
    .map(({ line, source }) => `${path}:${line}: /${source}/ takes time that is not linear in the text`);
  const { length = 0 } = UNSEEN[path] ?? [];
  if (unseenExpressions.length === length) return slow;
  const lines = unseenExpressions.join(", ");
  return [
    ...slow,
    `${path}: ${length} expressions may be put together as it runs, and are in lines ${lines}: write literals, or say why each is linear (UNSEEN in scripts/house/house-faults.ts)`,
  ];
}

/** Expressions that are put together as the product runs, in files that have some: why each takes linear time. */
const UNSEEN: Readonly<Record<string, readonly string[]>> = {
  "pwa/slot/page/permissions.ts": [
    "a row of linear-work.test.ts: a feature's value, a list without an end taken whole",
  ],
  "pwa/slot/rewrite/html-rewriter.ts": [
    "rows of linear-work.test.ts: an origin, and the path behind it taken whole",
    "at the text's beginning alone: a path of ours",
  ],
  "pwa/slot/slot-url.ts": ["a slot's name, with bounds at both ends"],
  "pwa/sw/request/slot-request.ts": ["a mark of ours, and one character"],
  "pwa/tunnel/requests/sign-ins.ts": ["a copy of one that is seen"],
  "pwa/tunnel/store/ahead/page-visits.ts": ["a row of linear-work.test.ts: a word of an address, escaped"],
  "shared/web/html-tokens.ts": ["an element's name, and one character"],
  "worker/delivery/names/script-reads.ts": [
    "rows of linear-work.test.ts: words of ours",
    "rows of linear-work.test.ts: words of ours",
  ],
  "worker/upstream/opaque.ts": ["at the text's beginning alone: types of ours"],
};

/** What goes on to the end of any text, once it has begun. */
const neverFails = (source: string): boolean => /^\\?[;?]\.\*\$$/.test(source);
