/** The upstream on Deno: its fetch, its resolver for addresses that were checked, and a key-value store. */

import { lookup } from "node:dns/promises";
import { epochClock } from "../../shared/clock.ts";
import { createEdgeBackend, type EdgeBackend } from "../delivery/edge-handler.ts";
import { type EdgeOptions, EdgeSettings } from "../front/edge-settings.ts";
import type { SharedResponses } from "../shared-cache/shared-responses.ts";
import type { CookieJarStore } from "../upstream/cookie-jar.ts";
import { resolveDestination } from "../upstream/destination.ts";
import { type ByteConnection, openOverConnection } from "../upstream/origin-socket.ts";
import { OfflineCheck, readKnownHosts } from "../upstream/send.ts";
import { createUpstreamParts } from "../upstream/upstream.ts";
import { CheckedFetch, connectTo, fetchUnread } from "./checked-fetch-deno.ts";
import { SharedLookups } from "./shared-lookup.ts";

const checkedFetch = new CheckedFetch();
const lookups = new SharedLookups({
  lookUp: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  ...epochClock,
});

const lookUpKnown = lookups.forPhone();

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

/**
 * Upstream of one phone.
 *
 * @param shared of all phones; null where they share nothing.
 */
export function createDenoUpstream(
  options: EdgeOptions,
  store: CookieJarStore,
  shared: SharedResponses | null,
): EdgeBackend {
  const { destinations } = new EdgeSettings(options);
  const resolveName = lookups.forPhone();
  const addressesOf = (url: URL, signal: AbortSignal) => resolveDestination(url, destinations, resolveName, signal);
  const asking = async (request: Request) => {
    const addresses = await addressesOf(new URL(request.url), request.signal);
    return checkedFetch.fetch(request, addresses);
  };
  const parts = createUpstreamParts({
    fetch: shared?.through(asking) ?? asking,
    fetchLeniently: async (request) => fetchUnread(request, await addressesOf(new URL(request.url), request.signal)),
    async openSocket(handshake, signal) {
      const addresses = await addressesOf(handshake.url, signal);
      const connection = new DenoConnection(await connectTo(handshake.url, addresses, signal));
      return openOverConnection(handshake, connection, signal);
    },
    ...destinations,
    cookieJarStore: store,
    ...epochClock,
    offlineCheck: new OfflineCheck({
      hosts: readKnownHosts(options.ROPEWAY_KNOWN_HOSTS),
      reach: (host) => lookUpKnown(new URL(`https://${host}`).hostname),
      ...epochClock,
    }),
    withFixedLength: (stream, length) => new StreamedBlob(stream, length),
  });
  return createEdgeBackend(parts);
}

const READ_BYTES = 64 * 1024;

class DenoConnection implements ByteConnection {
  readonly #connection: Deno.Conn;

  constructor(connection: Deno.Conn) {
    this.#connection = connection;
  }

  async read(): Promise<Uint8Array | null> {
    const buffer = new Uint8Array(READ_BYTES);
    const count = await this.#connection.read(buffer);
    return count === null ? null : buffer.subarray(0, count);
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let offset = 0; offset < bytes.length; ) offset += await this.#connection.write(bytes.subarray(offset));
  }

  close(): void {
    try {
      this.#connection.close();
    } catch {
      // It was closed already.
    }
  }
}
