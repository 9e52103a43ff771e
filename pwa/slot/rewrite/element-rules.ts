/**
 * Which attributes are changed so that an element loads through the service worker or not at all. One set of rules
 * for markup that streams in and for elements that scripts make.
 */

import { parseUrl } from "../../../shared/web/origin.ts";
import { isSlotUrl, ropewayPath, ropewayUrl, type SlotIdentity, toReal, toSlot } from "../slot-url.ts";
import type { AttributeAccess } from "./html-tag.ts";
import { neutraliseRelations } from "./link-relations.ts";
import { rewriteRefresh } from "./meta-refresh.ts";

export interface MarkupContext extends SlotIdentity {
  /** Real URL of the document, base of relative URLs until a `<base href>` comes. */
  readonly documentUrl: string;
  /** Documents that hold it in an attribute, `srcdoc`. */
  readonly depth?: number;
  /** Of the page script's element. */
  readonly nonce: string;
  /** Transforms the `content` of a policy's `<meta>`. */
  readonly transformPolicy: (content: string) => string;
}

export interface ElementContext extends MarkupContext {
  /** Real URL that relative URLs resolve against. */
  readonly base: string;
  /** Rewrites the markup of a srcdoc document. `hasPageScript`: it is one whose scripts may load. */
  readonly rewriteInner: (markup: string, hasPageScript: boolean) => string;
}

export const AFFECTED_ELEMENTS: ReadonlySet<string> = new Set([
  "a",
  "area",
  "base",
  "embed",
  "frame",
  "iframe",
  "link",
  "meta",
  "object",
  "script",
  "use",
]);

const CLOSED_PREFIX_START = `<meta http-equiv="Content-Security-Policy" content="default-src data: blob: 'unsafe-inline' 'unsafe-eval'`;
/** First in a srcdoc document whose origin is opaque: no service worker sees its requests, so there may be none. */
const CLOSED_PREFIX = `${CLOSED_PREFIX_START}">`;
/**
 * First in all other srcdoc documents. Firefox (153) lets none below a sandboxed frame, as the shell's is, have its
 * parent's service worker: requests would go out past it. Navigations do reach a worker. Its name for an error of its own
 * tells Firefox in pages and workers alike.
 */
const SRCDOC_PREFIX = "InternalError" in globalThis ? `${CLOSED_PREFIX_START}; frame-src *">` : "";

/** Tells the frame placeholder that it may not load its URL. */
const CLOSED_SUFFIX = "&closed=1";

/** Where the browser would go, in slot terms, and really. Null for what is neither http: nor https:. */
function resolve(url: string, context: ElementContext): { native: URL; real: URL } | null {
  const real = parseUrl(url, context.base);
  const native = parseUrl(url, toSlot(context.base, context));
  if (real === null || native === null || !/^https?:$/.test(real.protocol)) return null;
  return { native, real };
}

/** What a navigation target reads as in markup; null: leave it. `path` answers for other origins. */
function targetUrl(url: string, path: string, context: ElementContext): string | null {
  const target = resolve(url, context);
  if (target === null || isSlotUrl(target.native, context)) return null;
  if (target.real.origin === context.realOrigin) return toSlot(target.real.href, context);
  return ropewayUrl(path, target.real.href);
}

/** The URL that a frame's `src` becomes, or null to leave it. */
export function frameUrl(src: string, context: ElementContext): string | null {
  // The policy has none of these in frames. The placeholder says so, and is loaded: Firefox has no `load` for what a
  // policy blocks.
  if (/^\s*(?:blob|data):/i.test(src)) return ropewayUrl(ropewayPath.frame, src);
  return targetUrl(src, ropewayPath.frame, context);
}

/** What the page wrote goes along where the placeholder's `url` does not tell it. */
function withWritten(url: string, written: string): string {
  const isTold = !url.startsWith(`${ropewayPath.frame}?`) || url.endsWith(`?url=${encodeURIComponent(written)}`);
  return isTold ? url : `${url}&written=${encodeURIComponent(written)}`;
}

/** The `src` of a frame as the page wrote it. `value`: as it is now. */
export function writtenFrameUrl(value: string, slot: SlotIdentity): string {
  if (!value.startsWith(`${ropewayPath.frame}?`)) return toReal(value, slot);
  const parameters = new URLSearchParams(value.slice(value.indexOf("?")));
  return parameters.get("written") ?? parameters.get("url") ?? value;
}

function isOwnPage(src: string, context: ElementContext): boolean {
  const target = resolve(src, context);
  if (target === null || target.native.pathname.startsWith("/.ropeway/")) return false;
  return target.real.origin === context.realOrigin || isSlotUrl(target.native, context);
}

/** Whether what is in the frame is of no origin, and may run scripts. */
function isOpaque(element: AttributeAccess): boolean {
  const tokens = element.get("sandbox")?.toLowerCase().split(/\s+/) ?? ["allow-same-origin"];
  return !tokens.includes("allow-same-origin") && tokens.includes("allow-scripts");
}

