import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

/** Origins (`http://host:port`, no slash at the end) that the demo's pages link to. */
export interface DemoOrigins {
  readonly demo: string;
  readonly news: string;
  readonly static: string;
  readonly images: string;
}

export interface DemoRequest {
  readonly method: string;
  readonly url: URL;
  readonly cookies: ReadonlyMap<string, string>;
  /** The body, at most 64 KiB. */
  readonly body: Buffer;
}

export interface DemoResponse {
  readonly status?: number;
  readonly type: string;
  readonly body: string | Buffer;
  /** `Cache-Control` of the response. */
  readonly cache: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers every request to one of the demo's hosts; undefined is answered 404 by the server. */
export type DemoHost = (request: DemoRequest) => DemoResponse | undefined;

export const CACHE_PAGE = "no-cache";
export const CACHE_ASSET = "public, max-age=86400";
export const CACHE_NEVER = "no-store";

export function html(body: string, status = 200): DemoResponse {
  return {
    status,
    type: "text/html; charset=utf-8",
    body,
    cache: CACHE_PAGE,
    headers: { vary: "Cookie" },
  };
}

export function seeOther(location: string): DemoResponse {
  return {
    status: 303,
    type: "text/plain",
    body: "",
    cache: CACHE_NEVER,
    headers: { location },
  };
}

export function json(value: unknown, status = 200): DemoResponse {
  return {
    status,
    type: "application/json",
    body: JSON.stringify(value),
    cache: CACHE_NEVER,
  };
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

export function parseCookies(header: string | undefined): ReadonlyMap<string, string> {
  const pairs = (header ?? "").split(";").map((pair): [string, string] => {
    const [name = "", ...value] = pair.split("=");
    return [name.trim(), value.join("=").trim()];
  });
  return new Map(pairs.filter(([name]) => name !== ""));
}

/** Sends the response with a strong ETag, or 304 if the browser has it (RFC 9110, section 13.1.2). */
export function send(request: IncomingMessage, response: ServerResponse, answer: DemoResponse): void {
  const body = Buffer.from(answer.body);
  const status = answer.status ?? 200;
  const headers: Record<string, string> = {
    "cache-control": answer.cache,
    ...answer.headers,
  };
  if (status === 200 && answer.cache !== CACHE_NEVER) {
    headers.etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
    const known = request.headers["if-none-match"]?.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
    if (known?.includes(headers.etag)) {
      response.writeHead(304, headers).end();
      return;
    }
  }
  response.writeHead(status, {
    ...headers,
    "content-type": answer.type,
    "content-length": body.length,
  });
  response.end(request.method === "HEAD" ? undefined : body);
}
