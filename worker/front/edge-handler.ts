/** Answers what a phone asks: requests for origins go upstream, those of scheme `ropeway:` are for the edge itself. */
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import type { ServerRequest } from "../../shared/http/exchange.ts";
import { EDGE_SCHEME, headerValue } from "../../shared/http/head-fields.ts";
import { isIdempotent, type RequestHead, type ScriptCookie } from "../../shared/http/heads.ts";
import { EdgeRequest } from "../../shared/subprotocol.ts";
import type { TrackerBlocker } from "../blocking/tracker-blocker.ts";
import type { PhoneDictionaries } from "../delivery/dictionary/phone-dictionaries.ts";
import type { SentLog, SentLogAnswer } from "../session/sent-log.ts";
import type { SessionConstants } from "../session/served-session.ts";
import { PageWarmer } from "../shared-cache/page-warmer.ts";
import { partitionOf } from "../upstream/cookie-jar.ts";
import type { Upstream, UpstreamParts, UpstreamResponse } from "../upstream/upstream.ts";

/** The cookie jar as scripts and the person may change it. */
export interface SiteData {
  setScriptCookie(topLevelOrigin: string, documentUrl: string, cookieString: string): Promise<void>;
  /** Those that scripts of this page may read, on any path of its origin. */
  scriptCookies(page: URL): Promise<readonly ScriptCookie[]>;
  clear(): Promise<void>;
  /** Clears the cookies of the site that this host belongs to, and of all that is in its pages. */
  clearSite(host: string): Promise<void>;
  /** Resolves when all that was set is stored. Rejects if the store failed. */
  flush(): Promise<void>;
}

export interface EdgeBackend {
  readonly upstream: Upstream;
  readonly siteData: SiteData;
  readonly warmer: Pick<PageWarmer, "warm">;
}

export type EdgeHandler = (request: ServerRequest, constants: SessionConstants) => Promise<UpstreamResponse>;

export function createEdgeBackend({ upstream, jar, transportSecurity, now }: UpstreamParts): EdgeBackend {
  return {
    upstream,
    warmer: new PageWarmer({ ask: upstream, jar, now }),
    siteData: {
      async setScriptCookie(topLevelOrigin, documentUrl, cookieString) {
        await jar.setScriptCookie(topLevelOrigin, new URL(documentUrl), cookieString);
      },
      scriptCookies: (page) => jar.scriptCookies(partitionOf(page.origin), page),
      async clear() {
        await jar.clear();
        await transportSecurity.clear();
      },
      async clearSite(host) {
        await jar.clearSite(host);
        await transportSecurity.clearSite(host);
      },
      flush: () => jar.flush(),
    },
  };
}

/** What the edge keeps for the phone that asks. */
export interface PhoneRecords {
  readonly sentLog: SentLog;
  readonly dictionaries?: Pick<PhoneDictionaries, "forget">;
  /** Null where the edge blocks none. */
  readonly trackers?: TrackerBlocker | null;
}

export function createEdgeHandler(
  { upstream, siteData, warmer }: EdgeBackend,
  { sentLog, dictionaries, trackers = null }: PhoneRecords,
): EdgeHandler {
  return async (request, constants) => {
    const { head } = request;
    if (!head.url.startsWith(EDGE_SCHEME)) {
      const beforeSend = await claimOf(head, sentLog);
      const isBlocking = trackers !== null && constants.blocksTrackers === true;
      return upstream({
        ...request,
        ...constants,
        ...(isBlocking ? { checkUrl: (url: URL) => trackers.check(head, url) } : {}),
        ...(beforeSend === null ? {} : { beforeSend }),
      });
    }
    if (head.method === "GET" && head.url === EdgeRequest.SCRIPT_COOKIES)
      return withoutBody(head, await siteData.scriptCookies(pageOf(head)));
    if (head.method === "GET" && head.url === EdgeRequest.WARMED_PAGE) {
      const response = await warmer.warm({ ...request, ...constants }, linkOf(head));
      if (response !== null) return response;
    } else await answerEdgeRequest(head, siteData);
    // Sealed as they are, nobody can tell which are a site's.
    if (head.method === "DELETE") await dictionaries?.forget();
    return withoutBody(head, []);
  };
}

