/**
 * A slot's service worker: answers every request of its pages out of the tunnel. The page and this worker are one
 * trust domain; what keeps sites apart is that the tunnel stamps who asks.
 */
import { ErrorCode, later, RopewayError } from "../../shared/errors.ts";
import { headerValue } from "../../shared/http/head-fields.ts";
import type { Destination } from "../../shared/http/heads.ts";
import { RESERVED_PATH } from "../../shared/subprotocol.ts";
import { MESSAGE_TAG } from "../messages/page-messages.ts";
import type { PortRequestHead, SlotBinding } from "../messages/port-messages.ts";
import type { PageSocketRequest, SocketToPage } from "../messages/socket-messages.ts";
import type { AppScript, PageToWorker, WorkerToPage } from "../messages/worker-messages.ts";
import { allowsFrame, allowsSocket } from "../slot/policy.ts";
import { BACK_QUERY, ropewayPath, TOP_LEVEL_QUERY, toReal } from "../slot/slot-url.ts";
import { answerDownload, answerNavigation } from "./answer/navigation.ts";
import {
  answerReserved,
  answerScript,
  noticePage,
  placeholderPage,
  rebootPage,
  withPrelude,
} from "./answer/reserved-paths.ts";
import { answerSubresource, savingWorker, WORKERS } from "./answer/subresource.ts";
import { PortLost } from "./port-lost.ts";
import { EventStreams, isFromOwn, outgoingBody, referrerOf, requestHead, watchedBody } from "./request/slot-request.ts";
import { SlotClients, slotCondition } from "./slot-clients.ts";
import { isListed, type SlotContext, type SlotExchange, slotContext } from "./slot-exchange.ts";
import { takeOver } from "./take-over.ts";
import type { TunnelPort, TunnelResponse } from "./tunnel-port.ts";

declare const self: ServiceWorkerGlobalScope & {
  /** Put in by the build: paths of scripts that pages load late, by the query that asks for them. */
  readonly __LATE: Readonly<Record<string, string>>;
  /** The same of those on the shell's host: the browser has them once for all slots. */
  readonly __PDF: Readonly<Record<string, string>>;
  /** The path of `view.ts`, of `words.ts`, and of each language's words, with `*` in the place of the query. */
  readonly __VIEW: string;
};

const clients = new SlotClients();
const eventStreams = new EventStreams();
/** As of "find-script". A page's import may be here before it. */
const scripts = { "?find": Promise.withResolvers<string>(), "?read": Promise.withResolvers<string>() };
/** Requests that are not over. */
let underway = 0;

takeOver();

self.addEventListener("message", (event) => {
  const message = event.data as PageToWorker | null;
  if (message?.tag !== MESSAGE_TAG) return;
  switch (message.type) {
    case "port": {
      const port = event.ports[0];
      if (port !== undefined && event.source instanceof Client) clients.takePort(port, event.source, message.goal);
      return;
    }
    case "condition-wanted":
      if (event.source instanceof Client) event.waitUntil(tellCondition(event.source.id, event.ports[0]));
      return;
    case "cookies-applied":
      clients.acknowledge(message.id);
      return;
    case "keep-alive":
      return clients.hearKeepAlive(event.source);
    case "reads-pixels":
      if (event.source instanceof Client) void clients.portOf(event.source.id).then((port) => port?.readsPixels());
      return;
    case "find-script":
      return scripts[message.name ?? "?find"].resolve(message.script);
    case "cookie-set":
      event.waitUntil(setCookie(event.source, message));
      return;
    case "socket": {
      const [port, life] = event.ports;
      if (port && life) event.waitUntil(openSocket(event.source, message, port, life));
    }
  }
});

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (url.protocol !== "http:" && url.protocol !== "https:") return;
  if (isListed() && isOfWiping(url, event.request)) return;
  let finish: () => void = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  underway += 1;
  void finished.then(() => {
    underway -= 1;
  });
  const isNavigation = event.request.mode === "navigate";
  const answer = respond(event, url, finish).catch((error: unknown) => {
    finish();
    // Without a window there is no way to the tunnel; the boot page gets one.
    return error instanceof PortLost && isNavigation ? rebootPage(url) : Response.error();
  });
  if (isNavigation) void answer.then((document) => clients.noteDocument(event.resultingClientId, document));
  event.respondWith(answer);
  // Not until a body is through: Chromium ends the worker, and with it all its downloads, after five minutes of this.
  event.waitUntil(finished);
});

