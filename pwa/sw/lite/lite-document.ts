/** Answers the navigation of a page without scripts. */
import { byteStringToBytes, bytesToByteString } from "../../../shared/base-encodings.ts";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { headerValues } from "../../../shared/http/head-fields.ts";
import type { HeaderList } from "../../../shared/http/heads.ts";
import { LITE_PATH } from "../../../shared/subprotocol.ts";
import type { ShownDocument } from "../../../shared/web/documents.ts";
import { hasNullBody, parseUrl } from "../../../shared/web/origin.ts";
import { parsePolicies, serializePolicy } from "../../../shared/web/policies.ts";
import { type LiteOutcome, liteAddress, placeInPage } from "../../messages/lite-messages.ts";
import { allowedConnections, type PolicyContext, slotPermissionsPolicy, transformPolicies } from "../../slot/policy.ts";
import {
  type AttributeAccess,
  type ElementContext,
  HtmlRewriter,
  LONGEST_BASE,
  type MarkupRules,
  rewriteLink,
  type TextEditor,
  type TextRules,
} from "../../slot/rewrite/html-rewriter.ts";
import {
  bytesOf,
  imagePage,
  mediaPage,
  outcomeOf,
  redirectTarget,
  rewrittenBody,
  shownType,
  titleOf,
} from "../answer/document.ts";
import { PortLost } from "../port-lost.ts";
import { type SlotExchange, trackedBody } from "../slot-exchange.ts";
import type { TunnelResponse } from "../tunnel-port.ts";

export interface LiteNavigation extends SlotExchange {
  /** Fragment of the URL asked for, with "#", or "". */
  readonly fragment: string;
  tell(outcome: LiteOutcome): void;
  /** The browser comes back for this address, by a redirect. */
  expect(address: string): void;
}

export async function answerLiteNavigation(navigation: LiteNavigation): Promise<Response> {
  let response: TunnelResponse;
  try {
    response = await navigation.send();
  } catch (error) {
    if (error instanceof PortLost) throw error;
    return failed(navigation, error);
  }
  const outcome = await outcomeOf(navigation, response);
  switch (outcome.kind) {
    case "redirected":
      return redirected(navigation, response);
    case "moved":
      return moved(navigation, response, outcome.location);
    case "failed":
      response.cancel();
      return failed(navigation, outcome.error);
    default:
      return documentOf(navigation, response, outcome);
  }
}

/** Within the origin. */
function redirected(navigation: LiteNavigation, response: TunnelResponse): Response {
  const { url, fragment } = response.head;
  response.hold();
  navigation.finish();
  const address = liteAddress(url);
  navigation.expect(address);
  return Response.redirect(address + (fragment ?? navigation.fragment), 302);
}

/** To another origin, which the window goes to. */
function moved(navigation: LiteNavigation, response: TunnelResponse, location: string): Response {
  response.cancel();
  const target = redirectTarget(response, location, navigation.request.method !== "GET", navigation.fragment);
  if (target instanceof RopewayError) return failed(navigation, target);
  navigation.finish();
  navigation.tell({ kind: "moved", url: target, from: response.head.url });
  return emptyDocument(navigation);
}

function failed(navigation: LiteNavigation, error: unknown): Response {
  navigation.finish();
  const code = error instanceof RopewayError ? error.code : ErrorCode.INTERNAL_ERROR;
  const message = error instanceof Error ? error.message : "Cannot load the page: internal error";
  if (code === ErrorCode.CANCEL) return stay();
  const url = navigation.head.url + navigation.fragment;
  navigation.tell({ kind: "failed", url, method: navigation.request.method, code, message });
  return emptyDocument(navigation);
}

/** The page before stays in the frame (HTML section 7.4.5). */
export function stay(): Response {
  return new Response(null, { status: 204 });
}

/** In place of a document that does not come. */
function emptyDocument({ context }: LiteNavigation): Response {
  return new Response("", { headers: liteHeaders([], { ...context, nonce: "" }) });
}

