/** What the platforms' fetch throws, as the codes of PROTOCOL.md section 7. Seen with workerd, Deno and Node. */
import { type Clock, pause } from "../../../shared/clock.ts";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";

export interface FailureClass {
  readonly code: ErrorCode;
  /** False where the platform says the same for several causes, so that asking `ExplainFailure` may tell more. */
  readonly certain: boolean;
}

/** Finds out why a fetch failed where its error does not say; null when that cannot be found out. */
export type ExplainFailure = (url: URL, failure: FailureClass) => Promise<ErrorCode | null>;

const certain = (code: ErrorCode): FailureClass => ({ code, certain: true });

/** Tried in order on `code: message` of the error and of each of its causes. */
const PATTERNS: readonly (readonly [pattern: RegExp, result: FailureClass])[] = [
  // Deno (hyper, rustls) and Node (undici, OpenSSL).
  [/ENOTFOUND|EAI_AGAIN|dns error|failed to lookup address/i, certain(ErrorCode.NAME_NOT_RESOLVED)],
  [/ECONNREFUSED|connection refused/i, certain(ErrorCode.CONNECTION_REFUSED)],
  [
    /certificate|CERT_|SELF_SIGNED|UNABLE_TO|ERR_SSL|ERR_TLS|SSL routines|corrupt message|fatal alert|tls handshake|EPROTO/i,
    certain(ErrorCode.TLS_FAILED),
  ],
  [/ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|timed out/i, certain(ErrorCode.UPSTREAM_TIMEOUT)],
  [/NotCapable|requires net access/i, certain(ErrorCode.DESTINATION_FORBIDDEN)],
  [
    /ECONNRESET|EPIPE|UND_ERR_SOCKET|other side closed|connection reset|broken pipe|connection closed before|reading a body/i,
    certain(ErrorCode.CONNECTION_RESET),
  ],
  // workerd: the first for refused and reset, the second for no such name, TLS, blocked by its allow list, bad HTTP.
  [/network connection lost/i, { code: ErrorCode.CONNECTION_RESET, certain: false }],
  [/internal error/i, { code: ErrorCode.UPSTREAM_FAILED, certain: false }],
];

/** Deepest chain of causes that is looked at. */
const CAUSES = 5;

export function classifyFailure(error: unknown): FailureClass {
  for (let cause = error, depth = 0; cause instanceof Error && depth < CAUSES; cause = cause.cause, depth++) {
    const text = `${"code" in cause ? cause.code : ""} ${cause.name}: ${cause.message}`;
    const match = PATTERNS.find(([pattern]) => pattern.test(text));
    if (match !== undefined) return match[1];
  }
  return certain(ErrorCode.UPSTREAM_FAILED);
}

/** Of IANA, for examples and for itself: they are there as long as names are. */
const KNOWN_HOSTS = ["example.com", "www.iana.org"];

/** @param text ROPEWAY_KNOWN_HOSTS. @returns names, on workerd with ports; none where the edge is not to ask. */
export function readKnownHosts(text: string | undefined): readonly string[] {
  if (text === "0") return [];
  return text ? text.split(/\s+/).filter((host) => host !== "") : KNOWN_HOSTS;
}

/** Failures that an edge without internet meets, whatever it asks for. */
const SEEN_WITHOUT_INTERNET: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.NAME_NOT_RESOLVED,
  ErrorCode.UPSTREAM_TIMEOUT,
  ErrorCode.UPSTREAM_FAILED,
]);

/** Loopback (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3) and its names (RFC 6761 section 6.3). */
const THIS_MACHINE = /(^|\.)localhost\.?$|^127\.|^\[::1\]$/;

/** Milliseconds that known hosts have to answer. */
const KNOWN_HOST_PATIENCE = 4_000;
/** Milliseconds for which the answer counts: one that is back is soon known to be. */
const [ONLINE_TIME, OFFLINE_TIME] = [60_000, 10_000];

export interface OfflineCheckDeps extends Clock {
  readonly hosts: readonly string[];
  /** Rejects where the host is not found. */
  readonly reach: (host: string) => Promise<unknown>;
}

/** Finds out whether it was this edge's internet that failed, and no origin. */
export class OfflineCheck {
  readonly #deps: OfflineCheckDeps;
  #latest: { readonly isOffline: Promise<boolean>; until: number } | null = null;

  constructor(deps: OfflineCheckDeps) {
    this.#deps = deps;
  }

  /** @returns the code of the failure, or EDGE_OFFLINE in its place. The way to a host of this machine needs no internet. */
  async codeOf(code: ErrorCode, { hostname }: URL): Promise<ErrorCode> {
    if (!SEEN_WITHOUT_INTERNET.has(code) || THIS_MACHINE.test(hostname)) return code;
    return (await this.#isOffline()) ? ErrorCode.EDGE_OFFLINE : code;
  }

  #isOffline(): Promise<boolean> {
    const { hosts, now } = this.#deps;
    if (hosts.length === 0) return Promise.resolve(false);
    if (this.#latest !== null && now() < this.#latest.until) return this.#latest.isOffline;
    // Whoever asks meanwhile waits for the same answer.
    const latest = { isOffline: this.#ask(), until: Number.POSITIVE_INFINITY };
    this.#latest = latest;
    return latest.isOffline.then((isOffline) => {
      latest.until = now() + (isOffline ? OFFLINE_TIME : ONLINE_TIME);
      return isOffline;
    });
  }

  #ask(): Promise<boolean> {
    const isTooLate = pause(this.#deps.setTimer, KNOWN_HOST_PATIENCE).then(() => true);
    return Promise.race([this.#reachesNone(), isTooLate]);
  }

  /** One after the other: a local workerd stands still while it looks a name up. */
  async #reachesNone(): Promise<boolean> {
    const { hosts, reach } = this.#deps;
    for (const host of hosts) {
      const isReached = await reach(host).then(
        () => true,
        () => false,
      );
      if (isReached) return false;
    }
    return true;
  }
}

const REASONS: Partial<Record<ErrorCode, string>> = {
  [ErrorCode.NAME_NOT_RESOLVED]: "the name does not resolve",
  [ErrorCode.CONNECTION_REFUSED]: "it refused the connection",
  [ErrorCode.CONNECTION_RESET]: "it closed the connection",
  [ErrorCode.TLS_FAILED]: "its certificate or TLS handshake failed",
  [ErrorCode.UPSTREAM_TIMEOUT]: "it did not answer in time",
  [ErrorCode.DESTINATION_FORBIDDEN]: "it is on a private network",
  [ErrorCode.EDGE_OFFLINE]: "this edge has no internet",
};

/** The typed error for a failed exchange with the host of `url`. Passes a RopewayError through. */
export function upstreamError(url: URL, code: ErrorCode, cause: unknown): RopewayError {
  if (cause instanceof RopewayError) return cause;
  const reason = REASONS[code] ?? "the exchange failed and the platform does not say why";
  return new RopewayError(code, "stream", "origin", `Cannot load from ${url.host}: ${reason}`, { cause });
}

/** What a failure of our own is to the phone. Passes a RopewayError through. */
export function toRopewayError(error: unknown): RopewayError {
  if (error instanceof RopewayError) return error;
  return new RopewayError(
    ErrorCode.INTERNAL_ERROR,
    "stream",
    "library",
    `Cannot load the page: the edge failed (${error instanceof Error ? error.message : String(error)})`,
    { cause: error },
  );
}
