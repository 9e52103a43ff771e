/** One request to one origin: timed, retried where that is safe, its failures typed. */
import type { Clock } from "../../../shared/clock.ts";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { SendableBody } from "../body/request-body.ts";
import { cloudflareFailure } from "./cloudflare-errors.ts";
import { classifyFailure, type ExplainFailure, type OfflineCheck, upstreamError } from "./failures.ts";

/**
 * `fetch` as the upstream needs it; the platform's own, or one that goes through the loopback entrypoint.
 *
 * @param topLevelOrigin of the page that asks; none where no page does.
 */
export type FetchFunction = (request: Request, topLevelOrigin?: string) => Promise<Response>;

export interface SendDeps extends Pick<Clock, "setTimer"> {
  readonly fetch: FetchFunction;
  readonly explainFailure?: ExplainFailure;
  readonly offlineCheck?: OfflineCheck;
}

export interface Outgoing {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: SendableBody | null;
}

/** The fetches of one exchange. They share its abort signal and its patience. */
export class Sender {
  readonly #deps: SendDeps;
  readonly #patience: number;
  readonly #topLevelOrigin: string;
  readonly #controller = new AbortController();
  #isAwaitingHead = false;
  #isSuspended = false;
  #stopTimer: (() => void) | null = null;

  /**
   * @param signal the phone's: aborts every fetch of the exchange, response body included
   * @param patience milliseconds that each fetch may take up to its response head
   * @param topLevelOrigin of the page that asks
   */
  constructor(deps: SendDeps, signal: AbortSignal, patience: number, topLevelOrigin: string) {
    this.#deps = deps;
    this.#patience = patience;
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
    const { url, method, body } = outgoing;
    const isRepeatable = body === null && (method === "GET" || method === "HEAD");
    let response: Response;
    try {
      response = await this.#fetch(outgoing);
    } catch (error) {
      // The usual cause is a kept-alive connection that the origin closed as it was taken again; browsers retry too. On
      // workerd also one on which more came than it reads of the response before: trailers, or the body of a 204.
      const { code, certain } = classifyFailure(error);
      const isWorthAnother = isRepeatable && (code === ErrorCode.CONNECTION_RESET || !certain);
      if (!isWorthAnother || this.#controller.signal.aborted) throw await this.#explain(url, error);
      response = await this.#fetch(outgoing).catch(async (again: unknown) => {
        throw await this.#explain(url, again);
      });
    }
    // Those before the final one are for the connection alone, and nobody asks for `101`. The platforms hand them out.
    if (response.status < 200) throw upstreamError(url, ErrorCode.UPSTREAM_FAILED, null);
    const code = await cloudflareFailure(response);
    if (code !== null) throw upstreamError(url, code, null);
    return response;
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
    return upstreamError(url, classifyFailure(error).code, typedCause(error) ?? error);
  }

  async #fetch({ url, method, headers, body }: Outgoing): Promise<Response> {
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
      return await this.#deps.fetch(request, this.#topLevelOrigin);
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
          `Cannot load the page: its server did not answer within ${this.#patience} ms`,
        ),
      );
    }, this.#patience);
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
