/** How workerd fetches: past its cache, so many at a time, and with a word about why it failed. */

import { pause, type SetTimer } from "../../shared/clock.ts";
import { ErrorCode } from "../../shared/errors.ts";
import { isSafe } from "../../shared/http/heads.ts";
import { decodeByteString, encodeByteString } from "../../shared/web/origin.ts";
import { isPublicAddress, type ResolveName } from "../upstream/destination.ts";
import { knownStatus } from "../upstream/fields.ts";
import type { ConnectToOrigin, OriginConnection } from "../upstream/lenient-http.ts";
import type { ExplainFailure, FailureClass, FetchFunction } from "../upstream/send.ts";

/**
 * Bodies come as their origins coded them, since some go on so: fetch would undo `gzip` and `br`. The option is workerd's
 * (https://github.com/cloudflare/workerd/pull/3669).
 */
export const AS_CODED = { encodeResponseBody: "manual" } as RequestInit;

/**
 * Fetches on Cloudflare past its cache, which is shared and knows requests by their URL alone: what one site of one phone
 * got with its cookies, another would get without. That cache holds scripts, pictures and documents of origins for
 * hours, also where they did not say that it may. A negative time keeps everything out, and unlike `cache: "no-store"`
 * adds no field to the request. Other runtimes have no such cache, and pass over the option.
 */
export function fetchUncached(request: Request): Promise<Response> {
  return fetch(request, { ...AS_CODED, cf: { cacheTtlByStatus: { "100-599": -1 } } } as RequestInit);
}

/** Cloudflare's connections waiting for headers per invocation; beyond it the loopback entrypoint fetches. */
export const EXCHANGES_AWAITING_HEAD = 6;

/** Gives a permit back; calling it again does nothing. */
type ReleasePermit = () => void;

export class HeaderGate {
  readonly #permits: number;
  #held = 0;

  /** A connection of the platform's six stays free, for probes and for the fetches of other parts. */
  constructor(permits: number = EXCHANGES_AWAITING_HEAD - 1) {
    this.#permits = permits;
  }

  /** Exchanges that await their response head now. */
  get held(): number {
    return this.#held;
  }

  /** Null when all permits are out; there is no queue, since the loopback is always there. */
  tryAcquire(): ReleasePermit | null {
    if (this.#held >= this.#permits) return null;
    this.#held++;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#held--;
    };
  }
}

/** A fetch that goes direct while the gate has permits, and by `loopback` otherwise. */
export function createGatedFetch(direct: FetchFunction, loopback: FetchFunction, gate: HeaderGate): FetchFunction {
  return async (request) => {
    const release = gate.tryAcquire();
    if (release === null) return loopback(request);
    // An aborted fetch has let go of its connection, whenever its promise settles.
    request.signal.addEventListener("abort", release, { once: true });
    try {
      return await direct(request);
    } finally {
      request.signal.removeEventListener("abort", release);
      release();
    }
  };
}

/** Milliseconds: how long to probe why a fetch failed before saying that the platform does not tell. */
const DIAGNOSIS_TIMEOUT = 5_000;

/** The part of a `cloudflare:sockets` socket that is used. */
interface PlatformSocket extends OriginConnection {
  readonly opened: Promise<unknown>;
  readonly closed: Promise<unknown>;
  close(): Promise<unknown>;
  startTls(options: { expectedServerHostname: string }): PlatformSocket;
}

/** `connect` of `cloudflare:sockets`. */
type Connect = (
  address: { hostname: string; port: number },
  options: { secureTransport: "off" | "starttls"; allowHalfOpen: false },
) => PlatformSocket;

export interface ExplainFailureDeps {
  readonly connect: Connect;
  /**
   * Tells "no such name" from "resolves to a blocked address". Without it the first is assumed. On workerd
   * `node:dns` asks a public resolver over HTTPS, which tells that resolver the name.
   */
  readonly resolveName?: ResolveName;
  readonly setTimer: SetTimer;
}

/** Opens a connection as `fetch` would, under the same list of addresses. Rejects where that, or TLS, fails. */
export function connectByTcp(connect: Connect): ConnectToOrigin {
  return async (url, signal) => {
    const plain = await opened(startTcp(connect, url), signal);
    if (url.protocol !== "https:") return plain;
    return opened(plain.startTls({ expectedServerHostname: bareHost(url).replace(/\.$/, "") }), signal);
  };
}

