import type { ReplayStep } from "./replay-plan.ts";

/** What Chromium adds to a fetch() of the page's own origin but for what is counted below: measured over HTTP/1.1. */
const OTHER_FIELDS = 363;

/** Bytes of a same-origin request head as Chromium writes it over HTTP/1.1, before any field of ours. */
export function ownRequestHead(
  { method, requestBody }: Pick<ReplayStep, "method" | "requestBody">,
  url: URL,
  userAgent: string,
): number {
  const line = `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nuser-agent: ${userAgent}\r\n`;
  const body =
    method === "GET" || method === "HEAD" ? "" : `content-length: ${requestBody}\r\norigin: ${url.origin}\r\n`;
  return line.length + body.length + OTHER_FIELDS;
}
