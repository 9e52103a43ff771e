/**
 * The edge's side towards origins: one exchange, from a request head and body to a response head and body, with
 * everything between that a browser would do: cookies, redirects, CORS, referrer and origin fields.
 */
import type { Clock } from "../../shared/clock.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import type { ServerRequest, ServerResponse } from "../../shared/http/exchange.ts";
import type {
  Continuation,
  HeaderField,
  HeaderList,
  ReferrerPolicy,
  ResponseHead,
  Resumption,
  ScriptCookie,
} from "../../shared/http/heads.ts";
import { type AcceptTable, clearedField } from "../../shared/http/phone-fields.ts";
import { cacheModeFields, clears } from "../../shared/http-cache/cache-rules.ts";
import * as limits from "../../shared/limits.ts";
import { bareUrl, isMixedContent, isSameOrigin } from "../../shared/web/origin.ts";
import { applyReferrerPolicy, parseReferrerPolicy } from "../../shared/web/policies.ts";
import {
  type CookieChange,
  CookieJar,
  type CookieJarStore,
  cookieAccess,
  hopPartition,
  visibleChanges,
} from "./cookie-jar.ts";
import {
  allowedFields,
  checkCors,
  denied,
  needsPreflight,
  PreflightCache,
  preflightFields,
  redirectedFields,
  responseTainting,
  type Tainting,
  unsafeFieldNames,
} from "./cors.ts";
import { checkDestination, type DestinationPolicy } from "./destination.ts";
import {
  buildRequestHeaders,
  decodedLength,
  isCorsElement,
  originField,
  pageFields,
  serializedOrigin,
} from "./fields.ts";
import { type Admission, admit, checkResourcePolicy, firstByte, KnownMedia, SNIFFED_BYTES } from "./opaque.ts";
import type { OpenOriginSocket } from "./origin-socket.ts";
import { openPageSocket } from "./page-socket.ts";
import {
  BODY_FIELDS,
  basicAuthorization,
  hasCredentials,
  isRedirect,
  locationOf,
  mayFollow,
  nextHop,
  notFollowed,
  ownReferrer,
  TransportSecurity,
} from "./redirects.ts";
import { RequestBody, type RetainedBytes, type WithFixedLength } from "./request-body.ts";
import { type BodyPlatform, type ChunkReader, type CodedBody, openBody, responseBody } from "./response-body.ts";
import {
  type ExplainFailure,
  type FetchFunction,
  type OfflineCheck,
  type Outgoing,
  type SendDeps,
  Sender,
  toRopewayError,
} from "./send.ts";
import { addStoreCondition, leavesCorsOut, shownResponse } from "./shown-response.ts";

/**
 * @returns the response with its body decoded.
 * @throws RopewayError of scope "stream" with the code that says what went wrong.
 */
export type Upstream = (request: UpstreamRequest) => Promise<UpstreamResponse>;

/** Its clock counts milliseconds since the epoch. */
export interface UpstreamDeps extends Clock, BodyPlatform {
  /** Reaches no private network by a name, unless that is allowed. */
  readonly fetch: FetchFunction;
  readonly fetchLeniently?: FetchFunction;
  readonly openSocket: OpenOriginSocket;
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
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The upstream of a phone: cookies and preflight results are shared by all its exchanges. */
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
    socketBytes: { total: 0 },
  };
  const upstream: Upstream = async (request) => {
    if (!URL.canParse(request.head.url)) {
      await request.body?.cancel();
      throw new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", "Cannot load the address: it is not a URL");
    }
    if (request.head.protocol === "websocket") return openPageSocket(shared, request);
    return new Exchange(shared, request).run();
  };
  return { upstream, jar, transportSecurity, now };
}

