import type { ServerRequest } from "../../shared/http/exchange.ts";

/** What is asked of `upstream`. Its body is owned by the exchange from then on. */
export interface UpstreamRequest extends ServerRequest {
  /** What is constant for the session, sent once by the phone. */
  readonly userAgent: string;
  readonly acceptLanguage: string;
  readonly savesData?: boolean;
  /** Called with each URL before anything goes there. What it throws ends the exchange. */
  readonly checkUrl?: (url: URL) => Promise<void>;
  /**
   * Called once, when the request's body is there, or streams, and nothing of it has been sent to its origin, preflights
   * apart. What it throws ends the exchange.
   */
  readonly beforeSend?: () => Promise<void>;
  /** Called with each response of an origin, redirects too, before its body is read. What it throws ends the exchange. */
  readonly checkResponse?: (response: Response) => void;
}
