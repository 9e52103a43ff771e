/**
 * What a local edge's Cache API leads to (`cacheApiOutbound`): Cloudflare's cache as far as the edge can tell, in memory.
 * workerd asks by GET, PUT with the whole response as HTTP/1 writes it, and PURGE; `cf-cache-status` says what it found.
 */

/** Bytes of all responses. */
const MOST_BYTES = 64 * 1024 * 1024;

const MOST_ENTRIES = 4096;

const END_OF_HEAD = new TextEncoder().encode("\r\n\r\n");

interface Entry {
  readonly headers: readonly [string, string][];
  readonly body: Uint8Array<ArrayBuffer>;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  /** Bytes, with all that is not the body. */
  readonly size: number;
}

/** The longest unused first. */
const entries = new Map<string, Entry>();
let bytes = 0;

export default {
  async fetch(request): Promise<Response> {
    const key = `${request.headers.get("cf-cache-namespace") ?? ""} ${request.url}`;
    if (request.method === "PUT") {
      put(key, parse(new Uint8Array(await request.arrayBuffer())));
      return new Response(null, { status: 204 });
    }
    const entry = take(key);
    if (request.method === "PURGE") return new Response(null, { status: entry === undefined ? 404 : 200 });
    if (entry === undefined || entry.expires < Date.now()) {
      return new Response(null, { status: 504, headers: { "cf-cache-status": "MISS" } });
    }
    put(key, entry);
    return new Response(entry.body, { headers: [...entry.headers, ["cf-cache-status", "HIT"]] });
  },
} satisfies ExportedHandler;

function put(key: string, entry: Entry | null): void {
  take(key);
  if (entry === null || entry.size > MOST_BYTES) return;
  entries.set(key, entry);
  bytes += entry.size;
  for (const oldest of entries.keys()) {
    if (bytes <= MOST_BYTES && entries.size <= MOST_ENTRIES) return;
    take(oldest);
  }
}

function take(key: string): Entry | undefined {
  const entry = entries.get(key);
  if (entries.delete(key)) bytes -= entry?.size ?? 0;
  return entry;
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