/** A request to `upstream`. Its body is owned by the exchange from then on. */
export interface UpstreamRequest extends ServerRequest {
  /** Fields that the phone sends once for its session. */
  readonly userAgent: string;
  readonly acceptLanguage: string;
  readonly savesData?: boolean;
  readonly accept?: AcceptTable;
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

/** A response with its body decoded. */
export interface UpstreamResponse extends ServerResponse {
  /** The same body as its origin coded it, where that can be passed on. Whoever does not drops it. */
  readonly coded?: CodedBody | null;
  /** Its origin found it worth a coding, which is undone. */
  readonly cameCoded?: boolean;
}

interface ExchangeDeps extends SendDeps, BodyPlatform {
  readonly destinations: DestinationPolicy;
  readonly jar: CookieJar;
  readonly transportSecurity: TransportSecurity;
  readonly preflights: PreflightCache;
  readonly knownMedia: KnownMedia;
  readonly retained: RetainedBytes;
  readonly now: () => number;
  readonly withFixedLength?: WithFixedLength;
}

/** An exchange with origins: from the phone's request through redirects to the response that goes to the phone. */
class Exchange {
  readonly #deps: ExchangeDeps;
  readonly #request: UpstreamRequest;
  readonly #sender: Sender;
  readonly #continuation: Continuation | null;
  /** Every URL of the exchange, without credentials and fragment; the last is the current hop's. */
  readonly #chain: [URL, ...URL[]];
  readonly #changes: CookieChange[] = [];
  readonly #clearedOrigins = new Set<string>();
  #method: string;
  #fields: HeaderList;
  #body: RequestBody | null;
  #referrer: string;
  #referrerPolicy: ReferrerPolicy | "";
  /** Fragment of the last redirect that had one, with `#`. */
  #fragment = "";
  #tainting: Tainting = "basic";
  /** Cookies went with it: what came back may be for this person alone. */
  #isPersonal = false;
  /** Its URL is not the one that was asked for. */
  #isUpgraded = false;
  /** Whether `beforeSend` was called. */
  #isClaimed = false;
  /** The last response is a 304: the phone's stored response is still good. */
  #isStillGood = false;
  /** The last request. */
  #sent: Outgoing | null = null;

  /** @param request its URL has to be one; its body is owned from here on */
  constructor(deps: ExchangeDeps, request: UpstreamRequest) {
    this.#deps = deps;
    this.#request = request;
    const { head, body } = request;
    const cachesFor = head.cache === "no-store" ? null : head.topLevelOrigin;
    this.#sender = new Sender(deps, request.signal, cachesFor);
    this.#continuation = head.delivery?.continuation ?? null;
    this.#method = head.method;
    this.#fields = allowedFields(head, pageFields(head.headers));
    this.#referrer = ownReferrer(head);
    this.#referrerPolicy = head.referrerPolicy ?? "";
    this.#body = body === null ? null : this.#openBody(body);
    this.#chain = [this.#takeCredentials(new URL(head.url))];
  }

  async run(): Promise<UpstreamResponse> {
    try {
      if (this.#body !== null && (this.#method === "GET" || this.#method === "HEAD")) await this.#dropBody();
      return await this.#run();
    } catch (error) {
      this.#sender.abort();
      await this.#body?.close(error);
      throw toRopewayError(error);
    }
  }

  get #url(): URL {
    return this.#chain[this.#chain.length - 1] as URL;
  }

