import { type Function as FunctionNode, parseSync, Visitor } from "oxc-parser";

/** What the rules of the house look at in one source file. Lines count from 1; blank lines and comments count too. */
export interface SourceShape {
  /** All imports and re-exports, those of types and dynamic ones too. `*` stands for all that a file exports. */
  readonly imports: readonly { readonly specifier: string; readonly names: readonly string[] }[];
  /** `export *` stands in the file. */
  readonly exportsAll: boolean;
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
  const reExports = module.staticExports.flatMap(({ entries }) =>
    entries.filter((entry) => entry.moduleRequest !== null),
  );
  const imports = [
    ...module.staticImports.map(({ moduleRequest, entries }) => ({
      specifier: moduleRequest.value,
      names: entries.map(({ importName }) => importName.name ?? "*"),
    })),
    ...reExports.map(({ moduleRequest, importName }) => ({
      specifier: moduleRequest?.value ?? "",
      names: [importName.name ?? "*"],
    })),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => ({
      specifier: text.slice(start + 1, end - 1),
      names: ["*"],
    })),
  ];
  const exportsAll = reExports.some(({ importName }) => importName.kind !== "Name");
  return { imports, exportsAll, functions, expressions };
}

function linesOf(text: string): number {
  return text.split("\n").length;
}
