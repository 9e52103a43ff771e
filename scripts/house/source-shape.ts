import {
  type Argument,
  type CallExpression,
  type Function as FunctionNode,
  type NewExpression,
  parseSync,
  Visitor,
} from "oxc-parser";

/** What the rules of the house look at in one source file. Lines count from 1; blank lines and comments count too. */
export interface SourceShape {
  /** All imports and re-exports, those of types (`typeof import("…")`, too) and dynamic ones. `*` stands for all that a file exports. */
  readonly imports: readonly { readonly specifier: string; readonly names: readonly string[] }[];
  /** `export *` stands in the file. */
  readonly exportsAll: boolean;
  readonly functions: readonly { readonly line: number; readonly lines: number }[];
  /** Literals, and what `RegExp` makes of strings that the file has as they are. */
  readonly expressions: readonly { readonly line: number; readonly source: string; readonly flags: string }[];
  /** Lines in which `RegExp` makes others, whose source only those who run it know. */
  readonly unseenExpressions: readonly number[];
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
  const unseenExpressions: number[] = [];
  const typeImports: SourceShape["imports"][number][] = [];
  const texts = new Map<string, string | null>();
  const addMade = ({ callee, arguments: [source, flags], start }: Made): void => {
    const name = callee.type === "MemberExpression" && "name" in callee.property ? callee.property : callee;
    if (!("name" in name) || name.name !== "RegExp") return;
    const [written, kept] = [textOf(source, texts), flags === undefined ? "" : textOf(flags, texts)];
    if (written === null || kept === null) unseenExpressions.push(lineAt(start));
    else expressions.push({ line: lineAt(start), source: written, flags: kept });
  };
  new Visitor({
    VariableDeclaration({ kind, declarations }) {
      // Names in several places of a file are told apart by nobody here.
      for (const { id, init } of declarations)
        if (id.type === "Identifier")
          texts.set(id.name, kind === "const" && !texts.has(id.name) ? textOf(init ?? undefined, texts) : null);
    },
    NewExpression: addMade,
    CallExpression: addMade,
    Literal(literal) {
      if (!("regex" in literal)) return;
      expressions.push({ line: lineAt(literal.start), source: literal.regex.pattern, flags: literal.regex.flags });
    },
    TSImportType({ source, qualifier }) {
      typeImports.push({ specifier: source.value, names: [qualifier?.type === "Identifier" ? qualifier.name : "*"] });
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
    ...typeImports,
  ];
  const exportsAll = reExports.some(({ importName }) => importName.kind !== "Name");
  return { imports, exportsAll, functions, expressions, unseenExpressions };
}

type Made = Pick<CallExpression | NewExpression, "callee" | "arguments" | "start">;

/** The string that stands there in one piece or several. @returns null where it takes more to know it. */
function textOf(node: Argument | undefined, texts: ReadonlyMap<string, string | null>): string | null {
  switch (node?.type) {
    case "Literal":
      return typeof node.value === "string" ? node.value : null;
    case "Identifier":
      return texts.get(node.name) ?? null;
    case "BinaryExpression": {
      const [left, right] = [textOf(node.left as Argument, texts), textOf(node.right, texts)];
      return node.operator === "+" && left !== null && right !== null ? left + right : null;
    }
    case "TemplateLiteral": {
      const parts = node.expressions.map((each) => textOf(each, texts));
      if (parts.includes(null)) return null;
      return node.quasis.map(({ value }, at) => (value.cooked ?? "") + (parts[at] ?? "")).join("");
    }
    default:
      return null;
  }
}

function linesOf(text: string): number {
  return text.split("\n").length;
}
