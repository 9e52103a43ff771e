/** Applies the element rules to what scripts make: attributes, properties, markup, and elements seen in the document. */
import { TRUSTED_TYPES_POLICY } from "../policy.ts";
import {
  AFFECTED_ELEMENTS,
  type AttributeAccess,
  CLOSED_SUFFIX,
  type ElementContext,
  rewriteElement,
  rewriteMarkup,
  rewriteSrcdoc,
  SVG_ATTRIBUTES,
  writtenFrameUrl,
} from "../rewrite/html-rewriter.ts";
import { ropewayPath, toReal } from "../slot-url.ts";
import { forgetBlob, isBlobUrl, showBlob, shownBlob } from "./blob-documents.ts";
import { isThere, type PageContext } from "./page-context.ts";
import { type NativeCall, patchAccessor, patchMethod } from "./patch.ts";

const { getAttribute, setAttribute, removeAttribute } = Element.prototype;

/** Properties that reflect an attribute which the rules look at. */
const REFLECTED: readonly [interfaceName: string, names: readonly string[]][] = [
  ["HTMLIFrameElement", ["src", "srcdoc", "credentialless"]],
  ["HTMLFrameElement", ["src"]],
  ["HTMLLinkElement", ["rel", "href"]],
  ["HTMLObjectElement", ["data"]],
  ["HTMLEmbedElement", ["src"]],
  ["HTMLAnchorElement", ["ping"]],
  ["HTMLAreaElement", ["ping"]],
  ["HTMLScriptElement", ["type", "src"]],
  ["HTMLTrackElement", ["src"]],
];

const OBSERVED = "iframe, frame, link[rel], object[data], embed[src], a[ping], area[ping], script[type]";

/** Elements that the rules have closed: they show nothing, or their stand-in has no origin to speak for. */
const CLOSED = `iframe[src$="${CLOSED_SUFFIX}"], object[data-ropeway-data], embed[data-ropeway-src]`;

/** Of the documents of the context's realm: the page script's own, or a frame's that has none. */
export function patchElements(context: PageContext): void {
  const { document } = context.realm;
  patchReflected(context);
  patchSetAttribute(context);
  patchGetAttribute(context);
  patchMarkup(context);
  // An element of the parser was rewritten on its way.
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => observe(context));
  else observe(context);
}

function elementContext({ config, realm, realUrl }: PageContext): ElementContext {
  const context = {
    slotOrigin: config.slotOrigin,
    realOrigin: config.realOrigin,
    documentUrl: realUrl(),
    nonce: config.nonce,
    // Policies that scripts add are the page's own business: they can only close.
    transformPolicy: (content: string) => content,
  };
  const base = toReal(realm.document.baseURI, config);
  return { ...context, base, rewriteInner: rewriteSrcdoc({ ...context, documentUrl: base }) };
}

/** Of whatever realm. */
const isElement = (value: unknown): value is Element => (value as Partial<Node> | null)?.nodeType === Node.ELEMENT_NODE;

/** An element with changes that are not written yet; null removes. */
class PendingAttributes implements AttributeAccess {
  readonly #element: Element;
  readonly changes = new Map<string, string | null>();

  constructor(element: Element) {
    this.#element = element;
  }

