/** How workerd fetches: past its cache, so many at a time, and with a word about why it failed. */

import { pause, type SetTimer } from "../../shared/clock.ts";
import { ErrorCode } from "../../shared/errors.ts";
import { isPublicAddress, type ResolveName } from "../upstream/destination.ts";
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
    (connection): Probe => {
      Promise.resolve(connection.close()).catch(() => {});
      return "opened";
    },
    (): Probe => (isReached ? "TLS failed" : "failed"),
  );
  const first = await Promise.race([result, tooLate]);
  over.abort();
  return first;
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
