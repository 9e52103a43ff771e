/**
 * The edge's side towards origins: one exchange, from a request head and body to a response head and body, with
 * everything between that a browser would do: cookies, redirects, CORS, referrer and origin fields.
 */
import type { ServerRequest, ServerResponse } from "../../shared/http/server-exchange.ts";

/** Its body is owned by the upstream from here on. */
export interface UpstreamRequest extends ServerRequest {
  /** What is constant for the session, sent once by the phone. */
  readonly userAgent: string;
  readonly acceptLanguage: string;
  /**
   * Called once, when the request's body is there, or streams, and nothing of it has been sent to its origin, preflights
   * apart. What it throws ends the exchange.
   */
  readonly beforeSend?: () => Promise<void>;
}

/**
 * @returns the response with its body decoded.
 * @throws RopewayError of scope "stream" with the code that says what went wrong.
 */
export type Upstream = (request: UpstreamRequest) => Promise<ServerResponse>;

/** `fetch` as the upstream needs it; the platform's own, or one that goes through the loopback entrypoint. */
export type FetchFunction = (request: Request) => Promise<Response>;