/** @param finish called when nothing is outstanding that the browser does not wait for by itself. */
async function respond(event: FetchEvent, url: URL, finish: () => void): Promise<Response> {
  const { request } = event;
  const isReserved = url.host === self.location.host && url.pathname.startsWith(RESERVED_PATH);
  const isDownload = isReserved && url.pathname === ropewayPath.download;
  if (isReserved && url.pathname === ropewayPath.frame) return placeholder(event, url, finish);
  if (isReserved && !isDownload) {
    finish();
    return answerOwn(url, request.mode === "navigate");
  }
  if (request.referrer === self.location.origin + ropewayPath.forgotten) {
    finish();
    return Response.error();
  }
  if (isListed() && request.mode === "navigate" && request.isHistoryNavigation === true) {
    finish();
    return rebootPage(url, BACK_QUERY);
  }
  let port = await portFor(event);
  const context = slotContext(self.location, await port.binding);
  if (isBackToForm(request)) {
    finish();
    return sentNotice(toReal(request.url, context), context);
  }
  if (request.mode === "navigate" && context.binding.topLevel && !(await isFromOwn(event, context.shellOrigin))) {
    finish();
    return rebootPage(url, TOP_LEVEL_QUERY);
  }
  const body = await outgoingBody(request, context);
  const isSaved = isDownload && kindOf(request, url.searchParams) === null;
  const plain = await headOf(event, isDownload ? url.searchParams : null, context, body.length);
  const events = eventStreams.begin(event.clientId, request);
  const head = { ...plain, headers: [...plain.headers, ...(events?.headers ?? [])] };
  const { content, onTaken } = watchedBody(event, body);
  const exchange: SlotExchange = {
    request,
    context,
    head,
    savesData: clients.savesData,
    async send() {
      try {
        const sent = await clients.whileThere(event, (signal) => port.fetch(head, content, signal, onTaken));
        const response = embeddable(sent, head, event.clientId, context);
        if (events !== null) response.watch(events);
        return response;
      } catch (error) {
        if (error instanceof RopewayError) events?.onEnd(error);
        if (!(error instanceof PortLost)) throw error;
        port = await portFor(event);
        return exchange.send();
      }
    },
    showPicture: (note) => void clients.showPicture(event.clientId, request.url, note),
    showCookies: (cookies) => clients.showCookies(cookies),
    noDocument: (leadsTo) => port.noDocument(head.url, leadsTo),
    silentDocument: (document) => port.silentDocument(document),
    workerScript: withPrelude,
    finish,
  };
  return isSaved ? answerDownload(exchange, url.searchParams.get("name")) : answerOf(exchange, events !== null);
}

/** Requests for the app's own files need no tunnel. */
async function answerOwn(url: URL, isNavigation: boolean): Promise<Response> {
  const { search } = url;
  const context = slotContext(self.location, UNBOUND);
  if (!isNavigation && url.pathname === ropewayPath.pageScript && search !== "") {
    if (search in scripts) return answerScript(await scripts[search as AppScript].promise);
    const own = self.__LATE[search];
    if (own !== undefined) return fetch(own);
    const path = self.__PDF[search] ?? self.__VIEW.replace("*", search.slice(1));
    const response = await fetch(context.shellOrigin + path);
    // Policies and workers want a script of the page's own host.
    return response.ok ? answerScript(await response.text()) : Response.error();
  }
  return answerReserved(url, context, isNavigation);
}

/** The elements for which scripts may ask. A server may trust what the destination of a document or worker says. */
const FILES = ["audio", "font", "image", "script", "style", "track", "video"] as const;

/**
 * Of a file that a script asks for in the place of an element of a document without a service worker. Null: another one,
 * and what an element or a worker asks for itself, which would be made of it.
 */
