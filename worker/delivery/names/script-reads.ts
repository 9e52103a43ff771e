/**
 * Reads of `location` and `top` in a script. A browser lets nobody change either, and on a slot both say where the slot is;
 * so each read passes through a call that swaps these two objects and gives back all others. A local variable of the same
 * name passes through unchanged, so scopes need no looking at. Writes of the window's own stay: the browser resolves them
 * on the slot. Where another window's `location` is written, that window passes through; so does what a message is
 * posted to, and a frame's window that is read by its number.
 *
 * Addresses of elements pass through it, too: scripts compare them with `location`, and a script that is not marked is to
 * see the slot in both.
 */
import { type Node, type Options, Parser, type TokenType, tokTypes } from "acorn";
import { READ_HOOK, READ_MARKS } from "../../../shared/web/read-marks.ts";

/** Names of a window that has others by number. What is called `frames` needs no marks. */
const NUMBERED = "contentWindow defaultView parent self top window".split(" ");

/** Names that a text has in which there may be such a read; most that say `top` mean the edge of a box. */
const MENTIONS =
  /\blocation\b|\b(?:window|self|globalThis|frames|parent|defaultView)\s*\??\.\s*top\b|[=!]=\s*[\w$.]*\btop\b|\btop\s*(?:[=!]=|\??\.)|[=(]\s*top\s*[;,)]|\btop\s*\}\s*=|\.\s*postMessage\s*\(|\b(?:window|self|parent|top|contentWindow|defaultView)\s*\[\s*(?:\d|\w\s*\])/;

/** Members that are addresses on the slot, or parts of them. */
const ADDRESSES = "action baseURI currentSrc formAction host hostname href origin poster src".split(" ");
const NAMES_ADDRESS = new RegExp(`\\.\\s*(?:${ADDRESSES.join("|")})\\b|\\.\\s*prop\\s*\\(|import\\s*\\.\\s*meta\\b`);

/** A node that gets a mark has one of these words in its text, or an escape that may hide a letter of it. */
const WORDS = new RegExp(
  `\\b(?:${ADDRESSES.join("|")}|globalThis|location|meta|postMessage|top|(?:${NUMBERED.join("|")})(?=\\s*\\[))\\b|\\\\`,
  "g",
);

/** Names of a window, by which scripts reach its `top`. */
const WINDOWS: ReadonlySet<string> = new Set(["window", "self", "globalThis", "frames", "parent", "defaultView"]);
const EQUALITY: ReadonlySet<string> = new Set(["==", "===", "!=", "!=="]);
/** Statements and expressions that hand a value on. */
const HANDS_ON: ReadonlySet<string> = new Set([
  "AssignmentExpression",
  "CallExpression",
  "ConditionalExpression",
  "LogicalExpression",
  "MemberExpression",
  "ReturnStatement",
  "VariableDeclarator",
]);

/** Marks of a script at most, so that it does not come many times as long; libraries have some dozens. */
const MOST_MARKS = 10_000;

type Tree = Node & { readonly [name: string]: unknown };
type Edit = readonly [at: number, text: string];

/** A node, and the place in its parent. */
interface Visit {
  readonly node: Tree;
  readonly parent: Tree;
  readonly key: string;
}

const isTree = (value: unknown): value is Tree =>
  typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";

/** Whether it takes a parser to tell if there are such reads. */
export const mayRead = (text: string): boolean =>
  (MENTIONS.test(text) || NAMES_ADDRESS.test(text)) && !text.includes(READ_HOOK);

/** @returns the script with its reads marked; null where it has none, or is no script that can be read. */
export function markReads(text: string): string | null {
  if (!mayRead(text)) return null;
  const read = parsed(text);
  if (read === null) return null;
  const { program, words } = read;
  const edits: Edit[] = [];
  const targets = new WeakSet<Tree>();
  const constructors = new WeakSet<Tree>();
  const posted = new WeakSet<Tree>();
  let hidesGlobal = false;
  const isOfUse = (node: Tree): boolean => posted.has(node) || words.isIn(node.start, node.end);
  walk(program, isOfUse, (visit) => {
    const { node, parent, key } = visit;
    if (node.type === "ObjectPattern") for (const property of nodesOf(node.properties)) targets.add(property);
    if (isOfConstructor(visit, constructors)) constructors.add(node);
    const isTarget = key === "value" && targets.has(parent);
    hidesGlobal ||= node.name === "globalThis" && (isTarget || DECLARES.test(`${parent.type} ${key}`));
    const addressee = postedTo(node);
    if (addressee !== null) posted.add(addressee);
    const isPosted = posted.has(node);
    if (isPosted) edits.push(...around(node, READ_MARKS.closePosted, text));
    // The mark is of a read, too.
    const isMarked = isPosted && (nameRead(node) !== null || isNumbered(node));
    if (!isTarget && !constructors.has(node) && !isMarked) edits.push(...editsOf(visit, text));
  });
  if (edits.length === 0 || edits.length > 2 * MOST_MARKS || hidesGlobal) return null;
  return edited(text, [...edits, [firstStatement(program, text), READ_MARKS.prelude]]);
}

/** Places of names by which `globalThis` would be another one where the prelude reads it. */
const DECLARES = /^(?:VariableDeclarator id|(?:Function|Class)Declaration id|Import\w+ local|ArrayPattern elements)$/;

/** In `new a.b.C()` a call around `a` would be what `new` is about. */
const isOfConstructor = ({ node, parent, key }: Visit, constructors: WeakSet<Tree>): boolean =>
  (node.type === "MemberExpression" || node.type === "Identifier" || node.type === "TaggedTemplateExpression") &&
  ((parent.type === "NewExpression" && key === "callee") ||
    ((key === "object" || key === "tag") && constructors.has(parent)));

const nodesOf = (value: unknown): Tree[] => (Array.isArray(value) ? value : [value]).filter(isTree);

/** Where a text has words that marks are about. */
class Words {
  readonly #indices: readonly number[];

  constructor(text: string) {
    this.#indices = Array.from(text.matchAll(WORDS), ({ index }) => index);
  }

  isIn(start: number, end: number): boolean {
    let low = 0;
    let high = this.#indices.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#indices[middle] as number) < start) low = middle + 1;
      else high = middle;
    }
    return (this.#indices[low] ?? end) < end;
  }
}

/** Without calls that nest as deep as the script does. @param isOfUse whether there may be marks in a node. */
function walk(program: Tree, isOfUse: (node: Tree) => boolean, onNode: (visit: Visit) => void): void {
  const waiting: Visit[] = [{ node: program, parent: program, key: "" }];
  for (let visit = waiting.pop(); visit !== undefined; visit = waiting.pop()) {
    onNode(visit);
    const { node } = visit;
    // A chain stands where its members do: `delete a?.b`.
    const isChain = node.type === "ChainExpression";
    for (const key of Object.keys(node))
      for (const child of nodesOf(node[key]).filter(isOfUse))
        waiting.push(isChain ? { ...visit, node: child } : { node: child, parent: node, key });
  }
}

/** Of a function, or of the whole script. */
interface Scope {
  /** Blocks of it that are open. */
  blocks?: number;
}

/** Parts of acorn's parser that its types leave out. */
interface Inside {
  readonly input: string;
  pos: number;
  next(): void;
  eat(type: TokenType): boolean;
  semicolon(): void;
  insertSemicolon(): boolean;
  parseIdent(): Tree;
  finishNode(node: object, type: string): Tree;
  readonly scopeStack: Scope[];
  enterScope(flags: number): void;
  currentVarScope(): Scope;
  raise(at: number, message: string): never;
  readWord1(): string;
  finishToken(type: TokenType, value: unknown): unknown;
  parseStatement(this: Parser, ...context: unknown[]): Tree;
}

const inside = Parser.prototype as unknown as Inside;

/** Stands for those that a statement is in. */
const NO_LABELS = { length: 0, push() {}, pop() {} };

/**
 * A parser that checks no names, no labels, no patterns and no regular expressions. These checks cost more than time in
 * proportion: names and labels are looked up in all that are around them, a pattern is gone through again for each that it is
 * part of, and an expression is compiled. A script that is wrong there reaches the browser with marks, and the browser says
 * so. Of a statement that has none of `WORDS` it keeps only where that begins and ends: the tree of a whole script takes a
 * hundred times the room of its text.
 */
class Reader extends Parser {
  readonly words = new Words(this.input);

  /** @throws SyntaxError where the text is no script of this kind. */
  static read(text: string, sourceType: "script" | "module"): { readonly program: Tree; readonly words: Words } {
    const reader = new Reader({ ...OPTIONS, sourceType }, text);
    return { program: reader.parse() as Node as Tree, words: reader.words };
  }

  declareName(): void {}
  checkLocalExport(): void {}
  checkExport(): void {}
  checkVariableExport(): void {}
  checkLValPattern(): void {}
  checkUnreserved(): void {}

  /** A block is its function's: it has no names of its own here. */
  enterScope(this: this & Inside, flags: number): void {
    inside.enterScope.call(this, flags);
    const around = this.currentVarScope();
    if (around === this.scopeStack.at(-1)) return;
    this.scopeStack.pop();
    around.blocks = (around.blocks ?? 0) + 1;
  }

  exitScope(this: this & Inside): void {
    const { blocks = 0 } = this.currentVarScope();
    if (blocks === 0) this.scopeStack.pop();
    else this.currentVarScope().blocks = blocks - 1;
  }

  /** Which depends on the block. */
  get allowUsing(): boolean {
    return true;
  }

  get labels(): typeof NO_LABELS {
    return NO_LABELS;
  }

  set labels(_) {}

  parseBreakContinueStatement(this: this & Inside, node: object, keyword: string): Tree {
    this.next();
    const label = this.eat(tokTypes.semi) || this.insertSemicolon() ? null : this.parseIdent();
    if (label !== null) this.semicolon();
    const type = keyword === "break" ? "BreakStatement" : "ContinueStatement";
    return this.finishNode(Object.assign(node, { label }), type);
  }

  parseStatement(...context: unknown[]): Tree {
    const statement = inside.parseStatement.apply(this, context);
    const { start, end, expression } = statement;
    // Directives stand before all marks.
    const isKept = this.words.isIn(start, end) || (isTree(expression) && expression.type === "Literal");
    return isKept ? statement : { type: "EmptyStatement", start, end };
  }

  /** Its name is looked at once more. */
  parseExportDeclaration(): Tree {
    return inside.parseStatement.apply(this, [null]);
  }

  readRegexp(this: this & Inside): unknown {
    this.pos = expressionEnd(this.input, this.pos);
    if (this.pos === -1) this.raise(0, "a regular expression does not end");
    this.readWord1();
    return this.finishToken(tokTypes.regexp, {});
  }
}

/** Index behind the slash that ends it; -1 where its line ends first. */
function expressionEnd(text: string, start: number): number {
  let isClass = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at] as string;
    if (/[\n\r\u2028\u2029]/.test(character)) return -1;
    if (character === "/" && !isClass) return at + 1;
    if (character === "[") isClass = true;
    else if (character === "]") isClass = false;
    // A line that ends here ends it too.
    else if (character === "\\" && !/[\n\r\u2028\u2029]/.test(text[at + 1] ?? "\n")) at++;
  }
  return -1;
}

