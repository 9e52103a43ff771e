import { posix } from "node:path";
import { isTesting, mayImport } from "./import-direction.ts";
import type { SourceShape } from "./source-shape.ts";

/** Above this, a reader loses the thread. Files and classes have no such limit: depth counts there, not length. */
const maxFunctionLines = 60;

/** What a source file does against the rules of the house, a line each. */
export function houseFaults(path: string, shape: SourceShape): string[] {
  return [...directionFaults(path, shape), ...sizeFaults(path, shape)];
}

function directionFaults(path: string, { imports }: SourceShape): string[] {
  return imports
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => posix.join(posix.dirname(path), specifier))
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
