/**
 * What a local edge's Cache API leads to (`cacheApiOutbound`): Cloudflare's cache as far as the edge can tell, in memory.
 * workerd asks by GET, PUT with the whole response as HTTP/1 writes it, and PURGE; `cf-cache-status` says what it found.
 */

import { EntriesBySite, SITE_FIELD } from "../../worker/shared-cache/site-entries.ts";

/** Bytes of all responses. */
const MOST_BYTES = 64 * 1024 * 1024;

const END_OF_HEAD = new TextEncoder().encode("\r\n\r\n");

interface Entry {
  readonly headers: readonly [string, string][];
  readonly body: Uint8Array<ArrayBuffer>;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  /** Bytes, with all that is not the body. */
  readonly size: number;
}

const entries = new Map<string, Entry>();
const order = new EntriesBySite(MOST_BYTES);

export default {
  async fetch(request): Promise<Response> {
    const key = `${request.headers.get("cf-cache-namespace") ?? ""} ${request.url}`;
    if (request.method === "PUT") {
      put(key, parse(new Uint8Array(await request.arrayBuffer())));
      return new Response(null, { status: 204 });
    }
    const entry = entries.get(key);
    if (request.method === "PURGE" || (entry !== undefined && entry.expires < Date.now())) drop(key);
    if (request.method === "PURGE") return new Response(null, { status: entry === undefined ? 404 : 200 });
    if (entry === undefined || !entries.has(key)) {
      return new Response(null, { status: 504, headers: { "cf-cache-status": "MISS" } });
    }
    order.use(key);
    return new Response(entry.body, { headers: [...entry.headers, ["cf-cache-status", "HIT"]] });
  },
} satisfies ExportedHandler;

function put(key: string, entry: Entry | null): void {
  drop(key);
  if (entry === null) return;
  entries.set(key, entry);
  const site = entry.headers.find(([name]) => name === SITE_FIELD)?.[1] ?? "";
  for (const gone of order.put(site, key, entry.size)) entries.delete(gone);
}

function drop(key: string): void {
  entries.delete(key);
  order.delete(key);
}

/** @returns null for what Cloudflare would not keep. */
function parse(message: Uint8Array<ArrayBuffer>): Entry | null {
  const end = message.findIndex((_, index) => END_OF_HEAD.every((byte, i) => message[index + i] === byte));
  const [, ...lines] = new TextDecoder("latin1").decode(message.subarray(0, end)).split("\r\n");
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const control = headers.find(([name]) => name === "cache-control")?.[1] ?? "";
  const seconds = /max-age=(\d+)/.exec(control)?.[1];
  if (end < 0 || seconds === undefined) return null;
  const body = message.slice(end + END_OF_HEAD.length);
  return { headers, body, expires: Date.now() + Number(seconds) * 1000, size: message.length + 1024 };
}
