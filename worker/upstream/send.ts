/** Sends a request to an origin: timed, retried where that is safe, its failures typed. */
import { type Clock, pause } from "../../shared/clock.ts";
import { ErrorCode, later, RopewayError } from "../../shared/errors.ts";
import { isSafe } from "../../shared/http/heads.ts";
import type { SendableBody } from "./request-body.ts";

/**
 * `fetch` as the upstream needs it; the platform's own, or one that goes through the loopback entrypoint.
 *
 * @param topLevelOrigin of the page that asks; none where no page does; null where it wants no answer from a cache, and none
 *   to be kept (`no-store`).
 */
export type FetchFunction = (request: Request, topLevelOrigin?: string | null) => Promise<Response>;

/** Responses that a `FetchFunction` had stored: the phone is told. */
const stored = new WeakSet<Response>();

export function markAsStored(response: Response): Response {
  stored.add(response);
  return response;
}

export function wasStored(response: Response): boolean {
  return stored.has(response);
}

export interface SendDeps extends Pick<Clock, "setTimer"> {
  readonly fetch: FetchFunction;
  /** Asks once more what `fetch` failed to read, as browsers read it (`lenient-http.ts`). */
  readonly fetchLeniently?: FetchFunction;
  readonly explainFailure?: ExplainFailure;
  readonly offlineCheck?: OfflineCheck;
}

export interface Outgoing {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: SendableBody | null;
}

/**
 * Milliseconds from a request to its response head, of long polls, orders and reports too: below the 300 s of Chromium's
 * sockets and of its service workers' events, so that the phone hears of it.
 */
export const ANSWER_TIMEOUT = 290_000;

/** The fetches of one exchange. They share its abort signal. */
export class Sender {
  readonly #deps: SendDeps;
  readonly #topLevelOrigin: string | null;
  readonly #controller = new AbortController();
  #isAwaitingHead = false;
  #isSuspended = false;
  #stopTimer: (() => void) | null = null;

  /**
   * @param signal the phone's: aborts every fetch of the exchange, response body included
   * @param topLevelOrigin as of `FetchFunction`
   */
  constructor(deps: SendDeps, signal: AbortSignal, topLevelOrigin: string | null) {
    this.#deps = deps;
    this.#topLevelOrigin = topLevelOrigin;
    const cancel = () =>
      this.abort(new RopewayError(ErrorCode.CANCEL, "stream", "user", "Cannot go on: the phone cancelled the request"));
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
  }

