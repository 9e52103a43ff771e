/** Answers what a phone asks: requests for origins go upstream, those of scheme `ropeway:` are for the edge itself. */

import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { EDGE_SCHEME, headerValue, toAsciiJson } from "../../shared/http/head-fields.ts";
import { type HeaderField, isIdempotent, type RequestHead, type ScriptCookie } from "../../shared/http/heads.ts";
import * as limits from "../../shared/limits.ts";
import { EdgeRequest } from "../../shared/subprotocol.ts";
import { decodeByteString, encodeByteString } from "../../shared/web/origin.ts";
import type { TrackerBlocker } from "../blocking/tracker-blocker.ts";
import { PageWarmer } from "../shared-cache/page-warmer.ts";
import { partitionOf } from "../upstream/cookie-jar.ts";
import { fieldSize, withoutLongest } from "../upstream/fields.ts";
import type { Upstream, UpstreamParts, UpstreamResponse } from "../upstream/upstream.ts";
import type { PhoneDictionaries } from "./dictionaries.ts";
import type { AskOrigin } from "./session-delivery.ts";

/** The cookie jar as scripts and the person may change it. */
export interface SiteData {
  setScriptCookie(topLevelOrigin: string, documentUrl: string, cookieString: string): Promise<void>;
  /** Cookies that scripts of this page may read, on any path of its origin. */
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

export function createEdgeBackend({ upstream, jar, transportSecurity, now }: UpstreamParts): EdgeBackend {
  return withTextCookies({
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
  });
}

/** Records that the edge keeps for the phone that asks. */
interface PhoneRecords {
  readonly sentLog: SentLog;
  readonly dictionaries?: Pick<PhoneDictionaries, "forget">;
  /** Null where the edge blocks none. */
  readonly trackers?: TrackerBlocker | null;
}

export function createEdgeHandler(
  { upstream, siteData, warmer }: EdgeBackend,
  { sentLog, dictionaries, trackers = null }: PhoneRecords,
): AskOrigin {
  return async (request, phone) => {
    const { head } = request;
    if (!head.url.startsWith(EDGE_SCHEME)) {
      const beforeSend = await claimOf(head, sentLog);
      const isBlocking = trackers !== null && phone.blocksTrackers === true;
      return upstream({
        ...request,
        ...phone,
        ...(isBlocking ? { checkUrl: (url: URL) => trackers.check(head, url) } : {}),
        ...(beforeSend === null ? {} : { beforeSend }),
      });
    }
    if (head.method === "GET" && head.url === EdgeRequest.SCRIPT_COOKIES)
      return withoutBody(head, await siteData.scriptCookies(pageOf(head)));
    if (head.method === "GET" && head.url === EdgeRequest.WARMED_PAGE) {
      const response = await warmer.warm({ ...request, ...phone }, linkOf(head));
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
 * A request that must not run twice is logged before it is sent, and not sent again (PROTOCOL.md section 5.5).
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
  // Facts that are known now need not wait for the body.
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

/** The address that the page's link leads to. */
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

// Requests that must not run twice, and were sent to their origins, so that a phone that lost its session can ask
// again without fear. An entry is durable before the request leaves.

/** Where one phone's entries are kept. Times are milliseconds since the epoch. */
export interface SentLogStore {
  /** The log has an entry for each request that was sent after this time, if it is not too old. */
  coversFrom(): Promise<number>;
  has(id: string): Promise<boolean>;
  /** Resolves with false when it was there, else with true once it is durable. */
  add(id: string, time: number): Promise<boolean>;
  /** Drops entries of before `time`, and the oldest of those above `count`, which `coversFrom` accounts for. */
  prune(time: number, count: number): Promise<void>;
}

/** "new": it may be sent, and counts as sent from now on. */
type SentLogAnswer = "new" | "sent" | "unknown";

/** Entries between two times that the log is pruned. */
const PRUNE_INTERVAL = 64;

export class SentLog {
  #store: SentLogStore;
  #now: () => number;
  #addedSincePrune = 0;

  constructor(store: SentLogStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** The answer that `claim` would give to a repeated request now. */
  async find(id: string): Promise<SentLogAnswer> {
    if (await this.#store.has(id)) return "sent";
    return (await this.#store.coversFrom()) > this.#now() - limits.repeatWindow ? "unknown" : "new";
  }

  /** @param isRepeat an earlier attempt may have been sent, up to limits.repeatWindow ago. */
  async claim(id: string, isRepeat: boolean): Promise<SentLogAnswer> {
    if (isRepeat) {
      const found = await this.find(id);
      if (found !== "new") return found;
    }
    const now = this.#now();
    if (!(await this.#store.add(id, now))) return "sent";
    await this.#prune(now);
    return "new";
  }

  /** Whether nothing came before by this name; it counts as come from now on, for limits.sentLogTime. */
  async isFirst(name: string): Promise<boolean> {
    // No request's id has a space.
    return (await this.claim(`link ${name}`, false)) === "new";
  }

  async #prune(now: number): Promise<void> {
    this.#addedSincePrune += 1;
    if (this.#addedSincePrune < PRUNE_INTERVAL) return;
    this.#addedSincePrune = 0;
    await this.#store.prune(now - limits.sentLogTime, limits.sentLogEntries);
  }
}

/** For an edge that has no store: what it sent before it started, it does not know. */
export function memorySentLogStore(startedAt: number): SentLogStore {
  /** In the order in which they were added. */
  const entries = new Map<string, number>();
  let coversFrom = startedAt;
  return {
    coversFrom: async () => coversFrom,
    has: async (id) => entries.has(id),
    async add(id, time) {
      if (entries.has(id)) return false;
      entries.set(id, time);
      return true;
    },
    async prune(time, count) {
      for (const [id, at] of entries) {
        const isEarly = at >= time;
        if (isEarly && entries.size <= count) break;
        entries.delete(id);
        if (isEarly) coversFrom = Math.max(coversFrom, at);
      }
    },
  };
}

// The jar holds cookies as their bytes, one character each; scripts set and see text.

/** The same backend for who reads text. */
export function withTextCookies({ upstream, siteData, warmer }: EdgeBackend): EdgeBackend {
  return {
    // A stranger has no cookies.
    warmer,
    async upstream(request) {
      const response = await upstream(request);
      const { headers, scriptCookies } = response.head;
      return { ...response, head: { ...response.head, scriptCookies: fittingCookies(asText(scriptCookies), headers) } };
    },
    siteData: {
      ...siteData,
      scriptCookies: async (page) => fittingCookies(asText(await siteData.scriptCookies(page)), []),
      setScriptCookie: (topLevelOrigin, documentUrl, cookieString) =>
        siteData.setScriptCookie(topLevelOrigin, documentUrl, encodeByteString(cookieString)),
    },
  };
}

/** Bytes of a head: as many for scripts' cookies at most, and so many left for what the edge itself says. */
const [COOKIE_BYTES, OWN_BYTES] = [24 * 1024, 3 * 1024];

/** A page without its longest cookies shows; behind a head that is too long for the link none does. */
function fittingCookies(cookies: readonly ScriptCookie[], headers: readonly HeaderField[]): readonly ScriptCookie[] {
  const taken = headers.reduce((sum, field) => sum + fieldSize(field), 0);
  const room = Math.min(COOKIE_BYTES, limits.headBytes - OWN_BYTES - taken);
  return withoutLongest(cookies, {
    sizeOf: (cookie) => toAsciiJson(cookie).length + 1,
    fits: (bytes) => bytes <= room,
  });
}

function asText(cookies: readonly ScriptCookie[]): ScriptCookie[] {
  return cookies.map((cookie) => ({
    ...cookie,
    name: decodeByteString(cookie.name),
    value: decodeByteString(cookie.value),
  }));
}