function startTcp(connect: Connect, url: URL): PlatformSocket {
  const isSecure = url.protocol === "https:";
  const host = bareHost(url);
  // RFC 6761 section 6.3 says where these lead. A local workerd stands still while it asks a resolver that does not know.
  const hostname = /\.localhost\.?$/.test(host) ? "127.0.0.1" : host;
  const port = Number(url.port) || (isSecure ? 443 : 80);
  return connect({ hostname, port }, { secureTransport: isSecure ? "starttls" : "off", allowHalfOpen: false });
}

function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

async function opened(socket: PlatformSocket, signal: AbortSignal): Promise<PlatformSocket> {
  const close = (): void => void socket.close().catch(() => {});
  // Both promises reject when the connection fails; one of them is all that is needed.
  socket.closed.catch(() => {});
  signal.addEventListener("abort", close, { once: true });
  try {
    await socket.opened;
    signal.throwIfAborted();
    return socket;
  } catch (error) {
    close();
    throw error;
  } finally {
    signal.removeEventListener("abort", close);
  }
}

type Probe = "opened" | "TLS failed" | "failed" | "timeout";

async function probe({ connect, setTimer }: ExplainFailureDeps, url: URL): Promise<Probe> {
  const over = new AbortController();
  const tooLate = pause(setTimer, DIAGNOSIS_TIMEOUT).then((): Probe => "timeout");
  let isReached = false;
  const watched: Connect = (address, options) => {
    const socket = connect(address, options);
    socket.opened.then(
      () => {
        isReached = true;
      },
      () => {},
    );
    return socket;
  };
  const result = connectByTcp(watched)(url, over.signal).then(
    async (connection): Promise<Probe> => {
      const isOpen = url.protocol !== "https:" || (await staysOpen(connection, setTimer));
      Promise.resolve(connection.close()).catch(() => {});
      return isOpen ? "opened" : "TLS failed";
    },
    (): Probe => (isReached ? "TLS failed" : "failed"),
  );
  const first = await Promise.race([result, tooLate]);
  over.abort();
  return first;
}

/** Milliseconds in which a handshake fails. */
const HANDSHAKE_TIME = 1_000;

/** workerd takes a connection for open before the other side has shown its certificate. */
function staysOpen({ readable }: OriginConnection, setTimer: SetTimer): Promise<boolean> {
  const read = readable.getReader().read();
  const ends = read.then(
    ({ done }) => !done,
    () => false,
  );
  return Promise.race([ends, pause(setTimer, HANDSHAKE_TIME).then(() => true)]);
}

/** Rejects where nobody takes a connection there. @param host with a port, or of a site over https. */
export async function reachByTcp(deps: ExplainFailureDeps, host: string): Promise<void> {
  const { hostname, port } = new URL(`https://${host}`);
  const url = new URL(`http://${hostname}:${Number(port) || 443}`);
  if ((await probe(deps, url)) !== "opened") throw new Error(`Cannot reach ${host}`);
}

/**
 * workerd's fetch throws "Network connection lost." for refused and reset, and "internal error" for no such name, a
 * failed TLS handshake, an address its allow list blocks, and a response that is not HTTP. A connection to the same
 * port tells most of them apart.
 */
export function createExplainFailure(deps: ExplainFailureDeps): ExplainFailure {
  return async (url, failure) => {
    const hostname = bareHost(url);
    const lost = isConnectionLost(failure);
    switch (await probe(deps, url)) {
      case "timeout":
        return ErrorCode.UPSTREAM_TIMEOUT;
      case "TLS failed":
        return lost ? ErrorCode.CONNECTION_RESET : ErrorCode.TLS_FAILED;
      case "opened":
        // The remaining case is a response that is not HTTP.
        return lost ? ErrorCode.CONNECTION_RESET : ErrorCode.NOT_HTTP;
      case "failed":
        if (lost) return ErrorCode.CONNECTION_REFUSED;
        return explainUnreachable(hostname, deps.resolveName);
    }
  };
}

function isConnectionLost(failure: FailureClass): boolean {
  return failure.code === ErrorCode.CONNECTION_RESET;
}

