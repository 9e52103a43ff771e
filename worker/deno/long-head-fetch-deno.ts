/**
 * Deno's fetch (hyper, 2.9) refuses heads over HTTP/1 that browsers take: of more than 100 lines, and with
 * control characters in a value, and nothing can be set. Node's client, as Deno has it, reads them. It is told to be
 * lenient: that harms nobody, since its connection carries this one response.
 */
import { type IncomingMessage, request as requestPlainly } from "node:http";
import { request as requestSecurely } from "node:https";
import { isIPv6, type LookupFunction } from "node:net";
import { Readable } from "node:stream";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { hasNullBody } from "../../shared/web/origin.ts";
import { undoCodings } from "../upstream/response-body.ts";

/** Bytes: a response head over HTTP/1 that Deno's fetch refused to read; as Chromium's. */
const ORIGIN_HEAD_BYTES = 256 * 1024;

const SAFE_METHODS = ["GET", "HEAD", "OPTIONS"];
/** Node's client drops the lines above these, and does not say so. */
const MOST_LINES = 1000;

/** True where fetch failed for the head of a response that came. */
export function isHeadRefused(error: unknown): boolean {
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
export async function fetchLongHead(request: Request, addresses: readonly string[] | null): Promise<Response> {
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
    const { statusCode: status = 0, rawHeaders } = message;
    if (rawHeaders.length >= 2 * MOST_LINES) throw new Error(`Cannot read ${MOST_LINES} header lines or more`);
    const headers = new Headers();
    for (let index = 0; index < rawHeaders.length; index += 2) {
      // Throws for NUL alone, which browsers refuse too.
      headers.append(rawHeaders[index] as string, rawHeaders[index + 1] as string);
    }
    const hasBody = !hasNullBody(method, status);
    if (!hasBody) message.destroy();
    return new Response(hasBody ? bodyOf(message, headers, new URL(url).host) : null, { status, headers });
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
