/**
 * Documents for navigations that yield no HTML. They have the markup that Chromium itself shows for such a resource, so
 * that a page looks the same, plus our page script, without which the shell would not know what is on screen.
 */

import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { contentLength } from "../../../shared/http/head-fields.ts";
import { escapeHtml } from "../../slot/rewrite/html-tag.ts";
import type { TunnelResponse } from "../tunnel-port.ts";

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
export async function errorWithoutPage(response: TunnelResponse, kind: DocumentKind): Promise<RopewayError | null> {
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