function withoutBody({ url }: RequestHead, scriptCookies: readonly ScriptCookie[]): UpstreamResponse {
  return {
    head: { status: 204, headers: [], url, redirected: false, coding: "identity", scriptCookies },
    body: null,
  };
}

/**
 * What must not run twice is logged before it is sent, and not sent again (PROTOCOL.md section 5.5).
 *
 * @returns to be called when the request is about to be sent and not before, or what was still being uploaded when the
 * edge died would count as sent; null where nothing is to be logged. It throws as this does.
 * @throws RopewayError ALREADY_SENT or OUTCOME_UNKNOWN, and then it was not sent now.
 */
async function claimOf({ method, delivery }: RequestHead, sentLog: SentLog): Promise<(() => Promise<void>) | null> {
  if (isIdempotent(method) || delivery === undefined) return null;
  const { id, isRepeat } = delivery;
  if (id === null) throw notSentAgain("unknown");
  const refuse = (answer: SentLogAnswer): void => {
    if (answer !== "new") throw notSentAgain(answer);
  };
  // What is known now need not wait for the body.
  if (isRepeat) refuse(await sentLog.find(id));
  return async () => refuse(await sentLog.claim(id, isRepeat));
}

function notSentAgain(answer: Exclude<SentLogAnswer, "new">): RopewayError {
  const [code, reason] =
    answer === "sent"
      ? [ErrorCode.ALREADY_SENT, "it was sent before its session was lost; look at the site for what became of it"]
      : [ErrorCode.OUTCOME_UNKNOWN, "nobody knows whether it was sent before its session was lost"];
  return new RopewayError(code, "stream", "library", `Cannot send the request again: ${reason}`);
}

async function answerEdgeRequest(head: RequestHead, siteData: SiteData): Promise<void> {
  if (head.method === "PUT" && head.url === EdgeRequest.SCRIPT_COOKIE) {
    const documentUrl = headerValue(head.headers, "document-url") ?? "";
    if (!URL.canParse(documentUrl) || new URL(documentUrl).origin !== head.origin) {
      throw violation("Cannot set a cookie: the document is not of the origin that asks");
    }
    const cookieString = decode(headerValue(head.headers, "cookie-string") ?? "");
    return siteData.setScriptCookie(head.topLevelOrigin, documentUrl, cookieString);
  }
  // No page may: the person asks for it.
  const isPersons = head.origin === null;
  if (head.method === "DELETE" && head.url === EdgeRequest.SITE_DATA && isPersons) return siteData.clear();
  if (head.method === "DELETE" && head.url === EdgeRequest.SITE && isPersons) {
    const host = headerValue(head.headers, "host-name") ?? "";
    if (URL.parse(`http://${host}`)?.hostname !== host) throw violation("Cannot forget a site: it has no host's name");
    return siteData.clearSite(host);
  }
  throw violation(`Cannot answer ${head.method} ${head.url}: the edge has nothing of that name`);
}

/** What the page's link leads to. */
function linkOf(head: RequestHead): URL {
  const url = pageOf(head);
  if (url.search !== "" || url.username + url.password !== "")
    throw violation("Cannot warm a link: it says more than a path");
  return url;
}

/** A page of the site itself, which asks. */
function pageOf({ url, headers, origin, topLevelOrigin }: RequestHead): URL {
  const page = URL.parse(headerValue(headers, "document-url") ?? "");
  const isOwn = page !== null && /^https?:$/.test(page.protocol) && page.origin === origin && origin === topLevelOrigin;
  if (!isOwn) throw violation(`Cannot answer GET ${url}: the document is not of the site that asks`);
  return page;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw violation("Cannot set a cookie: it is not percent-encoded UTF-8");
  }
}

function violation(message: string): RopewayError {
  return new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", message);
}
