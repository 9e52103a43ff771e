/** Holds the catalogues of the app's words (`pwa/languages`) against the texts in its code. */
import { type CallExpression, type Node, parseSync, Visitor } from "oxc-parser";

export type Catalogue = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** All texts that the app translates: those that depend on a number by that for several. */
export interface AppTexts {
  readonly plain: ReadonlySet<string>;
  readonly counted: ReadonlySet<string>;
}

/** Functions of `pwa/shell/app/language.ts` and `later`: which of their arguments are texts. */
const TRANSLATING: Readonly<Record<string, readonly number[]>> = { t: [0], tParts: [0], later: [0], tCount: [1, 2] };

/** Attributes that a person reads or hears, and properties of components that become some. */
const READ = /^(aria-label|title|placeholder|label|legend|hint|question|confirm|done|alt|heading)$/;

/** Commands and addresses are the same in all languages. */
const CODE = /^(npm|https?:)/;

/** Words of a sentence, or one word as on a button. Names of keys and colours of a path are none. */
const WORDS = /^(?!Ropeway$)[A-Z“][a-z’]+(?:[ ….,:].*)?$/s;

/** @param texts of the app's source files, by path. */
export function appTexts(texts: ReadonlyMap<string, string>): AppTexts {
  const plain = new Set<string>();
  const counted = new Set<string>();
  for (const [path, text] of ofApp(texts)) {
    new Visitor({
      CallExpression(call) {
        const name = translating(call);
        if (name === null) return;
        const found = textArguments(call).flatMap((node) => (isText(node) ? [node.value] : []));
        if (name === "tCount") counted.add(found.at(-1) ?? "");
        else for (const each of found) plain.add(each);
      },
    }).visit(parseSync(path, text).program);
  }
  return { plain, counted };
}

function ofApp(texts: ReadonlyMap<string, string>): [string, string][] {
  return [...texts].filter(
    ([path]) => /^(?:pwa|shared|worker)\/.*\.tsx?$/.test(path) && !/\.test\.|\/testing\//.test(path),
  );
}

function translating({ callee }: CallExpression): string | null {
  return callee.type === "Identifier" && callee.name in TRANSLATING ? callee.name : null;
}

/** Both sides of a choice. */
function textArguments(call: CallExpression): readonly Node[] {
  const places = TRANSLATING[translating(call) ?? ""] ?? [];
  return places.flatMap((place) => sidesOf(call.arguments[place]));
}

function sidesOf(node: Node | undefined): readonly Node[] {
  if (node === undefined) return [];
  return node.type === "ConditionalExpression" ? [...sidesOf(node.consequent), ...sidesOf(node.alternate)] : [node];
}

function isText(node: Node): node is Node & { readonly value: string } {
  return node.type === "Literal" && typeof node.value === "string";
}