function kindOf({ destination, method }: Request, download: URLSearchParams): Destination | null {
  if (destination !== "" || method !== "GET") return null;
  return FILES.find((kind) => kind === download.get("kind")) ?? null;
}

/** @param download what the address of a download says. */
async function headOf(
  { request, clientId }: FetchEvent,
  download: URLSearchParams | null,
  context: SlotContext,
  bodyLength: number | null,
): Promise<PortRequestHead> {
  const documentUrl = clientId === "" ? null : await clients.documentUrl(clientId);
  const target = download === null ? request.url : (download.get("url") ?? "");
  const asked = requestHead(request, target, context, { documentUrl, bodyLength });
  if (download === null) return withoutCredentials(asked, clientId, context);
  const kind = kindOf(request, download);
  if (kind === null) return { ...asked, destination: "", mode: "same-origin", isFile: true };
  // No element sends fields of a script's choice.
  const headers = asked.headers.filter(([name]) => name === "accept");
  const head: PortRequestHead = {
    ...asked,
    headers,
    destination: kind,
    mode: download.has("cors") ? "cors" : "no-cors",
  };
  return withoutCredentials(head, clientId, context);
}

/** Isolated documents that are `credentialless` ask other origins so for what they embed (Fetch section 4.6). */
function withoutCredentials(head: PortRequestHead, clientId: string, { realOrigin }: SlotContext): PortRequestHead {
  const isEmbedded = head.mode === "no-cors" && new URL(head.url).origin !== realOrigin;
  return isEmbedded && clients.isolationOf(clientId) === "credentialless" ? { ...head, credentials: "omit" } : head;
}

/**
 * An isolated document embeds of other origins only what says so, or what it got without credentials (Fetch section 3.7);
 * Chromium asks that of no response that a worker has made. The edge has looked at the policy's value.
 *
 * @throws RopewayError CORS_DENIED
 */
function embeddable(
  response: TunnelResponse,
  { mode, credentials }: PortRequestHead,
  clientId: string,
  { realOrigin }: SlotContext,
): TunnelResponse {
  const { url, headers } = response.head;
  if (mode !== "no-cors" || new URL(url).origin === realOrigin) return response;
  const isolation = clients.isolationOf(clientId);
  // The document's own origin may lead a request with credentials elsewhere; the edge tells that of scripts and styles alone.
  if (isolation === undefined || (isolation === "credentialless" && credentials === "omit")) return response;
  if (headerValue(headers, "cross-origin-resource-policy") !== null) return response;
  response.cancel();
  const message = `Cannot load ${url}: it does not say that isolated pages may embed it`;
  throw new RopewayError(ErrorCode.CORS_DENIED, "stream", "origin", message);
}

/** To a network error an event source connects again, which is of no use here: browsers do not after these. */
const CLOSES_EVENTS: ReadonlySet<number> = new Set([
  ErrorCode.CORS_DENIED,
  ErrorCode.UNSUPPORTED_SCHEME,
  ErrorCode.DESTINATION_FORBIDDEN,
  ErrorCode.BLOCKED,
]);

async function answerOf(exchange: SlotExchange, isForEvents: boolean): Promise<Response> {
  const { request, savesData } = exchange;
  if (request.mode === "navigate") return answerNavigation(exchange);
  const answer = await answerSubresource(exchange).catch((error: unknown) => {
    if (!isForEvents || !(error instanceof RopewayError) || !CLOSES_EVENTS.has(error.code)) throw error;
    exchange.finish();
    return new Response(null, { status: 403 });
  });
  return savesData && WORKERS.has(request.destination) ? savingWorker(answer) : answer;
}

/** The history leads back to what a form led to, and Chromium has sent that on with its body. */
function isBackToForm({ mode, method, cache }: Request): boolean {
  return mode === "navigate" && method === "POST" && cache === "only-if-cached";
}

function sentNotice(url: string, context: SlotContext): Response {
  const message = later("Cannot show what the form led to: it is not kept, and nothing is sent twice");
  return noticePage({ kind: "failed", url, method: "POST", code: ErrorCode.ALREADY_SENT, message }, context);
}

