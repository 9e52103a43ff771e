/**
 * The edge's side towards origins: one exchange, from a request head and body to a response head and body, with
 * everything between that a browser would do: cookies, redirects, CORS, referrer and origin fields.
 */
import type { Clock } from "../../shared/clock.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import type { BodyPlatform } from "./body/open-body.ts";
import type { WithFixedLength } from "./body/request-body.ts";
import { CookieJar, type CookieJarStore } from "./cookies/cookie-jar.ts";
import { Exchange } from "./exchange.ts";
import { PreflightCache } from "./fetch-rules/preflight.ts";
import { TransportSecurity } from "./fetch-rules/transport-security.ts";
import { KnownMedia } from "./opaque/known-media.ts";
import type { ExplainFailure, OfflineCheck } from "./send/failures.ts";
import type { FetchFunction } from "./send/send.ts";
import type { UpstreamRequest } from "./upstream-request.ts";
import type { UpstreamResponse } from "./upstream-response.ts";
import { PageWarmer } from "./warming/page-warmer.ts";

/**
 * @returns the response with its body decoded.
 * @throws RopewayError of scope "stream" with the code that says what went wrong.
 */
export type Upstream = (request: UpstreamRequest) => Promise<UpstreamResponse>;

/** Its clock counts milliseconds since the epoch. */
export interface UpstreamDeps extends Clock, BodyPlatform {
  /** Reaches no private network by a name, unless that is allowed. */
  readonly fetch: FetchFunction;
  readonly allowPrivate: boolean;
  /** True for an origin that may be reached even though it is private. Asked again on every redirect. */
  readonly isExempt?: (url: URL) => boolean;
  readonly cookieJarStore: CookieJarStore;
  /** Where the runtime's fetch does not say why it failed (workerd). */
  readonly explainFailure?: ExplainFailure;
  /** Where the runtime can find out that it was the edge's own internet that failed. */
  readonly offlineCheck?: OfflineCheck;
  /** Where the runtime sends a stream with a Content-Length only if told so by its own means (workerd, Deno). */
  readonly withFixedLength?: WithFixedLength;
}

export interface UpstreamParts {
  readonly upstream: Upstream;
  /** The jar that `upstream` uses, for `document.cookie` and for clearing. */
  readonly jar: CookieJar;
  readonly transportSecurity: TransportSecurity;
  /** Fetches what links lead to, as a stranger. */
  readonly warmer: PageWarmer;
}

/** One phone's upstream: cookies and preflight results are shared by all its exchanges. */
export function createUpstreamParts(deps: UpstreamDeps): UpstreamParts {
  const { cookieJarStore, allowPrivate, isExempt, ...rest } = deps;
  const { now, setTimer } = deps;
  const jar = new CookieJar({ store: cookieJarStore, now, setTimer });
  const transportSecurity = new TransportSecurity({ store: cookieJarStore, now });
  const shared = {
    ...rest,
    jar,
    transportSecurity,
    destinations: {
      allowPrivate,
      ...(isExempt === undefined ? {} : { isExempt }),
    },
    knownMedia: new KnownMedia(),
    preflights: new PreflightCache(now),
    retained: { total: 0 },
  };
  const upstream: Upstream = async (request) => {
    if (!URL.canParse(request.head.url)) {
      await request.body?.cancel();
      throw new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", "Cannot load the address: it is not a URL");
    }
    return new Exchange(shared, request).run();
  };
  return { upstream, jar, transportSecurity, warmer: new PageWarmer({ ask: upstream, jar, now }) };
}