const OPTIONS: Options = {
  ecmaVersion: "latest",
  sourceType: "script",
  allowHashBang: true,
  // Handlers of events in attributes do.
  allowReturnOutsideFunction: true,
  checkPrivateFields: false,
};

function parsed(text: string): ReturnType<typeof Reader.read> | null {
  for (const sourceType of ["script", "module"] as const) {
    try {
      return Reader.read(text, sourceType);
    } catch {
      // Perhaps of the other kind; else the browser says what is wrong with it.
    }
  }
  return null;
}

/** Index behind the directives, which would be none after another statement. */
function firstStatement(program: Tree, text: string): number {
  const first = nodesOf(program.body).find((statement) => statement.directive === undefined);
  return first?.start ?? text.length;
}

/** @param edits of which one goes before those at the same place that came earlier: what is inside comes later, and ends first. */
function edited(text: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let last = 0;
  for (const [at, insertion] of [...edits].reverse().sort(([one], [other]) => one - other)) {
    parts.push(text.slice(last, at), insertion);
    last = at;
  }
  return parts.join("") + text.slice(last);
}

function editsOf(visit: Visit, text: string): Edit[] {
  const { node, parent, key } = visit;
  if (node.type === "VariableDeclarator")
    return isTakenApart(node.id) ? around(node.init, READ_MARKS.closeParts, text) : [];
  if (node.type === "AssignmentExpression") {
    const written =
      isTree(node.left) && isLocation(node.left) ? around(otherWindow(node.left), READ_MARKS.close, text) : [];
    // Elsewhere its value is the window itself, for more than its parts.
    const isStatement = parent.type === "ExpressionStatement" || parent.type === "SequenceExpression";
    return isStatement && isTakenApart(node.left) ? around(node.right, READ_MARKS.closeParts, text) : written;
  }
  if (isNumbered(node)) return isNoRead(visit) ? [] : around(node, READ_MARKS.closePosted, text);
  const name = nameRead(node);
  if (name === null || isNoRead(visit)) return [];
  if (name === "top" && !isAboutWindows(visit)) return [];
  if (parent.type !== "Property" || key !== "value" || parent.shorthand !== true)
    return around(node, READ_MARKS.close, text);
  // A name with an escape in it would not come out again.
  if (text.slice(node.start, node.end) !== name) return [];
  return [
    [node.start, `${name}:${READ_MARKS.open}`],
    [node.end, READ_MARKS.closeShorthand],
  ];
}

