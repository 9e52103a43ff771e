/**
 * Documents that answer navigations, with scripts and without: what a response is to the browser, and its text on the way
 * to the page. What is no HTML has the markup that Chromium itself shows for such a resource, so that a page looks the
 * same, plus the page script, without which the shell would not know what is on screen.
 */
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { contentLength, headerValue } from "../../../shared/http/head-fields.ts";
import { isRedirectStatus } from "../../../shared/web/origin.ts";
import { concat } from "../../../shared/wire/frame.ts";
import { escapeHtml, type HtmlRewriter } from "../../slot/rewrite/html-rewriter.ts";
import type { SlotExchange } from "../slot-exchange.ts";
import type { TunnelResponse } from "../tunnel-port.ts";

/** What a navigation's response is to the browser. */
type Outcome =
  /** The answer was redirected within the origin: the browser goes to the final URL, whose request claims the response. */
  | { readonly kind: "redirected" }
  /** A redirect out of the origin. */
  | { readonly kind: "moved"; readonly location: string }
  | { readonly kind: "failed"; readonly error: RopewayError }
  | { readonly kind: DocumentKind; readonly contentType: string };

export async function outcomeOf(exchange: SlotExchange, response: TunnelResponse): Promise<Outcome> {
  if (isRedirected(exchange, response)) return { kind: "redirected" };
  const location = locationOf(response);
  if (location !== null) return { kind: "moved", location };
  const { status, headers } = response.head;
  const contentType = headerValue(headers, "content-type") ?? "";
  const kind = documentKind(status, contentType, headerValue(headers, "content-disposition") ?? "");
  const error = await errorWithoutPage(response, kind);
  return error === null ? { kind, contentType } : { kind: "failed", error };
}

/**
 * Whether the edge followed redirects within the origin: the browser must see the final URL, whose request then claims
 * the response. It would take a form's document for the form's answer, too, and send the form again to reload it.
 */
function isRedirected({ head: asked, request }: SlotExchange, { head }: TunnelResponse): boolean {
  return head.url !== asked.url || (head.redirected && request.method !== "GET");
}

/** Where a response leads that is a redirect, else null. */
export function locationOf({ head }: TunnelResponse): string | null {
  return isRedirectStatus(head.status) ? headerValue(head.headers, "location") : null;
}

/**
 * The URL of another origin that a redirect leads to, or why it cannot be followed.
 *
 * @param hasBody of the request that it answers.
 * @param fragment of the URL that was asked for: it holds where the redirect names none.
 */
export function redirectTarget(
  { head }: TunnelResponse,
  location: string,
  hasBody: boolean,
  fragment: string,
): string | RopewayError {
  const target = URL.parse(location, head.url);
  if (target === null || (head.status >= 307 && hasBody)) {
    const reason = "Cannot follow the redirect: it leads to another site with the data of a form";
    return new RopewayError(ErrorCode.BODY_NOT_REPLAYABLE, "stream", "origin", reason);
  }
  if (target.hash === "") target.hash = head.fragment ?? fragment;
  return target.href;
}

export type DocumentKind = "html" | "image" | "text" | "media" | "download" | "none";

const IMAGE = /^image\/(?:avif|bmp|gif|jpeg|png|svg\+xml|webp|x-icon|vnd\.microsoft\.icon|apng)$/;
const TEXT =
  /^(?:text\/(?!html$)|application\/(?:json|manifest\+json|javascript|xml|rss\+xml|atom\+xml|ld\+json)$)|\+json$/;