/** No connection, and not because the other side refused: the name, or workerd's allow list. */
async function explainUnreachable(hostname: string, resolveName: ResolveName | undefined): Promise<ErrorCode> {
  if (/^[\d.]+$|:/.test(hostname)) return ErrorCode.DESTINATION_FORBIDDEN;
  const addresses = await resolveName?.(hostname).catch(() => []);
  if (addresses === undefined || addresses.length === 0) return ErrorCode.NAME_NOT_RESOLVED;
  return addresses.every(isPublicAddress) ? ErrorCode.UPSTREAM_FAILED : ErrorCode.DESTINATION_FORBIDDEN;
}

// workerd reads fields as UTF-8, and writes them so. The edge takes and gives bytes, one character each, as with Deno's fetch.

/** Milliseconds: how long an answer waits for bytes that were lost in reading it. */
const RECOVERY_TIME = 5_000;
/** The character that stands for bytes that are no UTF-8. */
const LOST = "\ufffd";

/** As an origin gave them, but for bytes that are no UTF-8: those are lost. */
export function byteFields(headers: Headers): Headers {
  const bytes = new Headers();
  for (const [name, value] of headers) bytes.append(name, encodeByteString(value));
  return bytes;
}

/** As `fetch` is to be given them. Each cookie for itself: they may be of several encodings. */
export function textFields(headers: Headers): Headers {
  const text = new Headers();
  for (const [name, value] of headers) text.append(name, value.split("; ").map(decodeByteString).join("; "));
  return text;
}

/**
 * The same fetch with fields as bytes. Where some were lost, a HEAD past it asks for them: that changes nothing. A
 * request that would not leave by it as it is goes past it, too, if asking twice changes nothing.
 *
 * @param lenient as `fetchLeniently`
 */
export function withByteFields(fetch: FetchFunction, lenient: FetchFunction): FetchFunction {
  return async (request, topLevelOrigin) => {
    if (!hasOtherThanAscii(request.headers)) return withBytes(await fetch(request, topLevelOrigin), request, lenient);
    const headers = textFields(request.headers);
    const isWhole = [...byteFields(headers)].every(([name, value]) => {
      const given = request.headers.get(name) ?? "";
      return given === value || /[^\0-\xff]/.test(given);
    });
    const isRepeatable = isSafe(request.method) && request.body === null;
    const past = isWhole || !isRepeatable ? null : await lenient(request).catch(() => null);
    return past ?? withBytes(await fetch(new Request(request, { headers }), topLevelOrigin), request, lenient);
  };
}

function hasOtherThanAscii(headers: Headers): boolean {
  for (const [, value] of headers) if (/[^\0-\x7f]/.test(value)) return true;
  return false;
}

async function withBytes(response: Response, request: Request, lenient: FetchFunction): Promise<Response> {
  const { headers, status } = response;
  if (!hasOtherThanAscii(headers) || status < 200) return response;
  const isLost = [...headers].some(([, value]) => value.includes(LOST)) && isSafe(request.method);
  const known = isLost ? await headAgain(request, lenient) : null;
  const bytes = new Headers();
  for (const [name, value] of headers) {
    const given = name === "set-cookie" ? (known?.getSetCookie() ?? []) : [known?.get(name) ?? ""];
    const isSame = (raw: string): boolean => value.includes(LOST) && asRead(raw) === asRead(encodeByteString(value));
    bytes.append(name, given.find(isSame) ?? encodeByteString(value));
  }
  // No response of a worker's making has a status above 599, which the phone is told as this, too.
  return new Response(response.body, {
    status: knownStatus(status),
    statusText: response.statusText,
    headers: bytes,
  });
}

async function headAgain({ url, headers, signal }: Request, lenient: FetchFunction): Promise<Headers | null> {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(RECOVERY_TIME)]);
  const asked = new Request(url, { method: "HEAD", headers, redirect: "manual", signal: patience });
  const response = await lenient(asked).catch(() => null);
  return response?.headers ?? null;
}

/** The text that bytes were read as. Platforms count those that are lost in different ways. */
function asRead(raw: string): string {
  const bytes = Uint8Array.from(raw, (character) => character.charCodeAt(0));
  return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes).replace(/\ufffd+/g, LOST);
}
