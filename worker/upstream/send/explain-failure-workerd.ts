/**
 * workerd's fetch throws "Network connection lost." for refused and reset, and "internal error" for no such name, a
 * failed TLS handshake, an address its allow list blocks, and a response that is not HTTP. A plain TCP connection to
 * the same port tells most of them apart.
 */
import { pause, type SetTimer } from "../../../shared/clock.ts";
import { ErrorCode } from "../../../shared/errors.ts";
import { isPublicAddress, type ResolveName } from "../fetch-rules/destination.ts";
import type { ExplainFailure, FailureClass } from "./failures.ts";

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