/**
 * A sandbox without allow-same-origin makes an opaque origin, which no service worker controls. Without scripts the
 * token is added, since nothing can use it; frames of other origins have slots of their own and get it too. What is
 * left is the site's own markup that it does not trust: it stays sandboxed, without network.
 */
function openSandbox(element: AttributeAccess, context: ElementContext): void {
  const sandbox = element.get("sandbox");
  const tokens = sandbox?.toLowerCase().split(/\s+/) ?? [];
  if (sandbox === null || tokens.includes("allow-same-origin")) return;
  const withScripts = tokens.includes("allow-scripts");
  if (withScripts && element.get("srcdoc") !== null) {
    element.mapMarkup("srcdoc", (markup) => (markup.startsWith(CLOSED_PREFIX) ? markup : CLOSED_PREFIX + markup));
    return;
  }
  const src = element.get("src") ?? "";
  if (src.includes(CLOSED_SUFFIX)) return;
  const isBlob = /^\s*blob:|^[^?]*\?url=blob%3a/i.test(src);
  if (withScripts && (isBlob || isOwnPage(src, context))) {
    const real = parseUrl(src, context.base)?.href ?? src;
    const isPlaced = src.startsWith(`${ropewayPath.frame}?`);
    element.set("src", (isPlaced ? src : withWritten(ropewayUrl(ropewayPath.frame, real), src)) + CLOSED_SUFFIX);
    return;
  }
  if (src !== "" || !withScripts) element.set("sandbox", `${sandbox} allow-same-origin`.trim());
}

function rewriteFrame(element: AttributeAccess, context: ElementContext): void {
  // A credentialless frame is in a storage partition of its own, without our service worker.
  if (element.get("credentialless") !== null) element.remove("credentialless");
  // Embedded enforcement wants an answer that our placeholder does not give.
  if (element.get("csp") !== null) element.remove("csp");
  element.mapMarkup("srcdoc", (markup) => {
    const isClosed = markup.startsWith(CLOSED_PREFIX);
    const prefix = isClosed ? CLOSED_PREFIX : SRCDOC_PREFIX;
    const inner = markup.startsWith(prefix) ? markup.slice(prefix.length) : markup;
    return prefix + context.rewriteInner(inner, prefix === "" && !isOpaque(element));
  });
  openSandbox(element, context);
  const written = element.get("src") ?? "";
  const src = frameUrl(written, context);
  if (src !== null) element.set("src", withWritten(src, written));
}

/** `<object data>` and `<embed src>` skip service workers; their own fallback content is shown instead. */
function moveAway(element: AttributeAccess, name: string): void {
  const value = element.get(name);
  if (value === null) return;
  element.remove(name);
  element.set(`data-ropeway-${name}`, value);
}

function rewriteMeta(element: AttributeAccess, context: ElementContext): void {
  const content = element.get("content");
  if (content === null) return;
  let rewritten: string | null = null;
  switch (element.get("http-equiv")?.trim().toLowerCase()) {
    case "content-security-policy":
      rewritten = context.transformPolicy(content);
      break;
    case "refresh":
      rewritten = rewriteRefresh(content, (url) => targetUrl(url, ropewayPath.go, context));
      break;
    case "x-dns-prefetch-control":
      rewritten = "off";
      break;
  }
  if (rewritten !== null && rewritten !== content) element.set("content", rewritten);
}

/** Applies the rules to one element; `name` is its lower-case tag name. */
export function rewriteElement(name: string, element: AttributeAccess, context: ElementContext): void {
  switch (name) {
    case "a":
    case "area":
      if (element.get("ping") !== null) element.remove("ping");
      break;
    case "base": {
      const href = element.get("href");
      const target = href === null ? null : parseUrl(href, context.documentUrl);
      if (target?.origin === context.realOrigin && parseUrl(href ?? "") !== null)
        element.set("href", toSlot(target.href, context));
      break;
    }
    case "frame":
    case "iframe":
      rewriteFrame(element, context);
      break;
    case "link": {
      const rel = neutraliseRelations(element.get("rel") ?? "");
      if (rel !== null) element.set("rel", rel);
      break;
    }
    case "meta":
      rewriteMeta(element, context);
      break;
    case "object":
      moveAway(element, "data");
      break;
    case "embed":
      moveAway(element, "src");
      break;
    case "use":
      // The browser takes it of the document's own origin only.
      for (const name of ["href", "xlink:href"]) {
        const href = element.get(name);
        const own = href === null ? null : resolve(href, context);
        if (href !== null && own?.real.origin === context.realOrigin && !isSlotUrl(own.native, context))
          element.set(name, toSlot(own.real.href, context));
      }
      break;
    case "script":
      if (element.get("type")?.trim().toLowerCase() === "speculationrules")
        element.set("type", "ropeway-speculationrules");
      break;
  }
}
