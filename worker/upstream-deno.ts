/** The upstream on Deno: its fetch, its resolver for the check of private addresses, and a key-value store. */
import { lookup } from "node:dns/promises";
import { withTextCookies } from "./cookie-text.ts";
import { demoExemption } from "./demo-exemption.ts";
import { createEdgeBackend, type EdgeBackend } from "./edge-handler.ts";
import type { EdgeOptions } from "./environment.ts";
import { createLoopbackFetch } from "./loopback-fetch-deno.ts";
import { SharedLookups } from "./shared-lookup.ts";
import type { CookieJarStore } from "./upstream/cookie-jar.ts";
import { createUpstreamParts } from "./upstream/create-upstream.ts";
import { startPlatformTimer } from "./upstream/timer.ts";

const loopbackFetch = createLoopbackFetch();
const lookups = new SharedLookups({
  lookUp: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  now: () => Date.now(),
  startTimer: startPlatformTimer,
});

/** Deno's fetch takes no Content-Length: it tells the length of what knows it, and reads a Blob by `stream` alone. */
class StreamedBlob extends Blob {
  readonly #content: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #length: number;

  constructor(content: ReadableStream<Uint8Array>, length: number) {
    super();
    this.#content = content as ReadableStream<Uint8Array<ArrayBuffer>>;
    this.#length = length;
  }

  override get size(): number {
    return this.#length;
  }

  override stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.#content;
  }
}

/** One phone's upstream. Which destinations are allowed is checked before anything is fetched. */
export function createDenoUpstream(options: EdgeOptions, store: CookieJarStore): EdgeBackend {
  const allowPrivate = options.ROPEWAY_ALLOW_PRIVATE === "1";
  const mayReachLoopback = allowPrivate || Boolean(options.ROPEWAY_DEMO_ORIGINS);
  const parts = createUpstreamParts({
    fetch: mayReachLoopback ? loopbackFetch : (request) => fetch(request),
    allowPrivate,
    isExempt: demoExemption(options.ROPEWAY_DEMO_ORIGINS),
    resolveName: lookups.forPhone(),
    cookieJarStore: store,
    now: () => Date.now(),
    withFixedLength: (stream, length) => new StreamedBlob(stream, length),
  });
  return withTextCookies(createEdgeBackend(parts));
}