/** What a `location` that is written is a member of, unless that is surely the script's own window or document, or marked as a read. */
function otherWindow({ object }: Tree): Tree | null {
  if (!isTree(object) || nameRead(object) !== null) return null;
  const isOwn = ["window", "self", "globalThis", "document"].includes(String(object.name));
  return isOwn || object.type === "Super" || object.type === "ThisExpression" ? null : object;
}

/** The object that a call posts a message to: a window gets it in the name of the window whose script calls. */
function postedTo({ type, callee }: Tree): Tree | null {
  if (type !== "CallExpression" || !isTree(callee) || callee.type !== "MemberExpression") return null;
  const { object, property, computed, optional } = callee;
  if (computed === true || !isTree(property) || property.name !== "postMessage") return null;
  if (!isTree(object) || object.type === "Super" || (optional !== true && mayEnd(object))) return null;
  return object;
}

function around(node: unknown, close: string, text: string): Edit[] {
  if (!isTree(node)) return [];
  // Its parts would be arguments; the last is its value.
  if (node.type === "SequenceExpression") return around(nodesOf(node.expressions).at(-1), close, text);
  // `in[…]` would become another word.
  const isJoined = /[\p{ID_Continue}$\\]/u.test(text[node.start - 1] ?? "");
  return isJoined
    ? []
    : [
        [node.start, READ_MARKS.open],
        [node.end, close],
      ];
}

