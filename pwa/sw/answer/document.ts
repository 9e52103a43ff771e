/**
 * Documents that answer navigations, with scripts and without: what a response is to the browser, and its text on the way
 * to the page. What is no HTML has the markup that Chromium itself shows for such a resource, so that a page looks the
 * same, plus the page script, without which the shell would not know what is on screen.
 */
import { ErrorCode, later, RopewayError } from "../../../shared/errors.ts";
import { contentLength, headerValue } from "../../../shared/http/head-fields.ts";
import {
  DocumentBytes,
  isJson,
  type ShownDocument,
  shownDocument,
  writtenEncoding,
} from "../../../shared/web/documents.ts";
import { decodeByteString, isRedirectStatus, locationIn } from "../../../shared/web/origin.ts";
import { escapeHtml, type TextEditor } from "../../slot/rewrite/html-rewriter.ts";
import type { SlotExchange } from "../slot-exchange.ts";
import type { TunnelResponse } from "../tunnel-port.ts";

/** Kinds of a navigation's response, to the browser. */
type Outcome =
  /** The answer was redirected within the origin: the browser goes to the final URL, whose request claims the response. */
  | { readonly kind: "redirected" }
  /** A redirect out of the origin. */
  | { readonly kind: "moved"; readonly location: string }
  | { readonly kind: "failed"; readonly error: RopewayError }
  | ShownDocument;

export async function outcomeOf(exchange: SlotExchange, response: TunnelResponse): Promise<Outcome> {
  if (isRedirected(exchange, response)) return { kind: "redirected" };
  const location = locationOf(response);
  if (location !== null) return { kind: "moved", location };
  const { status, headers } = response.head;
  const document = shownDocument(status, headers);
  const error = await errorWithoutPage(response, document);
  return error === null ? document : { kind: "failed", error };
}

/**
 * Whether the edge followed redirects within the origin: the browser must see the final URL, whose request then claims
 * the response. It would take a form's document for the form's answer, too, and send the form again to reload it.
 */
function isRedirected({ head: asked, request }: SlotExchange, { head }: TunnelResponse): boolean {
  return head.url !== asked.url || (head.redirected && request.method !== "GET");
}

/** Where a response leads that is a redirect, else null. Browsers show one that says nowhere. */
export function locationOf({ head }: TunnelResponse): string | null {
  const field = isRedirectStatus(head.status) ? headerValue(head.headers, "location") : null;
  return locationIn(field ?? "") || null;
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
  const target = URL.parse(decodeByteString(location), head.url);
  if (target === null || (head.status >= 307 && hasBody)) {
    const reason = later("Cannot follow the redirect: it leads to another site with the data of a form");
    return new RopewayError(ErrorCode.BODY_NOT_REPLAYABLE, "stream", "origin", reason);
  }
  if (target.hash === "") target.hash = head.fragment ?? fragment;
  return target.href;
}

/**
 * Browsers show a page of their own in the place of an error without one.
 *
 * @returns null where there is something to show.
 */
async function errorWithoutPage(response: TunnelResponse, { kind }: ShownDocument): Promise<RopewayError | null> {
  const { status, headers } = response.head;
  if (status < 400 || kind === "download") return null;
  const isText = kind === "html" || kind === "xml" || kind === "text";
  if (contentLength(headers) !== 0 && !(isText && (await response.isEmpty()))) return null;
  const said = `Cannot show the page: ${later("the site answered with HTTP error {number}").replace("{number}", `${status}`)}`;
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

/**
 * What Chromium makes of a picture. @param source URL of the resource on the slot, which the page's own request then gets.
 */
export function imagePage(source: string, title: string): string {
  return `<!doctype html><html style="height: 100%;"><head><meta name="viewport" content="width=device-width, minimum-scale=0.1"><title>${escapeHtml(title)}</title></head><body style="margin: 0px; height: 100%; background-color: rgb(14, 14, 14);"><img style="display: block;margin: auto;max-width:100%;max-height:100vh;object-fit:contain;background-color: hsl(0, 0%, 90%);" src="${escapeHtml(source)}"></body></html>`;
}

/** `view/view.ts` fills it. */
export function pdfPage(title: string): string {
  return `<!doctype html><html><head><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title></head><body></body></html>`;
}

export function mediaPage(source: string, title: string, type: string): string {
  const name = type.startsWith("audio/") ? "audio" : "video";
  return `<!doctype html><html><head><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title></head><body style="margin:0;height:100%;background-color:rgb(0,0,0)"><${name} controls autoplay style="display:block;margin:auto;max-width:100%;max-height:100vh" src="${escapeHtml(source)}"></${name}></body></html>`;
}

/**
 * What Chromium has before and after escaped text.
 *
 * @param title where nothing else tells it.
 */
export function textPage(essence: string, title = ""): { before: string; after: string } {
  const [meta, style, end] = isJson(essence)
    ? ['<meta charset="utf-8">', "", '<div class="json-formatter-container"></div>']
    : ["", ' style="word-wrap: break-word; white-space: pre-wrap;"', ""];
  const titled = title === "" ? "" : `<title>${escapeHtml(title)}</title>`;
  // The parser leaves out a line feed that the element begins with.
  const before = `<!doctype html><html><head><meta name="color-scheme" content="light dark">${meta}${titled}</head><body><pre${style}>\n`;
  return { before, after: `</pre>${end}</body></html>` };
}

/** The field for the document that the browser gets. An encoding that it is not told it finds in the document, or guesses. */
export function shownType({ kind, essence, encoding }: ShownDocument): string {
  const written = writtenEncoding(encoding);
  const shown = kind === "xml" ? essence : "text/html";
  return written === null ? shown : `${shown}; charset=${written}`;
}

export function bytesOf({ kind, encoding }: ShownDocument): DocumentBytes {
  return new DocumentBytes(encoding, kind === "text");
}

/** A document on its way to the page, rewritten. @param title of plain text, where nothing else tells it. */
export function rewrittenBody(
  source: ReadableStream<Uint8Array>,
  rewriter: TextEditor,
  bytes: DocumentBytes,
  { kind, essence }: ShownDocument,
  title = "",
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = source.getReader();
  const { before, after } = kind === "text" ? textPage(essence, title) : { before: "", after: "" };
  let opening = before;
  return new ReadableStream(
    {
      async pull(controller) {
        // A pull must yield something, and the rewriter may hold a chunk back until its tag is whole.
        for (;;) {
          const { done, value } = await reader.read();
          const text = bytes.read(value);
          if (!done && text === "") continue;
          let out = rewriter.write(opening + (kind === "text" ? escapeHtml(text) : text));
          opening = "";
          if (done) out += rewriter.write(after) + rewriter.end();
          if (out !== "") controller.enqueue(bytes.write(out));
          if (done) return controller.close();
          if (out !== "") return;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
