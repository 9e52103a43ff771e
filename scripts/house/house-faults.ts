import { posix } from "node:path";
import { isTesting, mayImport } from "./import-direction.ts";
import type { SourceShape } from "./source-shape.ts";

/** Above these, a reader loses the thread. */
const maxFileLines = 400;
const maxFunctionLines = 60;
const maxPublicMembers = 25;

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

function sizeFaults(path: string, { lines, functions, classes }: SourceShape): string[] {
  // Tests are as long as their cases, and so are the functions that make sites for the bench.
  if (isTesting(path)) return [];
  const faults = lines > maxFileLines ? [`${path}: ${lines} lines, more than ${maxFileLines}`] : [];
  if (posix.matchesGlob(path, "e2e/**")) return faults;
  for (const each of functions)
    if (each.lines > maxFunctionLines)
      faults.push(`${path}:${each.line}: function of ${each.lines} lines, more than ${maxFunctionLines}`);
  for (const each of classes)
    if (each.publicMembers > maxPublicMembers)
      faults.push(`${path}:${each.line}: class of ${each.publicMembers} public members, more than ${maxPublicMembers}`);
  return faults;
}
