/** How workerd fetches: past its cache, so many at a time, and with a word about why it failed. */

import { pause, type SetTimer } from "../../shared/clock.ts";
import { ErrorCode } from "../../shared/errors.ts";
import { isPublicAddress, type ResolveName } from "../upstream/destination.ts";
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

  /** One connection of the platform's six stays free, for probes and for the fetches of other parts. */
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
interface ProbeSocket {
  readonly opened: Promise<unknown>;
  readonly closed: Promise<unknown>;
  close(): Promise<unknown>;
}

export interface ExplainFailureDeps {
  /** `connect` of `cloudflare:sockets`. */
  readonly connect: (address: { hostname: string; port: number }) => ProbeSocket;
  /**
   * Tells "no such name" from "resolves to a blocked address". Without it the first is assumed. On workerd
   * `node:dns` asks a public resolver over HTTPS, which tells that resolver the name.
   */
  readonly resolveName?: ResolveName;
  readonly setTimer: SetTimer;
}

type Probe = "opened" | "failed" | "timeout";

async function probe({ connect, setTimer }: ExplainFailureDeps, hostname: string, port: number): Promise<Probe> {
  const socket = connect({ hostname, port });
  // Both promises reject when the connection fails; one of them is all that is needed.
  socket.closed.catch(() => {});
  const opened = socket.opened.then(
    (): Probe => "opened",
    (): Probe => "failed",
  );
  const result = await Promise.race([opened, pause(setTimer, DIAGNOSIS_TIMEOUT).then((): Probe => "timeout")]);
  socket.close().catch(() => {});
  return result;
}

/** Rejects where nobody takes a connection there. @param host with a port, or of a site over https. */
export async function reachByTcp(deps: ExplainFailureDeps, host: string): Promise<void> {
  const { hostname, port } = new URL(`https://${host}`);
  if ((await probe(deps, hostname, Number(port) || 443)) !== "opened") throw new Error(`Cannot reach ${host}`);
}

/**
 * workerd's fetch throws "Network connection lost." for refused and reset, and "internal error" for no such name, a
 * failed TLS handshake, an address its allow list blocks, and a response that is not HTTP. A plain TCP connection to
 * the same port tells most of them apart.
 */
export function createExplainFailure(deps: ExplainFailureDeps): ExplainFailure {
  return async (url, failure) => {
    const secure = url.protocol === "https:";
    const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1");
    const lost = isConnectionLost(failure);
    // RFC 6761 section 6.3 says where these lead. A local workerd stands still while it asks a resolver that does not know.
    const asked = /\.localhost\.?$/.test(hostname) ? "127.0.0.1" : hostname;
    switch (await probe(deps, asked, Number(url.port) || (secure ? 443 : 80))) {
      case "timeout":
        return ErrorCode.UPSTREAM_TIMEOUT;
      case "opened":
        if (lost) return ErrorCode.CONNECTION_RESET;
        // Over plain TCP what remains is a response that is not HTTP.
        return secure ? ErrorCode.TLS_FAILED : null;
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