/** The name where the node is a reference or member that may be marked. */
function nameRead(node: Tree): string | null {
  const { type, name, property, computed, object } = node;
  if (type === "CallExpression") return addressAsked(node);
  let found: unknown;
  if (type === "Identifier") found = name;
  else if (type === "MemberExpression" && isTree(property)) {
    found = computed === true ? property.value : property.name;
    // Members of a location that is marked are real.
    if (computed !== true && ADDRESSES.includes(String(found))) return isLocation(object) ? null : String(found);
    if (found === "url" && isTree(object) && object.type === "MetaProperty") return "url";
  }
  return found === "location" || found === "top" ? found : null;
}

/** The name where jQuery is asked for it, in a call `.prop("href")`. */
function addressAsked({ callee, arguments: given }: Tree): string | null {
  const [first, ...rest] = nodesOf(given);
  if (!isTree(callee) || callee.type !== "MemberExpression" || callee.computed === true || rest.length > 0) return null;
  const name = isTree(callee.property) && callee.property.name === "prop" ? first?.value : null;
  return ADDRESSES.includes(String(name)) ? String(name) : null;
}

/** `window[0]`, and `window[i]` as loops have it. */
function isNumbered({ type, computed, object, property }: Tree): boolean {
  if (type !== "MemberExpression" || computed !== true || !isTree(object) || !isTree(property)) return false;
  const isNumber = typeof property.value === "number" || /^\w$/.test(String(property.name));
  return isNumber && NUMBERED.includes(String(object.name ?? (object.property as Tree | undefined)?.name));
}

