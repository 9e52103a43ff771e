/**
 * Deno's fetch looks names up by itself and takes no resolver, so a name could lead elsewhere than where it did when it
 * was checked. It takes a SOCKS proxy though: one in this process connects to the addresses that were found and checked,
 * and to nothing else. So fetch stays Deno's own: streams, HTTP/2, TLS with the real name, decoding, cancelling.
 */

import { fetchLeniently } from "../upstream/lenient-http.ts";
import { undoCodings } from "../upstream/response-body.ts";
import { connectFastest } from "./connect-fastest.ts";
import { startSocksServer } from "./socks-server-deno.ts";

export class CheckedFetch {
  /** By `host:port`, what is being fetched now, the newest last; all the places that may be connected to. */
  readonly #routes = new Map<string, Set<readonly string[]>>();
  #client: Deno.HttpClient | null = null;

  /** @param addresses of the URL's name, all of which may be reached; null where its host is an address itself. */
  async fetch(request: Request, addresses: readonly string[] | null): Promise<Response> {
    if (addresses === null) return fetch(request);
    const { hostname, port, protocol } = new URL(request.url);
    const name = `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
    const routes = this.#routes.get(name) ?? new Set();
    // Equal ones of other requests are others.
    const route = [...addresses];
    this.#routes.set(name, routes.add(route));
    try {
      return await fetch(request, { client: this.#openClient() });
    } finally {
      routes.delete(route);
      if (routes.size === 0) this.#routes.delete(name);
    }
  }

  #openClient(): Deno.HttpClient {
    if (this.#client !== null) return this.#client;
    // The client goes past its proxy for the names in these.
    for (const name of ["NO_PROXY", "no_proxy"]) Deno.env.delete(name);
    const proxy = startSocksServer(
      (host, port, signal) => this.#connect(host, port, signal),
      () => {
        this.#client = null;
      },
    );
    this.#client = Deno.createHttpClient({ proxy });
    return this.#client;
  }

  #connect(host: string, port: number, signal: AbortSignal): Promise<Deno.TcpConn> {
    const addresses = [...(this.#routes.get(`${host}:${port}`) ?? [])].at(-1);
    // Fetch also opens connections ahead for requests that got one of before meanwhile.
    if (addresses === undefined) return Promise.reject(new Error(`Cannot connect to ${host}: nobody fetches from it`));
    return connectFastest(addresses, (hostname, signal) => Deno.connect({ hostname, port, signal }), signal);
  }
}

// Deno's fetch (hyper, 2.9) refuses heads over HTTP/1 that browsers take: of more than 100 lines, with control characters
// in a value, with lines that are no fields.

/**
 * Asks once more, on a connection of its own.
 *
 * @param request without a body
 * @param addresses as for `CheckedFetch`
 * @returns as Deno's fetch: redirects not followed, `gzip` undone, fields as bytes
 */
export async function fetchUnread(request: Request, addresses: readonly string[] | null): Promise<Response> {
  const asked = new Request(request);
  // There is no bounded decoder for anything else.
  if (request.headers.get("accept-encoding") !== "identity") asked.headers.set("accept-encoding", "gzip");
  const response = await fetchLeniently(asked, (url, signal) => connectTo(url, addresses, signal));
  const coding = (response.headers.get("content-encoding") ?? "").trim().toLowerCase();
  if (response.body === null || (coding !== "gzip" && coding !== "br")) return response;
  // `br` is fetch's to decode too, so it is refused here.
  const decoded = undoCodings(response.body, [coding], new URL(request.url).host);
  return new Response(decoded as ReadableStream<Uint8Array<ArrayBuffer>>, response);
}

/** @param addresses of the URL's name, all of which may be reached; null where its host is an address itself. */
export async function connectTo(
  { hostname, port, protocol }: URL,
  addresses: readonly string[] | null,
  signal: AbortSignal,
): Promise<Deno.Conn> {
  const isSecure = protocol === "https:";
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const connect = (address: string, signal: AbortSignal) =>
    Deno.connect({ hostname: address, port: Number(port) || (isSecure ? 443 : 80), signal });
  const plain = await connectFastest(addresses ?? [host], connect, signal);
  if (!isSecure) return plain;
  return handshaken(await Deno.startTls(plain, { hostname: host, alpnProtocols: ["http/1.1"] }), signal);
}

/**
 * A server may take a connection and say nothing: then `signal` ends the wait. Deno keeps the connection until the server
 * ends it, also where it is closed here.
 */
async function handshaken(secure: Deno.TlsConn, signal: AbortSignal): Promise<Deno.TlsConn> {
  const ended = Promise.withResolvers<never>();
  const end = (): void => ended.reject(signal.reason);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    await Promise.race([secure.handshake(), ended.promise]);
    return secure;
  } catch (error) {
    secure.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", end);
    ended.promise.catch(() => {});
  }
}