/** As what it shows: no script reads its elements. */
function withoutScripts(document: ShownDocument): ShownDocument {
  const { kind, essence } = document;
  if (kind !== "xml" || essence === "application/xhtml+xml") return document;
  return { ...document, kind: essence === "image/svg+xml" ? "image" : "text" };
}

function documentOf(navigation: LiteNavigation, response: TunnelResponse, shown: ShownDocument): Response {
  const { head } = response;
  const title = titleOf(head.url);
  const document = withoutScripts(shown);
  const { kind, essence } = document;
  switch (kind) {
    case "none":
    case "download":
      response.cancel();
      navigation.finish();
      navigation.noDocument();
      if (kind === "download") navigation.tell({ kind: "download", url: head.url });
      return stay();
    case "image":
    case "media":
      // The viewer's own request for the same URL claims the response.
      response.hold();
      navigation.finish();
      tellDocument(navigation, head.status);
      return viewer(navigation, (kind === "image" ? imagePage : mediaPage)(liteAddress(head.url), title, essence));
    case "text":
    case "xml":
    case "html":
      return rewritten(navigation, response, document);
  }
}

function tellDocument(navigation: LiteNavigation, status: number): void {
  const url = navigation.head.url + navigation.fragment;
  const isPosted = navigation.request.method !== "GET";
  navigation.tell({ kind: "document", url, isPosted, isError: status >= 400 });
}

/** A whole small document of ours. */
function viewer({ context }: LiteNavigation, html: string): Response {
  return new Response(html, { headers: liteHeaders([], { ...context, nonce: "" }) });
}

