/** One entry of a HAR as an exchange with a beginning, an end, and sizes as on an HTTP/1.1 wire. */
import { METHODS, type Method, type SizedExchange } from "../behaviour.ts";
import { fieldLinesLength } from "../replay/head-padding.ts";
import type { HarEntry, HarField, HarInitiator, HarStack } from "./har.ts";

export interface HarExchange extends SizedExchange {
  /** Milliseconds of the epoch. */
  readonly start: number;
  readonly end: number;
  /** Where a redirect led, or null. */
  readonly redirectsTo: string | null;
  /** URLs of the documents and scripts that caused it, the nearest first; null when the HAR does not tell. */
  readonly initiators: readonly string[] | null;
  readonly referrer: string | null;
  /** Whether its body can name other resources: a document, style, script, list or other text. */
  readonly releases: boolean;
}

/** @returns why the entry is no exchange that can be replayed, or null. */
export function omission(entry: HarEntry): string | null {
  const { request, response } = entry;
  if (!/^https?:/i.test(request.url)) return "not http(s)";
  if (response.status <= 0) return "no answer";
  if (response.status === 101) return "WebSocket";
  if (request.method === "OPTIONS" && fieldOf(request.headers, "access-control-request-method") !== null) {
    return "CORS preflight: the browser makes its own";
  }
  if (!METHODS.includes(request.method as Method)) return `method ${request.method}`;
  const cached = entry._fromCache ?? null;
  return cached === null || cached === "" ? null : "from a cache";
}

export function exchangeOf(entry: HarEntry): HarExchange {
  const { request, response } = entry;
  const start = Date.parse(entry.startedDateTime);
  const url = withoutFragment(request.url);
  const { pathname, search } = new URL(url);
  const requestHead =
    request.headersSize > 0
      ? request.headersSize
      : headLength(`${request.method} ${pathname}${search} HTTP/1.1`, request.headers);
  const responseHead =
    response.headersSize > 0
      ? response.headersSize
      : headLength(`HTTP/1.1 ${response.status} ${response.statusText}`, response.headers);
  const bodiless = request.method === "GET" || request.method === "HEAD";
  return {
    start,
    end: start + Math.max(0, entry.time),
    method: request.method as Method,
    url,
    requestHead: Math.round(requestHead),
    requestBody: bodiless ? 0 : Math.round(requestBody(entry)),
    responseHead: Math.round(responseHead),
    responseBody: request.method === "HEAD" ? 0 : Math.round(responseBody(entry)),
    redirectsTo: response.redirectURL ? withoutFragment(new URL(response.redirectURL, url).href) : null,
    initiators: initiatorsOf(entry._initiator),
    referrer: fieldOf(request.headers, "referer"),
    releases: canRelease(response.content?.mimeType ?? ""),
  };
}

function requestBody({ request }: HarEntry): number {
  return request.bodySize >= 0 ? request.bodySize : Buffer.byteLength(request.postData?.text ?? "");
}

/** As transferred, so far as the HAR knows; else decoded. */
function responseBody({ response }: HarEntry): number {
  if (response.bodySize >= 0) return response.bodySize;
  const head = Math.max(0, response.headersSize);
  if (response._transferSize !== undefined && response._transferSize >= head) return response._transferSize - head;
  return Math.max(0, response.content?.size ?? 0);
}

/** Pseudo fields of HTTP/2 and 3 are in the first line, but for the authority, which was Host. */
function headLength(line: string, headers: readonly HarField[]): number {
  const fields = headers.flatMap(({ name, value }): [string, string][] => {
    if (name === ":authority") return [["host", value]];
    return name.startsWith(":") ? [] : [[name, value]];
  });
  return line.length + "\r\n\r\n".length + fieldLinesLength(fields);
}

function initiatorsOf(initiator: HarInitiator | undefined): readonly string[] | null {
  if (initiator === undefined) return null;
  const urls: string[] = [];
  if (initiator.url) urls.push(withoutFragment(initiator.url));
  for (let stack: HarStack | undefined = initiator.stack; stack !== undefined; stack = stack.parent) {
    for (const { url } of stack.callFrames) if (url !== "") urls.push(withoutFragment(url));
  }
  return [...new Set(urls)];
}

function canRelease(mimeType: string): boolean {
  return mimeType === "" || /text|javascript|json|xml|mpegurl|manifest|x-unknown/i.test(mimeType);
}

function fieldOf(headers: readonly HarField[], wanted: string): string | null {
  return headers.find(({ name }) => name.toLowerCase() === wanted)?.value ?? null;
}

function withoutFragment(url: string): string {
  return url.replace(/#.*$/s, "");
}
