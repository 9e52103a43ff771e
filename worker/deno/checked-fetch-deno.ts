/**
 * Deno's fetch looks names up by itself and takes no resolver, so a name could lead elsewhere than where it did when it
 * was checked. It takes a SOCKS proxy though: one in this process connects to the addresses that were found and checked,
 * and to nothing else. So fetch stays Deno's own: streams, HTTP/2, TLS with the real name, decoding, cancelling.
 */

import { type IncomingMessage, request as requestPlainly } from "node:http";
import { request as requestSecurely } from "node:https";
import { isIPv6, type LookupFunction } from "node:net";
import { Readable } from "node:stream";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { hasNullBody } from "../../shared/web/origin.ts";
import { undoCodings } from "../upstream/response-body.ts";
import { connectFastest } from "./connect-fastest.ts";
import { startSocksServer } from "./socks-server-deno.ts";

export class CheckedFetch {
  /** By `host:port`, what is being fetched now, the newest last; all the places that may be connected to. */
  readonly #routes = new Map<string, Set<readonly string[]>>();
  #client: Deno.HttpClient | null = null;

  /** @param addresses of the URL's name, all of which may be reached; null where its host is an address itself. */
  async fetch(request: Request, addresses: readonly string[] | null): Promise<Response> {
    try {
      return await this.#fetch(request, addresses);
    } catch (error) {
      if (!isHeadRefused(error)) throw error;
      return fetchLongHead(request, addresses);
    }
  }

  async #fetch(request: Request, addresses: readonly string[] | null): Promise<Response> {
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

// Deno's fetch (hyper, 2.9) refuses heads over HTTP/1 that browsers take: of more than 100 lines, and with
// control characters in a value, and nothing can be set. Node's client, as Deno has it, reads them. It is told to be
// lenient: that harms nobody, since its connection carries this one response.

/** Bytes: a response head over HTTP/1 that Deno's fetch refused to read; as Chromium's. */
const ORIGIN_HEAD_BYTES = 256 * 1024;

const SAFE_METHODS = ["GET", "HEAD", "OPTIONS"];
/** Node's client drops the lines above these, and does not say so. */
const MOST_LINES = 1000;

/** True where fetch failed for the head of a response that came. */
function isHeadRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && /message head is too large|invalid HTTP header parsed/.test(cause.message);
}

/**
 * Asks once more for what fetch refused to read: only where asking twice changes nothing.
 *
 * @param request as it was given to fetch
 * @param addresses as for `CheckedFetch`
 * @returns as Deno's fetch: redirects not followed, `gzip` undone, fields as bytes
 * @throws RopewayError UPSTREAM_FAILED
 */
async function fetchLongHead(request: Request, addresses: readonly string[] | null): Promise<Response> {
  try {
    if (!SAFE_METHODS.includes(request.method)) throw new Error("Cannot ask again: the method is not safe");
    return toResponse(await send(request, addresses), request);
  } catch (cause) {
    throw new RopewayError(
      ErrorCode.UPSTREAM_FAILED,
      "stream",
      "origin",
      `Cannot load from ${new URL(request.url).host}: its answer has more header lines than Deno takes, or a malformed one`,
      { cause },
    );
  }
}

function send(request: Request, addresses: readonly string[] | null): Promise<IncomingMessage> {
  const url = new URL(request.url);
  const headers = Object.fromEntries(request.headers);
  // There is no bounded decoder for anything else.
  if (headers["accept-encoding"] !== "identity") headers["accept-encoding"] = "gzip";
  // With it, Node's client asks the person at the terminal whether it may see certificates, and waits.
  Deno.env.delete("NODE_EXTRA_CA_CERTS");
  return new Promise((resolve, reject) => {
    const start = url.protocol === "https:" ? requestSecurely : requestPlainly;
    start(url, {
      method: request.method,
      headers,
      signal: request.signal,
      agent: false,
      insecureHTTPParser: true,
      maxHeaderSize: ORIGIN_HEAD_BYTES,
      ...(addresses === null ? {} : { autoSelectFamily: true, lookup: lookupIn(addresses) }),
    })
      .on("response", resolve)
      .on("error", reject)
      .on("close", () => reject(new Error("Cannot read the response: the connection was closed")))
      .end();
  });
}

/** Only where all addresses are asked for, as `autoSelectFamily` does. */
function lookupIn(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_name, _options, done) => done(null, found);
}

function toResponse(message: IncomingMessage, { method, url }: Request): Response {
  // Whatever becomes of it once nobody reads it.
  message.on("error", () => {});
  try {
    const { statusCode: status = 0, statusMessage: statusText = "", rawHeaders } = message;
    if (rawHeaders.length >= 2 * MOST_LINES) throw new Error(`Cannot read ${MOST_LINES} header lines or more`);
    const headers = new Headers();
    for (let index = 0; index < rawHeaders.length; index += 2) {
      // Throws for NUL alone, which browsers refuse too.
      headers.append(rawHeaders[index] as string, rawHeaders[index + 1] as string);
    }
    const hasBody = !hasNullBody(method, status);
    if (!hasBody) message.destroy();
    return new Response(hasBody ? bodyOf(message, headers, new URL(url).host) : null, { status, statusText, headers });
  } catch (error) {
    message.destroy();
    throw error;
  }
}

/** Decoded where fetch would hand it out decoded. */
function bodyOf(message: IncomingMessage, headers: Headers, host: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  const body = Readable.toWeb(message) as ReadableStream<Uint8Array>;
  const coding = (headers.get("content-encoding") ?? "").trim().toLowerCase();
  // `br` is fetch's to decode too, so it is refused here.
  const decoded = coding === "gzip" || coding === "br" ? undoCodings(body, [coding], host) : body;
  return decoded as ReadableStream<Uint8Array<ArrayBuffer>>;
}