  /**
   * Resolves with the response head, redirects not followed.
   * @throws RopewayError, also for an answer by which Cloudflare says that it did not reach the origin
   */
  async send(outgoing: Outgoing): Promise<Response> {
    const { url } = outgoing;
    const response = await this.#attempt(outgoing).catch(async (error: unknown) => {
      throw await this.#explain(url, error);
    });
    const code = await cloudflareFailure(response);
    if (code !== null) throw upstreamError(url, code, null);
    return response;
  }

  /** Up to three attempts where those are safe. Rejects as the one whose failure says most. */
  async #attempt(outgoing: Outgoing): Promise<Response> {
    for (let isFirst = true; ; isFirst = false) {
      try {
        const response = await this.#fetch(outgoing);
        // Responses before the final one are for the connection alone, and nobody asks for `101`. The platforms hand them out.
        if (response.status < 200) throw upstreamError(outgoing.url, ErrorCode.NOT_HTTP, null);
        return response;
      } catch (error) {
        const kind = this.#controller.signal.aborted || !isRepeatable(outgoing) ? "final" : kindOf(error);
        // The usual cause is a kept-alive connection that the origin closed as it was taken again; browsers retry too. On
        // workerd also one on which more came than it reads of the response before: trailers, or the body of a 204.
        if (kind === "lost" && isFirst) continue;
        const { fetchLeniently } = this.#deps;
        // In clear, a head may end with the connection.
        const isOfUse = kind === "unread" || (kind === "lost" && outgoing.url.protocol === "http:");
        if (!isOfUse || fetchLeniently === undefined) throw error;
        return await this.#fetch(outgoing, fetchLeniently).catch((again: unknown) => {
          throw typedCause(again) ?? error;
        });
      }
    }
  }

  /**
   * The answer once more, where its body failed before any of it was there: its chunks are of a kind that the platform's
   * fetch does not read.
   *
   * @param isChunked whether the head says so: Deno says nothing else of chunks that it does not read.
   * @throws the failure where it is of no use to ask
   */
  async sendAgain(outgoing: Outgoing, failure: unknown, isChunked: boolean): Promise<Response> {
    const { fetchLeniently } = this.#deps;
    const kind = kindOf(failure);
    const isOfUse = kind === "unread" || (kind === "lost" && isChunked);
    if (!isOfUse || !isRepeatable(outgoing) || fetchLeniently === undefined) throw failure;
    return this.#fetch(outgoing, fetchLeniently);
  }

  /** The phone is to send more of the body: until it has, the origin's time does not run. */
  suspend(): void {
    this.#isSuspended = true;
    this.#clearTimer();
  }

  /** The origin's time runs again, from its beginning. */
  resume(): void {
    this.#isSuspended = false;
    if (this.#isAwaitingHead) this.#startTimer();
  }

  /** Ends whatever is under way. Without a reason nobody is left who would read one. */
  abort(reason?: RopewayError): void {
    this.#controller.abort(reason);
  }

  /** The typed error for a failure after the head. */
  translate(url: URL, error: unknown): RopewayError {
    const { reason, aborted } = this.#controller.signal;
    if (aborted && reason instanceof RopewayError) return reason;
    // Once there was a head, what workerd says nothing of is a body that is none.
    const code = kindOf(error) === "unread" ? ErrorCode.NOT_HTTP : classifyFailure(error).code;
    return upstreamError(url, code, typedCause(error) ?? error);
  }

  async #fetch({ url, method, headers, body }: Outgoing, fetch = this.#deps.fetch): Promise<Response> {
    this.#controller.signal.throwIfAborted();
    const request = buildRequest(url, {
      method,
      headers,
      body: body as BodyInit | null,
      redirect: "manual",
      signal: this.#controller.signal,
      // Fetch section 5.4 wants it for a stream; the type libraries do not know it.
      ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
    });
    this.#isAwaitingHead = true;
    if (!this.#isSuspended) this.#startTimer();
    try {
      return await fetch(request, this.#topLevelOrigin);
    } finally {
      this.#isAwaitingHead = false;
      this.#clearTimer();
    }
  }

  #clearTimer(): void {
    this.#stopTimer?.();
    this.#stopTimer = null;
  }

  #startTimer(): void {
    this.#clearTimer();
    this.#stopTimer = this.#deps.setTimer(() => {
      this.abort(
        new RopewayError(
          ErrorCode.UPSTREAM_TIMEOUT,
          "stream",
          "origin",
          `Cannot load the page: its server did not answer within ${ANSWER_TIMEOUT / 1000} s`,
        ),
      );
    }, ANSWER_TIMEOUT);
  }

  async #explain(url: URL, error: unknown): Promise<RopewayError> {
    const { reason, aborted } = this.#controller.signal;
    const typed = aborted && reason instanceof RopewayError ? reason : typedCause(error);
    const code = typed?.code ?? (await this.#codeOf(url, error));
    const better = (await this.#deps.offlineCheck?.codeOf(code, url)) ?? code;
    return typed !== null && better === code ? typed : upstreamError(url, better, typed === null ? error : null);
  }

  async #codeOf(url: URL, error: unknown): Promise<ErrorCode> {
    const failure = classifyFailure(error);
    const explained = failure.certain ? null : await this.#deps.explainFailure?.(url, failure).catch(() => null);
    return explained ?? failure.code;
  }
}

function isRepeatable({ method, body }: Outgoing): boolean {
  return body === null && isSafe(method);
}

function buildRequest(url: URL, init: RequestInit): Request {
  try {
    return new Request(url, init);
  } catch (cause) {
    throw new RopewayError(
      ErrorCode.PROTOCOL_ERROR,
      "stream",
      "peer",
      `Cannot send the request to ${url.host}: it is not valid HTTP`,
      { cause },
    );
  }
}

/** The RopewayError that a request body failed with comes back wrapped in the platform's own. */
function typedCause(error: unknown): RopewayError | null {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if (cause instanceof RopewayError) return cause;
  }
  return null;
}