/** Texts of the views that stay English in every language, and texts that are put together where they are translated. */
export function untranslatedTexts(texts: ReadonlyMap<string, string>): readonly string[] {
  return ofApp(texts)
    .filter(([path]) => /^pwa\/(?:shell\/views|slot\/view)\//.test(path))
    .flatMap(([path, text]) => untranslatedIn(path, text));
}

function untranslatedIn(path: string, text: string): readonly string[] {
  const faults: string[] = [];
  const known = new Set<number>();
  const tell = ({ start }: Node, words: string) => {
    const line = text.slice(0, start).split("\n").length;
    faults.push(`${path}:${line} has a text that no language can translate: ${words.trim().slice(0, 60)}`);
  };
  const { program } = parseSync(path, text);
  new Visitor({
    CallExpression(call) {
      for (const node of textArguments(call)) {
        known.add(node.start);
        if (node.type === "TemplateLiteral") tell(node, text.slice(node.start, node.end));
      }
    },
    // Compared, not shown.
    BinaryExpression: ({ left, right }) => void known.add(left.start).add(right.start),
    SwitchCase: ({ test }) => void known.add(test?.start ?? -1),
    TSLiteralType: ({ literal }) => void known.add(literal.start),
    ImportDeclaration: ({ source }) => void known.add(source.start),
    Property: ({ key }) => void known.add(key.start),
  }).visit(program);
  new Visitor({
    JSXText: (node) => void (isRead(node.value) && tell(node, node.value)),
    JSXAttribute({ name, value }) {
      if (name.type !== "JSXIdentifier" || value?.type !== "Literal") return;
      known.add(value.start);
      if (READ.test(name.name) && isRead(String(value.value))) tell(value, String(value.value));
    },
    Literal(node) {
      if (isText(node) && !known.has(node.start) && WORDS.test(node.value)) tell(node, node.value);
    },
    TemplateLiteral(node) {
      if (!known.has(node.start) && node.quasis.some(({ value }) => /^[A-Z][a-z]+ /.test(value.raw)))
        tell(node, text.slice(node.start, node.end));
    },
  }).visit(program);
  return faults;
}

function isRead(text: string): boolean {
  return /\p{L}{2}/u.test(text) && !CODE.test(text.trim());
}

/** Faults of the catalogue, each in a sentence. A text that nobody has translated yet is none. */
export function catalogueFaults(code: string, catalogue: Catalogue, { plain, counted }: AppTexts): readonly string[] {
  const categories = new Intl.PluralRules(code).resolvedOptions().pluralCategories;
  return Object.entries(catalogue).flatMap(([text, words]) => {
    const fault = (what: string) => [`pwa/languages/${code}.json: ${what}: ${text}`];
    if (!plain.has(text) && !counted.has(text)) return fault("the app has no such text any more");
    if (!isTranslated(words)) return [];
    if (typeof words === "string") {
      if (!plain.has(text)) return fault(`it depends on a number, so it needs ${categories.join(", ")}`);
      return placesOf(words) === placesOf(text) ? [] : fault("other places in braces than the text");
    }
    if (!counted.has(text)) return fault("it depends on no number");
    const missing = categories.filter((category) => !words[category]);
    if (missing.length > 0) return fault(`it has no words for ${missing.join(", ")}`);
    const isLost = Object.entries(words).some(([category, form]) => losesPlace(category, form, text));
    return isLost ? fault("other places in braces than the text") : [];
  });
}

/** A form that stands for few numbers may say the number in words. */
function losesPlace(category: string, form: string, text: string): boolean {
  const withoutCount = (each: string) => placesOf(each.replaceAll("{count}", ""));
  const mayLeaveOut = category === "zero" || category === "one" || category === "two" || !text.includes("{count}");
  return mayLeaveOut ? withoutCount(form) !== withoutCount(text) : placesOf(form) !== placesOf(text);
}

function placesOf(text: string): string {
  return (text.match(/\{\w+\}/g) ?? []).sort().join();
}

/** Not as a file is written for somebody to fill in. */
export function isTranslated(words: Catalogue[string] | undefined): boolean {
  return (
    words !== undefined && (typeof words === "string" ? [words] : Object.values(words)).some((each) => each !== "")
  );
}

/** Texts that the catalogue has no words for. */
export function missingTexts(catalogue: Catalogue, { plain, counted }: AppTexts): readonly string[] {
  return [...plain, ...counted].filter((text) => !isTranslated(catalogue[text]));
}

/** The catalogue with all texts in their order and nothing else; "" where there are no words yet. */
export function completed(code: string, catalogue: Catalogue, { plain, counted }: AppTexts): Catalogue {
  const { pluralCategories } = new Intl.PluralRules(code).resolvedOptions();
  const empty = Object.fromEntries(pluralCategories.map((category) => [category, ""]));
  return Object.fromEntries([
    ...[...plain].sort().map((text) => [text, catalogue[text] ?? ""]),
    ...[...counted].sort().map((text) => [text, { ...empty, ...Object(catalogue[text]) }]),
  ]);
}
