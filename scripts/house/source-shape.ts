import { type Function as FunctionNode, parseSync, Visitor } from "oxc-parser";

/** What the rules of the house look at in one source file. Lines count from 1; blank lines and comments count too. */
export interface SourceShape {
  /** Specifiers of all imports and re-exports, those of types and dynamic ones too. */
  readonly imports: readonly string[];
  readonly functions: readonly { readonly line: number; readonly lines: number }[];
  /** Literals. */
  readonly expressions: readonly { readonly line: number; readonly source: string; readonly flags: string }[];
}

/** @throws Error when the text is not TypeScript (or JavaScript, as the file's name says). */
export function sourceShape(path: string, text: string): SourceShape {
  const { program, module, errors } = parseSync(path, text);
  if (errors[0] !== undefined) throw new Error(`Cannot parse ${path}: ${errors[0].message}`);
  const lineAt = (position: number): number => linesOf(text.slice(0, position));
  const functions: SourceShape["functions"][number][] = [];
  const addFunction = ({ start, end }: Pick<FunctionNode, "start" | "end">): void => {
    functions.push({ line: lineAt(start), lines: linesOf(text.slice(start, end)) });
  };
  const expressions: SourceShape["expressions"][number][] = [];
  new Visitor({
    Literal(literal) {
      if (!("regex" in literal)) return;
      expressions.push({ line: lineAt(literal.start), source: literal.regex.pattern, flags: literal.regex.flags });
    },
    FunctionDeclaration: addFunction,
    FunctionExpression: addFunction,
    ArrowFunctionExpression: addFunction,
  }).visit(program);
  const imports = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
  ];
  return { imports, functions, expressions };
}

function linesOf(text: string): number {
  return text.split("\n").length;
}
