import { posix } from "node:path";
import { analyse } from "scslre";
import { isTesting, mayImport } from "./import-direction.ts";
import type { SourceShape } from "./source-shape.ts";

/** Above this, a reader loses the thread. Files and classes have no such limit: depth counts there, not length. */
const maxFunctionLines = 60;

/** What a source file does against the rules of the house, a line each. */
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
function expressionFaults(path: string, { expressions }: SourceShape): string[] {
  if (isTesting(path) || !/^(?:pwa|shared|worker)\//.test(path)) return [];
  return expressions
    .filter(({ source, flags }) => {
      const types = { Move: !flags.includes("y") && !neverFails(source) };
      return analyse({ source, flags }, { reportTypes: types, maxReports: 1 }).reports.length > 0;
    })
    .map(({ line, source }) => `${path}:${line}: /${source}/ takes time that is not linear in the text`);
}

/** What goes on to the end of any text, once it has begun. */
const neverFails = (source: string): boolean => /^\\?[;?]\.\*\$$/.test(source);