// Errors that the platforms' fetch throws, as the codes of PROTOCOL.md section 7. Seen with workerd, Deno and Node.

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
  [/ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|timed out/i, certain(ErrorCode.UPSTREAM_FAILED)],
  // Of a head, and of a body in chunks.
  [
    /message head is too large|invalid .* parsed|unexpected transfer-encoding|invalid chunk|invalid content-length/i,
    certain(ErrorCode.NOT_HTTP),
  ],
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

/** "unread": something came that the platform's fetch did not understand, as far as it says. */
function kindOf(error: unknown): "lost" | "unread" | "final" {
  const typed = typedCause(error);
  const { code, certain } = typed === null ? classifyFailure(error) : { code: typed.code, certain: true };
  if (code === ErrorCode.CONNECTION_RESET) return "lost";
  return code === ErrorCode.NOT_HTTP || !certain ? "unread" : "final";
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

interface OfflineCheckDeps extends Clock {
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
    // A request that comes meanwhile waits for the same answer.
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

  /** Asks hosts one after the other: a local workerd stands still while it looks a name up. */
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
  [ErrorCode.NAME_NOT_RESOLVED]: later("the name does not resolve"),
  [ErrorCode.CONNECTION_REFUSED]: later("it refused the connection"),
  [ErrorCode.CONNECTION_RESET]: later("it closed the connection"),
  [ErrorCode.TLS_FAILED]: later("its certificate or TLS handshake failed"),
  [ErrorCode.UPSTREAM_TIMEOUT]: later("it did not answer in time"),
  [ErrorCode.DESTINATION_FORBIDDEN]: later("it is on a private network"),
  [ErrorCode.EDGE_OFFLINE]: later("this edge has no internet"),
  [ErrorCode.NOT_HTTP]: later("what it answered is not HTTP, or none that this edge can read"),
};

/** The typed error for a failed exchange with the host of `url`. Passes a RopewayError through. */
export function upstreamError(url: URL, code: ErrorCode, cause: unknown): RopewayError {
  if (cause instanceof RopewayError) return cause;
  const reason = REASONS[code] ?? later("the exchange failed and the platform does not say why");
  return new RopewayError(code, "stream", "origin", `Cannot load from ${url.host}: ${reason}`, { cause });
}

/** A failure of our own, as the phone hears of it. Passes a RopewayError through. */
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

// On Cloudflare a fetch that cannot reach the origin does not throw: it resolves to a response that Cloudflare made,
// a line of text with its own error number. Pages that Cloudflare shows for sites of its own are HTML and stay.

/** Number in the text → what it means. A number below 1000 is also the response's status; 1016 comes as 530. */
const CODES = new Map<number, ErrorCode>([
  [520, ErrorCode.NOT_HTTP],
  [521, ErrorCode.CONNECTION_REFUSED],
  [522, ErrorCode.UPSTREAM_FAILED],
  [523, ErrorCode.UPSTREAM_FAILED],
  [524, ErrorCode.UPSTREAM_TIMEOUT],
  [525, ErrorCode.TLS_FAILED],
  [526, ErrorCode.TLS_FAILED],
  [1016, ErrorCode.NAME_NOT_RESOLVED],
]);

const LONGEST_TEXT = 64;

/** The failure that a response stands for, or null for one that the origin made. Leaves the response unread. */
export async function cloudflareFailure(response: Response): Promise<ErrorCode | null> {
  const { status, headers } = response;
  if (status < 520 || status > 530 || headers.get("server")?.toLowerCase() !== "cloudflare") return null;
  if (headers.get("content-type")?.startsWith("text/plain") !== true) return null;
  if (Number(headers.get("content-length") ?? 0) > LONGEST_TEXT || response.body === null) return null;

  const reader = response.clone().body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
  const first = await reader?.read();
  // Not awaited: one half of a tee is cancelled only when the other is too.
  reader?.cancel().catch(() => {});
  const text = new TextDecoder().decode(first?.value?.subarray(0, LONGEST_TEXT));
  const number = Number(/^error code: (\d{3,4})\s*$/.exec(text)?.[1]);
  return (number === 1016 ? 530 : number) === status ? (CODES.get(number) ?? null) : null;
}