  get(name: string): string | null {
    const change = this.changes.get(name);
    return change !== undefined ? change : getAttribute.call(this.#element, name);
  }

  set(name: string, value: string): void {
    this.changes.set(name, value);
  }

  remove(name: string): void {
    this.changes.set(name, null);
  }

  mapMarkup(name: string, map: (markup: string) => string): void {
    const value = this.get(name);
    if (value === null) return;
    const mapped = map(value);
    if (mapped !== value) this.set(name, mapped);
  }
}

/**
 * Sets one attribute as the rules would have it. `native` sets the value as given, so that trusted types, and values
 * that need no change, go the way the page chose.
 */
function assign(element: Element, name: string, given: unknown, native: () => unknown, context: PageContext): void {
  if (!isThere(context)) return void native();
  const pending = new PendingAttributes(element);
  const value = String(given);
  pending.set(name, value);
  rewriteElement(element.localName, pending, elementContext(context));
  // The sandbox has to be there before the frame begins to load.
  const own = pending.changes.get(name);
  for (const [other, change] of pending.changes) if (other !== name) write(element, other, change);
  if (own !== value) write(element, name, own ?? null, given);
  else native();
  if (name === "srcdoc") forgetBlob(element);
  else followBlob(element, name === "src", context);
}

/** @param given by the page in its place. */
function write(element: Element, name: string, value: string | null, given?: unknown): void {
  if (value === null) removeAttribute.call(element, name);
  else if (name === "srcdoc") setAttribute.call(element, name, trusted("HTML", value));
  else setAttribute.call(element, name, element.localName === "script" ? trusted("ScriptURL", value, given) : value);
}

/** For elements that came some other way: parsers, clones, token lists. */
function enforce(element: Element, context: PageContext): void {
  if (!isThere(context)) return;
  const pending = new PendingAttributes(element);
  rewriteElement(element.localName, pending, elementContext(context));
  for (const [name, change] of pending.changes) write(element, name, change);
  followBlob(element, false, context);
  if (element.matches(CLOSED)) showClosed(element, context);
}

/** The files of other elements than frames are shown in another way. */
function showClosed(element: Element, context: PageContext): void {
  if (element.localName === "iframe") context.tell("frame");
  else void context.late<typeof import("../view/view.ts")>("view").then((it) => it.showEmbedded(element, context));
}

/** Shows a blob's document in a frame. */
export function showInFrame(frame: Element, url: string, context: PageContext): void {
  void showBlob(frame, { url, src: getAttribute.call(frame, "src") }, context, (markup) => {
    const pending = new PendingAttributes(frame);
    pending.set("srcdoc", markup);
    rewriteElement(frame.localName, pending, elementContext(context));
    for (const [name, change] of pending.changes) write(frame, name, change);
  });
}

/**
 * A frame whose address is a blob's shows that, until it has another one.
 *
 * @param isSet now, maybe to what it was.
 */
function followBlob(frame: Element, isSet: boolean, context: PageContext): void {
  if (frame.localName !== "iframe") return;
  const src = getAttribute.call(frame, "src");
  const former = shownBlob(frame);
  if (former?.src === src && !isSet) return;
  if (former !== undefined) {
    forgetBlob(frame);
    removeAttribute.call(frame, "srcdoc");
  }
  const url = writtenFrameUrl(src ?? "", context.config);
  if (isBlobUrl(url) && !frame.hasAttribute("srcdoc")) showInFrame(frame, url, context);
}

/** `src` of frames reads as the page set it, not as the placeholder that it became. */
function realFrameUrl(value: unknown): unknown {
  const text = String(value);
  if (!text.includes(`${ropewayPath.frame}?`)) return value;
  return new URL(text).searchParams.get("url") ?? value;
}

function patchReflected(context: PageContext): void {
  for (const [interfaceName, names] of REFLECTED) {
    const { prototype } = (Object.getOwnPropertyDescriptor(context.realm, interfaceName)?.value ?? {}) as {
      prototype?: object;
    };
    if (prototype === undefined) continue;
    for (const name of names) {
      patchAccessor(prototype, name, {
        ...(/Frame/.test(interfaceName) && name === "src" ? { get: (native) => realFrameUrl(native()) } : {}),
        set(native, self, value) {
          if (!isElement(self) || name === "credentialless") return;
          assign(self, name, value, () => native(value), context);
        },
      });
    }
  }
}

/** Where the rules have changed or moved an address, it reads as the page wrote it. */
function patchGetAttribute({ config, realm }: PageContext): void {
  patchMethod(realm.Element.prototype, "getAttribute", (native, self, args) => {
    const value = native(self, args);
    const [name] = args;
    if (!isElement(self)) return value;
    if (name === "nonce" && value === "" && !config.hasPolicy) return (self as HTMLElement).nonce ?? value;
    if (name === "src" || name === "data") {
      if (/^(?:embed|object)$/.test(self.localName)) return value ?? native(self, [`data-ropeway-${name}`]);
      if (/^i?frame$/.test(self.localName) && value !== null) return writtenFrameUrl(String(value), config);
    }
    return value === null ? value : String(value).replaceAll(config.slotOrigin, config.realOrigin);
  });
}

function patchSetAttribute(context: PageContext): void {
  const { prototype } = context.realm.Element;
  const set = (native: NativeCall, self: unknown, args: unknown[], name: unknown, value: unknown) => {
    const lower = String(name).toLowerCase();
    if (!isElement(self) || !(AFFECTED_ELEMENTS.has(self.localName) || isReference(lower, value)))
      return native(self, args);
    assign(self, lower, value, () => native(self, args), context);
    return undefined;
  };
  patchMethod(prototype, "setAttribute", (native, self, args) => set(native, self, args, args[0], args[1]));
  patchMethod(prototype, "setAttributeNS", (native, self, args) => {
    if (args[0] === null || args[0] === "") return set(native, self, args, args[1], args[2]);
    native(self, args);
    // Its href may be that of XLink.
    if (isElement(self)) enforce(self, context);
    return undefined;
  });
}

const isReference = (name: string, value: unknown): boolean =>
  (name === "href" || SVG_ATTRIBUTES.includes(name)) && String(value).includes("#");

/** Elements that no setter saw. An observer is late for an element that loads at once; the policy closes that. */
function observe(context: PageContext): void {
  for (const element of context.realm.document.querySelectorAll(CLOSED)) showClosed(element, context);
  const visit = (node: Node) => {
    if (!isElement(node)) return;
    if (AFFECTED_ELEMENTS.has(node.localName)) enforce(node, context);
    if (node.firstElementChild !== null)
      for (const element of node.querySelectorAll(OBSERVED)) enforce(element, context);
  };
  const observer = new MutationObserver((records) => {
    for (const { type, target, addedNodes } of records) {
      if (type === "childList") for (const node of addedNodes) visit(node);
      else if (isElement(target) && AFFECTED_ELEMENTS.has(target.localName)) enforce(target, context);
    }
  });
  observer.observe(context.realm.document, {
    childList: true,
    subtree: true,
    attributeFilter: ["src", "srcdoc", "sandbox", "rel", "data", "ping", "type", "credentialless"],
  });
}

/** Markup that scripts insert goes through the same rules as the markup of the document. */
function patchMarkup(context: PageContext): void {
  const { Document, document, Element, HTMLDocument, Range, ShadowRoot } = context.realm;
  const language = document instanceof HTMLDocument ? "html" : "xml";
  const rewrite = (value: unknown): unknown => {
    if (value === null || value === undefined || !isThere(context)) return value;
    const text = String(value);
    const { base, ...rest } = elementContext(context);
    const rewritten = text.includes("<") ? rewriteMarkup(text, { ...rest, documentUrl: base }, language) : text;
    return rewritten === text ? value : trusted("HTML", rewritten, value);
  };
  for (const [prototype, names] of [
    [Element.prototype, ["innerHTML", "outerHTML"]],
    [ShadowRoot.prototype, ["innerHTML"]],
  ] as const)
    for (const name of names) patchAccessor(prototype, name, { set: (native, _self, value) => native(rewrite(value)) });

  for (const prototype of [Element.prototype, ShadowRoot.prototype])
    patchMethod(prototype, "setHTMLUnsafe", (native, self, [markup, ...rest]) =>
      native(self, [rewrite(markup), ...rest]),
    );
  patchMethod(Element.prototype, "insertAdjacentHTML", (native, self, [where, markup]) =>
    native(self, [where, rewrite(markup)]),
  );
  patchMethod(Range.prototype, "createContextualFragment", (native, self, [markup]) => native(self, [rewrite(markup)]));
  for (const name of ["write", "writeln"])
    patchMethod(Document.prototype, name, (native, self, args) => native(self, args.map(rewrite)));
}

type TrustedKind = "HTML" | "Script" | "ScriptURL";
type Rules = Readonly<Record<`create${TrustedKind}`, (text: string) => unknown>>;
type Factory = Readonly<Record<`is${TrustedKind}`, (value: unknown) => boolean>> & {
  createPolicy(name: string, rules: Rules): Rules;
};

const factory = (window as { trustedTypes?: Factory }).trustedTypes;
let policy: Rules | null | undefined;

/**
 * A text that the page script has changed must be trusted again where the page's policy asks for it. @returns the trusted
 * text where that is possible, else the text itself. The policy is made when first needed.
 *
 * @param given in place of the text by the page: a plain one stays plain, to be refused as the page's own.
 */
export function trusted<T>(kind: TrustedKind, text: T, given?: unknown): T {
  if (factory === undefined || text === given || (given !== undefined && !factory[`is${kind}`](given))) return text;
  if (policy === undefined) {
    const asIs = (value: string) => value;
    const rules = { createHTML: asIs, createScript: asIs, createScriptURL: asIs };
    try {
      policy = factory.createPolicy(TRUSTED_TYPES_POLICY, rules);
    } catch {
      policy = null;
    }
  }
  return policy === null ? text : (policy[`create${kind}`](String(text)) as T);
}