/** How the browser would show a response that answers a navigation. */
export function documentKind(status: number, contentType: string, disposition: string): DocumentKind {
  if (status === 204 || status === 205) return "none";
  if (/^\s*attachment/i.test(disposition)) return "download";
  const type = (contentType.split(";")[0] ?? "").trim().toLowerCase();
  if (type === "" || type === "text/html" || type === "application/xhtml+xml") return "html";
  if (IMAGE.test(type)) return "image";
  if (/^(?:audio|video)\//.test(type)) return "media";
  return TEXT.test(type) ? "text" : "download";
}

/**
 * Browsers show a page of their own in the place of an error without one.
 *
 * @returns null where there is something to show.
 */
async function errorWithoutPage(response: TunnelResponse, kind: DocumentKind): Promise<RopewayError | null> {
  const { status, headers, reason = "" } = response.head;
  if (status < 400 || kind === "download") return null;
  const isText = kind === "html" || kind === "text";
  if (contentLength(headers) !== 0 && !(isText && (await response.isEmpty()))) return null;
  const said = `Cannot show the page: the site answered with HTTP error ${status} ${reason}`.trim();
  return new RopewayError(ErrorCode.NO_PAGE, "stream", "origin", said);
}

/** The name that a URL ends in, for people; as it is where it is not percent-encoded UTF-8. */
export function lastOfPath(url: string): string {
  const part = new URL(url).pathname.split("/").pop() ?? "";
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Title of a document that has none of its own. */
export function titleOf(url: string): string {
  return lastOfPath(url) || new URL(url).host;
}

/** @param source URL of the resource on the slot, which the page's own request then gets. */
export function imagePage(source: string, title: string): string {
  return page(
    title,
    "margin:0;height:100%;background-color:rgb(14,14,14)",
    `<img style="display:block;margin:auto;max-width:100%;max-height:100vh;object-fit:contain;background-color:hsl(0,0%,90%)" src="${escapeHtml(source)}" alt="">`,
  );
}

export function mediaPage(source: string, title: string, type: string): string {
  const name = type.startsWith("audio/") ? "audio" : "video";
  return page(
    title,
    "margin:0;height:100%;background-color:rgb(0,0,0)",
    `<${name} controls autoplay style="display:block;margin:auto;max-width:100%;max-height:100vh" src="${escapeHtml(source)}"></${name}>`,
  );
}

/** What comes before and after escaped text. */
export function textPage(title: string): { before: string; after: string } {
  const [before = "", after = ""] = page(
    title,
    "",
    `<pre style="word-wrap:break-word;white-space:pre-wrap">\0</pre>`,
  ).split("\0");
  return { before, after };
}

function page(title: string, bodyStyle: string, content: string): string {
  const style = bodyStyle === "" ? "" : ` style="${bodyStyle}"`;
  return `<!doctype html><html><head><meta name="viewport" content="width=device-width, minimum-scale=0.1"><meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title></head><body${style}>${content}</body></html>`;
}

export interface DocumentText {
  /** Plain text is shown in a page of ours. */
  readonly kind: "html" | "text";
  readonly contentType: string;
  /** Title of a page of ours. */
  readonly title: string;
}

/** A document's text on its way to the page: decoded, rewritten, encoded as UTF-8. */
export function rewrittenBody(
  source: ReadableStream<Uint8Array>,
  rewriter: HtmlRewriter,
  { kind, contentType, title }: DocumentText,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = source.getReader();
  const encoder = new TextEncoder();
  const decoder = new DocumentDecoder(contentType);
  const { before, after } = kind === "text" ? textPage(title) : { before: "", after: "" };
  let opening = before;
  return new ReadableStream(
    {
      async pull(controller) {
        // A pull must yield something, and the rewriter may hold a chunk back until its tag is whole.
        for (;;) {
          const { done, value } = await reader.read();
          const text = decoder.decode(value);
          let out = rewriter.write(opening + (kind === "text" ? escapeHtml(text) : text));
          opening = "";
          if (done) out += rewriter.write(after) + rewriter.end();
          if (out !== "") controller.enqueue(encoder.encode(out));
          if (done) return controller.close();
          if (out !== "") return;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

// Which encoding an HTML document is in: HTML section 13.2.3.2 as far as a streaming reader can know it.

/** How many bytes are looked through for a declaration (HTML section 13.2.3.2, step 5). */
const PRESCAN_BYTES = 1024;
const FALLBACK = "windows-1252";

/** A document's bytes as text, from when its encoding is known: a first chunk may be short, with a declaration in the next. */
export class DocumentDecoder {
  readonly #contentType: string;
  #start: Uint8Array = new Uint8Array(0);
  #decoder: TextDecoder | null = null;

  constructor(contentType: string) {
    this.#contentType = contentType;
  }

  /** @param chunk undefined at the end. */
  decode(chunk: Uint8Array | undefined): string {
    if (this.#decoder !== null) return this.#decoder.decode(chunk, { stream: chunk !== undefined });
    if (chunk !== undefined) this.#start = concat(this.#start, chunk);
    if (chunk !== undefined && !isEnoughToSniff(this.#contentType, this.#start)) return "";
    this.#decoder = new TextDecoder(sniffCharset(this.#contentType, this.#start));
    return this.#decoder.decode(this.#start, { stream: chunk !== undefined });
  }
}

function isEnoughToSniff(contentType: string, start: Uint8Array): boolean {
  // Three bytes may be a byte order mark, which comes before what the field says.
  return start.length >= PRESCAN_BYTES || (start.length >= 3 && declaredIn(contentType, start) !== null);
}

/** @param start first bytes of the document. */
export function sniffCharset(contentType: string, start: Uint8Array): string {
  return declaredIn(contentType, start) ?? (isUtf8(start) ? "utf-8" : FALLBACK);
}

function declaredIn(contentType: string, start: Uint8Array): string | null {
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf) return "utf-8";
  if (start[0] === 0xfe && start[1] === 0xff) return "utf-16be";
  if (start[0] === 0xff && start[1] === 0xfe) return "utf-16le";
  const text = ascii(start.subarray(0, PRESCAN_BYTES));
  return labelIn(`${contentType};`) ?? asciiCompatible(labelIn(text));
}

/** The encoding that the field names, or "". */
export function charsetOf(contentType: string): string {
  return labelIn(`${contentType};`) ?? "";
}

/** At the end of what has come a label may be cut. */
function labelIn(text: string): string | null {
  const label = /charset\s*=\s*(?:["']\s*)?([a-z0-9_:.-]+)(?![a-z0-9_:.-]|$)/i.exec(text)?.[1];
  if (label === undefined) return null;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

/** A document whose declaration could be read as ASCII cannot be in UTF-16 (HTML section 13.2.3.3). */
function asciiCompatible(encoding: string | null): string | null {
  return encoding?.startsWith("utf-16") ? "utf-8" : encoding;
}

function ascii(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

/** A chunk may end inside a character; what is before must be valid. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