  async #run(): Promise<UpstreamResponse> {
    for (;;) {
      const response = await this.#hop();
      const location = locationOf(response.headers);
      if (!isRedirect(response.status, location) || !mayFollow(this.#request.head, this.#url, location))
        return this.#respond(response);
      await this.#follow(response, location);
    }
  }

  /** Sends a request and takes its response head: checked, with its cookies stored. */
  async #hop(): Promise<Response> {
    const { head, userAgent, acceptLanguage, savesData = false, accept = {} } = this.#request;
    const elsewhere = await this.#secure();
    if (elsewhere !== null) return elsewhere;
    const url = this.#url;
    this.#tainting = responseTainting(head, this.#method, url, this.#tainting);
    checkDestination(url, this.#deps.destinations);
    await this.#request.checkUrl?.(url);
    if (this.#tainting === "cors") await this.#preflight();

    const access = cookieAccess(head, {
      url,
      method: this.#method,
      tainting: this.#tainting,
      isFirstHop: this.#chain.length === 1,
    });
    const { jar } = this.#deps;
    const cookie = access.allowed ? await jar.fieldFor({ ...access, url }) : "";
    this.#isPersonal ||= cookie !== "";
    const headers = buildRequestHeaders({
      head,
      chain: this.#chain,
      fields: this.#continuation === null ? this.#fields : withContinuation(this.#fields, this.#continuation),
      origin: this.#originField(),
      referrer: this.#referrer,
      cookie,
      userAgent,
      acceptLanguage,
      savesData,
      accept,
    });
    if (head.cache !== undefined) {
      const asked = { ...head, headers: [...headers], cacheMode: head.cache };
      for (const [name, value] of cacheModeFields(asked)) headers.set(name, value);
    }
    const isConditional = addStoreCondition(headers, head, this.#tainting, this.#chain.length === 1);
    const body = (await this.#body?.open()) ?? null;
    await this.#claim();
    this.#sent = { url, method: this.#method, headers, body };
    const response = await this.#sender.send(this.#sent);
    this.#request.checkResponse?.(response);
    await this.#deps.transportSecurity.take(access.partition, url, response.headers.get("strict-transport-security"));
    if (access.allowed) {
      const told = { url: url.href, headers: [...response.headers] };
      const [lines, clearsSite] = [response.headers.getSetCookie(), clears("cookies", told)];
      this.#changes.push(...(await jar.store({ ...access, url, lines, clearsSite })));
      if (clears("cache", told)) this.#clearedOrigins.add(url.origin);
    }
    if (this.#tainting === "opaque") checkResourcePolicy(response.headers, url, head.origin);
    this.#isStillGood = isConditional && response.status === 304;
    if (this.#tainting === "cors" && !(this.#isStillGood && leavesCorsOut(response))) {
      checkCors(response.headers, url, serializedOrigin(head.origin, this.#chain), head.credentials === "include");
    }
    return response;
  }

  async #claim(): Promise<void> {
    if (!this.#isClaimed) await this.#request.beforeSend?.();
    this.#isClaimed = true;
  }

  /**
   * Strict-Transport-Security, before anything goes out (Fetch section 4.1 step 8).
   *
   * @returns a redirect where the phone has to go there, since that is another origin with a slot of its own
   */
  async #secure(): Promise<Response | null> {
    const { head } = this.#request;
    const isNavigation = head.mode === "navigate";
    const partition = hopPartition(head, this.#url, this.#chain.length === 1);
    if (!(await this.#deps.transportSecurity.upgrades(partition, this.#url))) return null;
    const secure = new URL(this.#url);
    secure.protocol = "https:";
    if (isNavigation && head.redirect !== "follow") {
      return new Response(null, { status: 307, headers: { location: secure.href } });
    }
    // A document goes there as by a redirect, with that site's cookies; what it loads was never meant for http:.
    if (isNavigation) this.#chain.push(secure);
    else this.#chain[this.#chain.length - 1] = secure;
    this.#isUpgraded = true;
    return null;
  }

  async #preflight(): Promise<void> {
    const { head, userAgent, acceptLanguage } = this.#request;
    const url = this.#url;
    const unsafeNames = unsafeFieldNames(this.#fields);
    if (!needsPreflight(this.#method, unsafeNames)) return;
    const question = {
      partition: hopPartition(head, url, true),
      url,
      origin: serializedOrigin(head.origin, this.#chain),
      method: this.#method,
      unsafeNames,
      withCredentials: head.credentials === "include",
    };
    if (this.#deps.preflights.allows(question)) return;
    const response = await this.#sender.send({
      url,
      method: "OPTIONS",
      headers: buildRequestHeaders({
        head: { ...head, destination: "" },
        chain: this.#chain,
        fields: Object.entries(preflightFields(question)),
        origin: question.origin,
        referrer: this.#referrer,
        cookie: "",
        userAgent,
        acceptLanguage,
      }),
      body: null,
    });
    await response.body?.cancel();
    this.#deps.preflights.accept(question, response);
  }

  async #follow(response: Response, location: string): Promise<void> {
    const { head } = this.#request;
    const from = this.#url;
    if (head.redirect === "error") throw notFollowed(from, "the page asked for an error instead");
    await response.body?.cancel();
    const step = nextHop({ url: from, method: this.#method }, response.status, location, this.#chain.length - 1);
    const isOwn = this.#tainting === "basic" && isSameOrigin(head.origin, step.url.origin);
    if (head.mode === "cors" && !isOwn && hasCredentials(step.url)) {
      throw denied(step.url, "the redirect to it carries a user name or password");
    }
    this.#method = step.method;
    this.#fields = redirectedFields(head, this.#fields, this.#tainting === "basic" && step.url.origin !== from.origin);
    if (!step.keepsBody) await this.#dropBody();
    // A digest is of one address (RFC 7616 section 3.4): browsers make another for the next.
    this.#fields = this.#fields.filter(
      ([name, value]) => name !== "authorization" || (step.keepsAuthorization && !/^digest\b/i.test(value)),
    );
    this.#fragment = step.fragment || this.#fragment;
    if (head.mode !== "navigate" && isMixedContent(step.url, head.origin ?? head.topLevelOrigin)) {
      step.url.protocol = "https:";
    }
    const url = this.#takeCredentials(step.url);
    this.#referrerPolicy = parseReferrerPolicy(response.headers.get("referrer-policy")) || this.#referrerPolicy;
    // The phone has cut it for the first request; a hop may only ever tell less than that.
    this.#referrer = applyReferrerPolicy(this.#referrerPolicy, this.#referrer, url.href);
    this.#chain.push(url);
  }

  async #respond(response: Response): Promise<UpstreamResponse> {
    const url = this.#url;
    const isRedirected = this.#chain.length > 1;
    const hop = {
      method: this.#method,
      tainting: this.#tainting,
      url,
      isRedirected,
      isStillGood: this.#isStillGood,
      now: this.#deps.now(),
    };
    const shown = shownResponse(response, this.#request.head, hop);
    const opened = shown.hasBody ? await openBody(response, url.host, this.#deps) : null;
    let reader = opened === null ? null : this.#begunAnew(opened.body, response);
    if (reader !== null && this.#tainting === "opaque") {
      const { verdict, body } = await this.#admit(response, reader);
      const hasTooMuch = verdict === "public" && this.#isPersonal;
      if (verdict === "blocked" || hasTooMuch) await body.cancel();
      if (verdict === "blocked") throw denied(url, "what it sent is not for other origins");
      if (hasTooMuch) return this.#askWithoutCookies();
      reader = body;
    }
    const responseHead = {
      status: shown.status,
      ...(shown.reason === undefined ? {} : { reason: shown.reason }),
      headers: [...shown.headers, ...clearedField(this.#clearedOrigins)],
      url: shown.showsUrl ? url.href : this.#request.head.url,
      redirected: shown.showsUrl && (this.#isUpgraded || isRedirected),
      ...(shown.showsUrl && this.#fragment !== "" ? { fragment: this.#fragment } : {}),
      coding: "identity" as const,
      scriptCookies: await this.#scriptCookies(),
      ...(reader === null || this.#method !== "GET" ? {} : howToGoOn(response, this.#continuation)),
    };
    if (this.#body?.isReplayable) await this.#body.close(null);
    if (reader === null) {
      await response.body?.cancel();
      await this.#body?.close(null);
      return { head: responseHead, body: null };
    }
    const body = responseBody(reader, {
      translate: (error) => this.#sender.translate(url, error),
      onSettled: () => {
        // Cancelling the body alone leaves an upload running.
        this.#sender.abort();
        void this.#body?.close(null);
      },
    });
    return { head: responseHead, body, coded: opened?.coded ?? null, cameCoded: opened?.cameCoded ?? false };
  }

  /** @throws RopewayError for what the body fails with */
  async #admit(response: Response, reader: ChunkReader): Promise<Admission> {
    const { head } = this.#request;
    const url = this.#url;
    const opaque = {
      head,
      url,
      response,
      isContinuation: this.#continuation !== null && isContinuation(this.#continuation, response),
      known: this.#deps.knownMedia,
      fetchStart: () => this.#fetchStart(),
    };
    try {
      return await admit(opaque, reader);
    } catch (error) {
      throw this.#sender.translate(url, error);
    }
  }

  /** Where the body fails before any of it is there, the answer is asked for once more. */
  #begunAnew(body: ChunkReader, { status, headers }: Response): ChunkReader {
    let [current, isBegun] = [body, false];
    const begin = async (): Promise<Uint8Array | null> => {
      isBegun = true;
      try {
        return await body.read();
      } catch (failure) {
        if (this.#sent === null) throw failure;
        const again = await this.#sender.sendAgain(this.#sent, failure, headers.has("transfer-encoding"));
        if (again.status !== status) throw failure;
        current = (await openBody(again, this.#url.host, this.#deps)).body;
        return current.read();
      }
    };
    return { read: () => (isBegun ? current.read() : begin()), cancel: (reason) => current.cancel(reason) };
  }

  async #fetchStart(): Promise<{ response: Response; body: ChunkReader } | null> {
    const headers = new Headers(this.#sent?.headers);
    headers.set("range", `bytes=0-${SNIFFED_BYTES - 1}`);
    headers.delete("if-range");
    const response = await this.#sender.send({ url: this.#url, method: "GET", headers, body: null });
    const isStart = response.status === 200 || (response.status === 206 && firstByte(response) === 0);
    if (isStart && response.body !== null)
      return { response, ...(await openBody(response, this.#url.host, this.#deps)) };
    await response.body?.cancel();
    return null;
  }

  /** The same once more, as it is for everybody. */
  async #askWithoutCookies(): Promise<UpstreamResponse> {
    const { beforeSend: _, ...request } = this.#request;
    const before = await this.#scriptCookies();
    const response = await new Exchange(this.#deps, {
      ...request,
      head: { ...request.head, credentials: "omit" },
      body: null,
    }).run();
    const scriptCookies = [...before, ...response.head.scriptCookies];
    const headers = [...response.head.headers, ...clearedField(this.#clearedOrigins)];
    return { ...response, head: { ...response.head, headers, scriptCookies } };
  }

  async #scriptCookies(): Promise<readonly ScriptCookie[]> {
    const { head } = this.#request;
    if (head.mode === "navigate") {
      return this.#deps.jar.scriptCookies(hopPartition(head, this.#url, this.#chain.length === 1), this.#url);
    }
    const document = head.origin ?? head.topLevelOrigin;
    return URL.canParse(document) ? visibleChanges(this.#changes, new URL(document)) : [];
  }

  #openBody(stream: ReadableStream<Uint8Array>): RequestBody {
    const { retained, withFixedLength } = this.#deps;
    const declared = this.#request.head.headers.find(([name]) => name === "content-length")?.[1];
    return new RequestBody(stream, {
      declaredLength: declared !== undefined && /^\d{1,15}$/.test(declared) ? Number(declared) : null,
      retained,
      onWait: () => this.#sender.suspend(),
      onWaited: () => this.#sender.resume(),
      onFailure: (error) => this.#sender.abort(toRopewayError(error)),
      ...(withFixedLength === undefined ? {} : { withFixedLength }),
    });
  }

  #originField(): string | null {
    const { head } = this.#request;
    const isCors = this.#tainting === "cors" || isCorsElement(head);
    const policy = head.mode === "no-cors" ? this.#referrerPolicy : "";
    return originField({ origin: head.origin, method: this.#method, isCors, policy }, this.#chain);
  }

  async #dropBody(): Promise<void> {
    await this.#body?.close(null);
    this.#body = null;
    this.#fields = this.#fields.filter(([name]) => !BODY_FIELDS.has(name));
  }

  /** A navigation sends the credentials of its URL as Basic authentication; other requests do not send them. */
  #takeCredentials(url: URL): URL {
    const isSent = this.#request.head.mode === "navigate" && !this.#fields.some(([name]) => name === "authorization");
    if (isSent && hasCredentials(url)) {
      this.#fields = [...this.#fields, ["authorization", basicAuthorization(url)]];
    }
    return bareUrl(url);
  }
}

// How the body of a response goes on when its session is lost: byte ranges and validators (RFC 9110 sections 13, 14).

/** A Last-Modified is strong if the response is at least this much younger (RFC 9110 section 8.8.2.2). Milliseconds. */
const STRONG_DATE_AGE = 60_000;

interface OriginResponse {
  readonly status: number;
  readonly headers: Headers;
}

/** Marks of a GET for the tunnel. The page does not see them, so rules of CORS do not hold here. */
function howToGoOn(
  response: OriginResponse,
  continuation: Continuation | null,
): Pick<ResponseHead, "resumption" | "continues"> {
  const resumption = resumptionOf(response);
  return {
    ...(resumption === null ? {} : { resumption }),
    ...(continuation !== null && isContinuation(continuation, response) ? { continues: true } : {}),
  };
}

/** @returns null where the body cannot go on, or is too short to matter. */
export function resumptionOf({ status, headers }: OriginResponse): Resumption | null {
  const length = decodedLength(headers);
  if (length !== null && length < limits.resumableBodyBytes) return null;
  const etag = headers.get("etag")?.trim() ?? null;
  const isStrongTag = etag !== null && /^"[\x21\x23-\x7e]*"$/.test(etag) && etag.length <= 256;
  const validator = isStrongTag ? etag : etag === null ? strongDate(headers) : null;
  if (validator === null) return null;
  const range = identityRange(status, headers, length);
  return range === null && !isStrongTag ? null : { range, validator };
}

/** The fields that ask for the rest, and replace the page's own. */
export function withContinuation(fields: readonly HeaderField[], continuation: Continuation): HeaderField[] {
  const { first, last, validator } = continuation;
  return [
    ...fields.filter(([name]) => name !== "range" && name !== "if-range"),
    ["range", `bytes=${first}-${last}`],
    ["if-range", validator],
  ];
}

/** Whether the response is the rest that was asked for, of the very same representation. */
export function isContinuation(continuation: Continuation, { status, headers }: OriginResponse): boolean {
  const { first, last, total, validator } = continuation;
  if (status !== 206 || isCoded(headers)) return false;
  const range = contentRange(headers);
  const isSame = validator.startsWith('"')
    ? headers.get("etag")?.trim() === validator
    : headers.get("last-modified")?.trim() === validator;
  return isSame && range?.first === first && range.last === last && range.total === total;
}

/** Range of the uncoded representation that the body is, or null where a range would be of other bytes. */
function identityRange(status: number, headers: Headers, length: number | null): Resumption["range"] {
  if (length === null || isCoded(headers)) return null;
  if (status === 200) return length === 0 ? null : { first: 0, last: length - 1, total: length };
  const range = status === 206 ? contentRange(headers) : null;
  return range !== null && range.last - range.first + 1 === length ? range : null;
}

function isCoded(headers: Headers): boolean {
  return !["", "identity"].includes((headers.get("content-encoding") ?? "").trim().toLowerCase());
}

function contentRange(headers: Headers): { first: number; last: number; total: number } | null {
  const match = headers.get("content-range")?.match(/^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/);
  if (!match) return null;
  const [first, last, total] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return first <= last && last < total ? { first, last, total } : null;
}

function strongDate(headers: Headers): string | null {
  const modified = headers.get("last-modified")?.trim() ?? "";
  const age = Date.parse(headers.get("date") ?? "") - Date.parse(modified);
  return age >= STRONG_DATE_AGE ? modified : null;
}