/** The document as it streams. */
function rewritten(navigation: LiteNavigation, response: TunnelResponse, document: ShownDocument): Response {
  const { head } = response;
  const context = { ...navigation.context, nonce: "" };
  const headers = liteHeaders(head.headers, context);
  headers.set("content-type", shownType(document));
  const tracked = trackedBody(navigation, response);
  tellDocument(navigation, head.status);
  if (hasNullBody(navigation.request.method, head.status)) return new Response(null, { status: head.status, headers });
  const hasHash = (policies: string) =>
    parsePolicies(policies).some((policy) => {
      const sources = policy.get("style-src-elem") ?? policy.get("style-src") ?? policy.get("default-src");
      return sources?.some((source) => /^'sha/i.test(source));
    });
  // A style that is allowed by its hash must not change. It may lack its fonts then.
  let isHashed = headerValues(head.headers, "content-security-policy").some(hasHash);
  const transformPolicy = (content: string) => {
    isHashed ||= hasHash(content);
    return keptPolicies([content], context).join(", ");
  };
  const style: TextRules["style"] = (element) => (isHashed ? AS_IT_IS : placedStyle(element));
  const bytes = bytesOf(document);
  const { values } = bytes;
  const language = document.kind === "xml" ? "xml" : LITE_RULES.language;
  const rules: MarkupRules = { ...LITE_RULES, language, texts: { style } };
  const rewriter = new HtmlRewriter({ ...context, documentUrl: head.url, transformPolicy, values }, null, rules);
  const editor = document.kind === "xml" ? withoutDeclarations(rewriter) : rewriter;
  const body = rewrittenBody(tracked as ReadableStream<Uint8Array>, editor, bytes, document, titleOf(head.url));
  return new Response(body, { status: head.status, headers });
}

const DECLARATION = /<!(?=ENTITY|ATTLIST)/g;
const DECLARATION_LENGTH = "<!ATTLIST".length;

/**
 * For XML: entities and attributes that a document declares are in no tag, so that no rule would see a field for
 * passwords which they make. A document that declares some is none any more, and the browser says that.
 */
export function withoutDeclarations(next: TextEditor): TextEditor {
  let pending = "";
  return {
    write(text) {
      const all = (pending + text).replace(DECLARATION, "<! ");
      const decided = Math.max(0, all.length - DECLARATION_LENGTH + 1);
      pending = all.slice(decided);
      return next.write(all.slice(0, decided));
    },
    end: () => next.write(pending) + next.end(),
  };
}

/** Nothing in them acts for the whole origin, which is the app's. */
const KEPT_FIELDS: ReadonlySet<string> = new Set(["content-language", "referrer-policy"]);

/** Directives that an origin's policy may set: where pictures, styles, fonts and films come from. */
const KEPT_DIRECTIVES: ReadonlySet<string> = new Set([
  "default-src",
  "font-src",
  "img-src",
  "media-src",
  "style-src",
  "style-src-attr",
  "style-src-elem",
]);

/**
 * Whatever a frame around it may. The sandbox holds for the document itself, so that the one frame of a tab can show
 * pages with scripts and without.
 */
const POLICY = [
  "sandbox allow-same-origin allow-forms allow-modals",
  "default-src http: https: data: blob:",
  "script-src 'none'",
  "style-src http: https: data: blob: 'unsafe-inline'",
  "connect-src 'none'",
  "object-src 'none'",
  "frame-src 'none'",
  "worker-src 'none'",
  "manifest-src 'none'",
  "form-action 'self'",
  "base-uri http: https:",
  "frame-ancestors 'self'",
].join("; ");

/** @param values field lines, or one `content` of `<meta http-equiv>`. @returns a value for each policy. */
function keptPolicies(values: readonly string[], context: PolicyContext): string[] {
  const { policies } = transformPolicies(values, context);
  return policies.flatMap(parsePolicies).flatMap((policy) => {
    for (const [name, sources] of [...policy]) {
      if (!KEPT_DIRECTIVES.has(name)) policy.delete(name);
      // A path without a slash at its end is one file's.
      else
        policy.set(
          name,
          sources.map((source) => (source === context.slotOrigin ? `${source}/` : source)),
        );
    }
    return policy.size === 0 ? [] : [serializePolicy(policy)];
  });
}

/**
 * The fields of a document without scripts. None of the origin's but those that are named here.
 *
 * @param headers of the origin's response; none for a document of the app's own.
 */
export function liteHeaders(headers: HeaderList, context: PolicyContext): Headers {
  const kept = new Headers({
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": POLICY,
    "connection-allowlist": allowedConnections(),
    "permissions-policy": slotPermissionsPolicy,
    "x-content-type-options": "nosniff",
    "x-dns-prefetch-control": "off",
    "cross-origin-resource-policy": "same-origin",
  });
  for (const [name, value] of headers) if (KEPT_FIELDS.has(name)) kept.append(name, value);
  for (const policy of keptPolicies(headerValues(headers, "content-security-policy"), context))
    kept.append("content-security-policy", policy);
  // http: addresses of a page whose place is https: would be blocked before the service worker sees them.
  if (context.slotOrigin.startsWith("https:") && context.realOrigin.startsWith("http:"))
    kept.append("content-security-policy", "upgrade-insecure-requests");
  return kept;
}

/** Where elements lead, by the attributes that say it. Of `use`, documents of the page's own origin only are taken. */
const LEADING: Readonly<Record<string, readonly string[]>> = {
  a: ["href", "xlink:href"],
  area: ["href"],
  button: ["formaction"],
  form: ["action"],
  input: ["formaction"],
  use: ["href", "xlink:href"],
};

/** Attributes by which elements load: addresses, lists of them, and styles. */
const LOADED = ["src", "poster", "background", "data-src"];
const LOADED_BY_LINKS = ["href", "xlink:href"];
const LOADED_OF_LISTS = ["srcset", "imagesrcset", "data-srcset"];
const STYLED = ["style", "filter", "mask", "clip-path", "fill", "stroke", "cursor"].concat(
  ["", "-start", "-mid", "-end"].map((end) => `marker${end}`),
);
const LOADS = /(?:src|srcset|poster|background|href)\s*=|url\(|image-set\(/i;

/** New windows do not open, downloads need a document that may, pings and attribution go past the service worker. */
const TAKEN_AWAY = ["target", "formtarget", "ping", "download", "attributionsrc"];

/** Elements that show documents or plug-ins inside the page. */
const EMBEDDED = ["src", "srcdoc", "data"];

/** A person's apps for these are the app's to open. RFC 6068, 3966, 5724. */
const OTHER_APPS = /^(?:mailto|tel|sms):/;

/** @returns null to leave it as it is. */
function placeOf(name: string, url: string, context: ElementContext): string | null {
  // Of a document whose address is long the browser knows more than the base that is left.
  const isPart = /^\s*(?:#|$)/.test(url) && (name === "use" || context.documentUrl.length > LONGEST_BASE);
  // A form without an address goes to its document, whatever its base is (HTML section 4.10.21.3).
  const isOwn = name !== "a" && name !== "area" && url.trim() === "";
  if (isPart || isOwn) return null;
  const target = parseUrl(url, context.base);
  if (target === null) return null;
  if (OTHER_APPS.test(target.protocol)) return LITE_PATH + target.href;
  if (target.protocol !== "http:" && target.protocol !== "https:") return null;
  if (name === "use" && target.origin !== context.realOrigin) return null;
  return liteAddress(target.href);
}

function rewriteLoaded(name: string, element: AttributeAccess, { base, realOrigin }: ElementContext): void {
  const placeOf = (written: string) => placeInPage(written, base, realOrigin);
  const change = (attribute: string, changed: (value: string) => string | null) => {
    const value = element.get(attribute);
    const place = value === null ? null : changed(value);
    if (place !== null && place !== value) element.set(attribute, place);
  };
  for (const attribute of LOADED) change(attribute, placeOf);
  if (LEADING[name] === undefined && name !== "base") for (const link of LOADED_BY_LINKS) change(link, placeOf);
  for (const list of LOADED_OF_LISTS) change(list, (value) => placesInList(value, placeOf));
  for (const style of STYLED) change(style, (value) => placesInStyle(value, placeOf));
}

/** A candidate's address in a `srcset`, and the commas that end it (HTML section 4.8.4.2.2). */
const CANDIDATE = /[\s,]*([^\s,]\S*)/y;

function placesInList(list: string, placeOf: (written: string) => string | null): string {
  let out = "";
  let at = 0;
  CANDIDATE.lastIndex = 0;
  for (let found = CANDIDATE.exec(list); found !== null; found = CANDIDATE.exec(list)) {
    const [, written = ""] = found;
    let length = written.length;
    while (written[length - 1] === ",") length -= 1;
    const start = CANDIDATE.lastIndex - written.length;
    const place = placeOf(written.slice(0, length));
    if (place !== null) {
      out += list.slice(at, start) + place;
      at = start + length;
    }
    const comma = length < written.length ? start + length : list.indexOf(",", start + length);
    if (comma === -1) break;
    CANDIDATE.lastIndex = comma;
  }
  return out + list.slice(at);
}

function rewrite(name: string, element: AttributeAccess, context: ElementContext): void {
  for (const attribute of TAKEN_AWAY) if (element.get(attribute) !== null) element.remove(attribute);
  for (const attribute of LEADING[name] ?? []) {
    const written = element.get(attribute);
    const place = written === null ? null : placeOf(name, written, context);
    if (place !== null) element.set(attribute, place);
  }
  rewriteLoaded(name, element, context);
  switch (name) {
    case "base":
      rewriteBase(element, context);
      break;
    case "embed":
    case "frame":
    case "iframe":
    case "object":
      for (const attribute of EMBEDDED) if (element.get(attribute) !== null) element.remove(attribute);
      break;
    case "input":
      // All sites share one origin here, for the browser's list of passwords, too.
      if (element.get("type")?.trim().toLowerCase() === "password") element.set("autocomplete", "new-password");
      break;
    case "link":
      rewriteLink(element);
      break;
    case "meta":
      rewriteMeta(element, context);
  }
}

function rewriteBase(element: AttributeAccess, { documentUrl, realOrigin }: ElementContext): void {
  const href = element.get("href");
  const base = href === null ? null : parseUrl(href, documentUrl);
  if (base !== null) element.set("href", base.origin === realOrigin ? liteAddress(base.href) : base.href);
}

function rewriteMeta(element: AttributeAccess, context: ElementContext): void {
  const content = element.get("content");
  switch (element.get("http-equiv")?.trim().toLowerCase()) {
    case "content-security-policy":
      element.set("content", context.transformPolicy(content ?? ""));
      break;
    // Nothing goes on by itself without scripts (HTML section 7.1.5, "sandboxed automatic features").
    case "refresh":
    case "x-dns-prefetch-control":
      element.remove("http-equiv");
  }
}

/**
 * Which attributes are changed in a page without scripts. A link to another document leads to its place on the base
 * host, and so do the files of the page's own origin, by whatever address. An address that is missed leads nowhere: the
 * app's policy has no frame of another origin, and its worker refuses files of its own host that are not at their place.
 * Nothing that only scripts could do has to be thought of.
 */
export const LITE_RULES: MarkupRules = {
  elements: new Set([...Object.keys(LEADING), "base", "embed", "frame", "iframe", "img", "link", "meta", "object"]),
  inLinks: /href|target|ping|download|attributionsrc|src|poster|background|url\(|image-set\(/i,
  inOthers: LOADS,
  rewrite,
  language: "html without scripts",
  // They are taken away.
  inner: () => (markup) => markup,
  texts: { style: placedStyle },
};

function placedStyle({ base, realOrigin, values }: ElementContext): TextEditor {
  return new StylePlaces((written) => placeInPage(values?.decodeAddress(written) ?? written, base, realOrigin));
}

const AS_IT_IS: TextEditor = { write: (text) => text, end: () => "" };

/** Characters of a token that is waited for; a longer one is no address of a file, and passes as it is. */
const WAITED_FOR = 8 * 1024;

/** Where something begins that counts. */
const START = /\/\*|["']|url\(|@import|image-set\(|[;{}]/gi;
/** Longest of those, less one: the end of a piece may be the first part of one. */
const START_LENGTH = 9;

const ENDS: Readonly<Record<string, RegExp>> = {
  "/*": /\*\//g,
  '"': /(?:\\[\s\S]|[^"\\\n])*(?:"|\n)/y,
  "'": /(?:\\[\s\S]|[^'\\\n])*(?:'|\n)/y,
  // Of two ways to read a character there is never more than one, so that reading is linear.
  "url(": /\s*"(?:\\[\s\S]|[^"\\])*"\s*\)|\s*'(?:\\[\s\S]|[^'\\])*'\s*\)|(?:\\[\s\S]|[^)\\"'])*\)/y,
};

/**
 * The same, for a token whose start has passed. Of it goes by at least what was looked at in vain before: nothing is looked at
 * once more for the next token.
 */
const PASSED: Readonly<Record<string, RegExp>> = { ...ENDS, "url(": /(?:\\[\s\S]|[^)\\])*\)/y };

const ESCAPE = /\\(?:([0-9a-f]{1,6})\s?|(\n)|([\s\S]))/gi;

function unescaped(text: string): string {
  return text.replace(ESCAPE, (_match, hex?: string, newline?: string, other?: string) => {
    if (hex === undefined) return newline === undefined ? (other ?? "") : "";
    const code = Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
}

/**
 * Addresses in style sheets of pages without scripts, as they stream by: `url()`, `@import`, `image-set()`. Those that
 * would lead elsewhere than on their site become places. Tokens are those of CSS Syntax section 4. The app's worker
 * refuses an address that is missed here.
 */
export class StylePlaces implements TextEditor {
  readonly #placeOf: (written: string) => string | null;
  #pending = "";
  /** Token whose end is not there yet, and of which nothing is changed. */
  #passing: string | null = null;
  /** Strings are addresses. */
  #isAddress = false;

  /** @param placeOf as `placeInPage`. */
  constructor(placeOf: (written: string) => string | null) {
    this.#placeOf = placeOf;
  }

  write(text: string): string {
    this.#pending += text;
    return this.#scan(false);
  }

  end(): string {
    return this.#scan(true);
  }

  #scan(isLast: boolean): string {
    const text = this.#pending;
    let out = "";
    let at = 0;
    for (;;) {
      if (this.#passing !== null) {
        const end = endOf(PASSED, this.#passing, text, at);
        // A comment's last two characters may be in two pieces.
        const passed = end ?? (isLast ? text.length : Math.max(at, text.length - 1));
        out += text.slice(at, passed);
        at = passed;
        if (end === null) break;
        this.#passing = null;
      }
      START.lastIndex = at;
      const found = START.exec(text);
      if (found === null) {
        const safe = isLast ? text.length : Math.max(at, text.length - START_LENGTH);
        out += text.slice(at, safe);
        at = safe;
        break;
      }
      const token = found[0].toLowerCase();
      const start = found.index + found[0].length;
      out += text.slice(at, start);
      at = start;
      if (!(token in ENDS)) {
        this.#isAddress = token === "@import" || token === "image-set(";
        continue;
      }
      const end = endOf(ENDS, token, text, start);
      if (end !== null) {
        out += this.#changed(token, text.slice(start, end));
        at = end;
      } else if (isLast || token === "/*" || text.length - start > WAITED_FOR) this.#passing = token;
      else {
        // The token's start comes again with what follows.
        out = out.slice(0, -found[0].length);
        at = found.index;
        break;
      }
    }
    this.#pending = text.slice(at);
    return out;
  }

  /** @param rest of the token, after its first characters. */
  #changed(token: string, rest: string): string {
    if (token === "/*" || (token !== "url(" && !this.#isAddress)) return rest;
    const inner =
      token === "url("
        ? rest
            .slice(0, -1)
            .trim()
            .replace(/^["']|["']$/g, "")
        : rest.slice(0, -1);
    const place = this.#placeOf(unescaped(inner));
    if (place === null) return rest;
    const written = place.replace(/["'()\\\s]/g, (each) => `\\${each.charCodeAt(0).toString(16)} `);
    return token === "url(" ? `"${written}")` : written + rest.slice(-1);
  }
}

function endOf(ends: Readonly<Record<string, RegExp>>, token: string, text: string, from: number): number | null {
  const end = ends[token];
  if (end === undefined) return null;
  end.lastIndex = from;
  return end.test(text) ? end.lastIndex : null;
}

/** A value of CSS, as of a `style` attribute. */
export function placesInStyle(value: string, placeOf: (written: string) => string | null): string {
  const places = new StylePlaces(placeOf);
  return places.write(value) + places.end();
}

/**
 * A style sheet's bytes, in an encoding that has ASCII.
 *
 * @param url of the sheet, real.
 */
export function placesInSheet(url: string): TransformStream<Uint8Array, Uint8Array<ArrayBuffer>> {
  const { origin } = new URL(url);
  const encoded = (written: string) =>
    written.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  const places = new StylePlaces((written) => placeInPage(encoded(written), url, origin));
  return new TransformStream({
    transform(chunk, controller) {
      const out = byteStringToBytes(places.write(bytesToByteString(chunk)));
      if (out.length > 0) controller.enqueue(out);
    },
    flush: (controller) => controller.enqueue(byteStringToBytes(places.end())),
  });
}