/** The edge itself answers: what empties the host must not come from what is emptied. */
function isOfWiping({ host, pathname }: URL, { mode }: Request): boolean {
  if (host !== self.location.host) return false;
  if (pathname === ropewayPath.cleared) return mode !== "navigate";
  return pathname === ropewayPath.wipe || pathname === `${ropewayPath.wipe}.js`;
}

async function tellCondition(askerId: string, port: MessagePort | undefined): Promise<void> {
  port?.postMessage(await slotCondition(askerId, underway > 0));
}

/** @throws PortLost when there is none. */
async function portFor(event: FetchEvent): Promise<TunnelPort> {
  const port = await clients.portFor(event);
  if (port === null) throw new PortLost();
  return port;
}

/** For as long as no window says whose slot this is. */
const UNBOUND: SlotBinding = { origin: "", topLevelOrigin: "", topLevel: false };

/** The body of a form is in the tunnel before its document can ask for it. */
async function placeholder(event: FetchEvent, { searchParams }: URL, finish: () => void): Promise<Response> {
  const { request, clientId } = event;
  if (request.mode !== "navigate") {
    finish();
    return judgeFrame(request);
  }
  const port = await clients.portFor(event);
  const binding = await port?.binding;
  const context = slotContext(self.location, binding ?? UNBOUND);
  const documentUrl = clientId === "" ? null : await clients.documentUrl(clientId);
  const url = searchParams.get("url") ?? "";
  const asked = { referrer: request.referrer, policy: searchParams.get("policy") ?? request.referrerPolicy };
  const referrer = binding === undefined ? "" : referrerOf(asked, url, context, documentUrl);
  if (request.method !== "POST") {
    finish();
    return placeholderPage(url, { referrer }, context);
  }
  const form = crypto.randomUUID();
  try {
    if (port === null) throw new PortLost();
    const body = await outgoingBody(request, context);
    const head = { ...requestHead(request, url, context, { documentUrl, bodyLength: null }), form };
    const kept = await port.fetch(head, body.content, new AbortController().signal);
    kept.watch({ onEnd: finish });
    void new Response(kept.body()).arrayBuffer().catch(() => {});
    return placeholderPage(url, { referrer, form }, context);
  } catch {
    finish();
    const message = later("Cannot send the form: the app has to be opened anew");
    return noticePage({ kind: "failed", url, method: "POST", code: ErrorCode.LINK_LOST, message }, context);
  }
}

/** A placeholder asks whether its page's policies show the frame: 204, or 403. */
async function judgeFrame(request: Request): Promise<Response> {
  const [url = "", origin = "", ...policies] = (await request.json()) as string[];
  return new Response(null, { status: allowsFrame(policies, url, origin) ? 204 : 403 });
}

/** From then on the page talks to the tunnel past this worker. */
async function openSocket(
  page: ExtendableMessageEvent["source"],
  { url, protocols, connect }: PageSocketRequest,
  socket: MessagePort,
  life: MessagePort,
): Promise<void> {
  const port = await clients.portOf(page instanceof Client ? page.id : "");
  const origin = (await port?.binding)?.origin ?? "";
  const violated = connect.find((policy) => !allowsSocket(policy, url, origin));
  if (violated === undefined && port?.opensSockets) return port.openSocket({ url, protocols }, socket, life);
  const message = violated ? "the page's policy forbids it" : "the app was closed";
  socket.postMessage({ type: "failed", message, violated } satisfies SocketToPage);
}

/** `document.cookie = …` in a page: its own read is right already, the jar is at the edge. */
async function setCookie(
  page: ExtendableMessageEvent["source"],
  { number, url, value }: PageToWorker & { type: "cookie-set" },
): Promise<void> {
  const pageId = page instanceof Client ? page.id : "";
  let port = await clients.portOf(pageId);
  while (port !== null && !(await port.setScriptCookie(url, value))) port = await clients.portOf(pageId);
  const taken: WorkerToPage = { tag: MESSAGE_TAG, type: "cookie-taken", number };
  page?.postMessage(taken);
}