const isLocation = (node: unknown): boolean => isTree(node) && nameRead(node) === "location";

/** Whether it stands where a name is declared or written, is a key, or gives `this` to a call. */
function isNoRead({ node, parent, key }: Visit): boolean {
  const isMember = node.type === "MemberExpression" || node.type === "CallExpression";
  switch (parent.type) {
    case "MemberExpression":
      return (key === "property" && parent.computed !== true) || (isMember && parent.optional !== true && mayEnd(node));
    case "CallExpression":
    case "NewExpression":
      return key === "callee";
    case "TaggedTemplateExpression":
      return key === "tag";
    case "AssignmentExpression":
    case "ForInStatement":
    case "ForOfStatement":
    case "AssignmentPattern":
      return key === "left";
    case "VariableDeclarator":
    case "ClassDeclaration":
    case "ClassExpression":
    case "FunctionDeclaration":
      return key === "id" || key === "params";
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return key === "id" || key === "params";
    case "Property":
    case "MethodDefinition":
    case "PropertyDefinition":
      return key === "key" && parent.computed !== true;
    case "UnaryExpression":
      // In a worker there is no `top` to ask for.
      return parent.operator === "delete" || (parent.operator === "typeof" && !isMember);
    case "ArrayPattern":
    case "RestElement":
    case "CatchClause":
    case "UpdateExpression":
    case "LabeledStatement":
    case "BreakStatement":
    case "ContinueStatement":
    case "ExportSpecifier":
    case "ImportSpecifier":
    case "ImportDefaultSpecifier":
    case "ImportNamespaceSpecifier":
    case "ExportAllDeclaration":
    case "MetaProperty":
      return true;
    default:
      return false;
  }
}

/** Whether a chain may end before this member, and with it what is behind: in `a?.location.href` a call would part them. */
function mayEnd(node: Tree): boolean {
  const path: Tree[] = [];
  let may = false;
  for (let at: unknown = node; isTree(at) && !may; at = at.object ?? at.callee) {
    const known = chainEnds.get(at);
    may = known ?? at.optional === true;
    path.push(at);
    if (known === false) break;
  }
  for (const each of path) chainEnds.set(each, may);
  return may;
}

/** Answers of `mayEnd`: a chain may be as long as the script. */
const chainEnds = new WeakMap<Tree, boolean>();

/** Most things called `top` are numbers, of boxes. */
function isAboutWindows({ node, parent, key }: Visit): boolean {
  const object = node.object;
  const owner = isTree(object) ? (object.name ?? (object.property as Tree | undefined)?.name) : null;
  if (typeof owner === "string" && WINDOWS.has(owner)) return true;
  if (parent.type === "BinaryExpression") return EQUALITY.has(String(parent.operator));
  if (parent.type === "MemberExpression") return key === "object";
  return node.type === "Identifier" && HANDS_ON.has(parent.type);
}

/** A pattern that takes `location` or `top` out of a value. */
function isTakenApart(pattern: unknown): boolean {
  if (!isTree(pattern) || pattern.type !== "ObjectPattern") return false;
  return nodesOf(pattern.properties).some(
    ({ key, computed }) => computed !== true && isTree(key) && ["location", "top"].includes(String(key.name)),
  );
}
