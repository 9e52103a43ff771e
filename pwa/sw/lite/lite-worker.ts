/**
 * The part of the app's own service worker that shows pages without scripts: decision 28. It knows a page by its client,
 * whose address tells its real one. No script of a site ever runs on the base host, so that this and the windows of the
 * app are one trust domain.
 */

import { BoundedMap } from "../../../shared/bounded-map.ts";
import { ErrorCode, later, RopewayError } from "../../../shared/errors.ts";
import { LITE_PATH } from "../../../shared/subprotocol.ts";
import { LITE_KEEP_ALIVE, liteAddress, realOf } from "../../messages/lite-messages.ts";
import { answerSubresource } from "../answer/subresource.ts";
import { PortLost } from "../port-lost.ts";
import { outgoingBody } from "../request/slot-request.ts";
import type { SlotExchange } from "../slot-exchange.ts";
import type { TunnelPort } from "../tunnel-port.ts";
import { answerLiteNavigation, type LiteNavigation, placesInSheet, stay } from "./lite-document.ts";
import {
  FollowedRedirects,
  type Leave,
  LiteWindows,
  liteContext,
  liteHead,
  liteReferrer,
  realTarget,
} from "./lite-request.ts";

declare const self: ServiceWorkerGlobalScope;

/** Clients whose page is remembered. */
const CLIENTS_KNOWN = 64;

const BASE = self.location.origin;
/** Text bodies are not looked through: no page knows the base host by its scripts. */
const NO_SLOT = { slotOrigin: "https://none.invalid", realOrigin: "https://none.invalid" };

const windows = new LiteWindows();
/** Real URL of the page of each client; "" for one of the app's own. */
const pages = new BoundedMap<string, string>(CLIENTS_KNOWN);
const redirects = new FollowedRedirects<Leave>(Date.now);

type Asker = "page" | "app" | "unknown";

/** As far as can be told at once. A page can be unknown where the worker was stopped since it came. */
function askerOf({ request, clientId }: FetchEvent, url: URL): Asker {
  if (url.origin !== BASE || url.pathname.startsWith(LITE_PATH)) return "page";
  if (request.mode === "navigate")
    return request.destination === "document" || url.pathname === "/blank" ? "app" : "page";
  const page = pages.get(clientId);
  if (page !== undefined) return page === "" ? "app" : "page";
  if (request.referrer.startsWith(BASE + LITE_PATH)) return "page";
  // Nothing else do pages ask for but documents.
  return request.method === "GET" ? "unknown" : "app";
}

self.addEventListener("message", (event) => {
  if (event.data === LITE_KEEP_ALIVE) event.waitUntil(self.clients.claim().catch(() => {}));
});

/**
 * Before any other listener: those do not hear of what a page asks for.
 *
 * @param answerApp answers a request of the app's own.
 */
export function serveLitePages(answerApp: (request: Request) => Promise<Response>): void {
  self.addEventListener("fetch", (event) => {
    const url = new URL(event.request.url);
    if (url.protocol !== "http:" && url.protocol !== "https:") return;
    const asker = askerOf(event, url);
    if (asker === "app") return;
    event.stopImmediatePropagation();
    let finish: () => void = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const answer =
      event.request.mode === "navigate" ? navigate(event, url, finish) : load(event, url, finish, answerApp);
    event.respondWith(
      answer.catch(() => {
        finish();
        return event.request.mode === "navigate" ? stay() : Response.error();
      }),
    );
    event.waitUntil(finished);
  });
}

/** @returns "" for a client of the app's own, or of none. */
async function pageOf(clientId: string): Promise<string> {
  const known = pages.get(clientId);
  if (known !== undefined) return known;
  const client = clientId === "" ? undefined : await self.clients.get(clientId);
  const url = URL.parse(client?.url ?? "");
  const page = url?.origin === BASE ? (realOf(url) ?? "") : "";
  if (client !== undefined) pages.set(clientId, page);
  return page;
}

async function load(
  event: FetchEvent,
  url: URL,
  finish: () => void,
  answerApp: (request: Request) => Promise<Response>,
): Promise<Response> {
  const { request, clientId } = event;
  const page = await pageOf(clientId);
  const target = page === "" ? null : realTarget(request, BASE, page);
  if (target === null) {
    finish();
    // A client without a page asks for nothing of the web: documents of its frames, which do not open, say.
    const isOfApp = page === "" && url.origin === BASE && !url.pathname.startsWith(LITE_PATH);
    return isOfApp ? answerApp(request) : Response.error();
  }
  const { origin } = new URL(page);
  const body = await outgoingBody(request, NO_SLOT);
  let port = await windows.portOf(clientId, origin);
  if (port === null) throw new PortLost();
  const exchange: SlotExchange = {
    ...exchangeOf(request, origin, finish),
    head: liteHead(request, target, page, body.length),
    async send() {
      try {
        return await (port as TunnelPort).fetch(exchange.head, body.content, request.signal);
      } catch (error) {
        if (!(error instanceof PortLost)) throw error;
        port = await windows.portOf(clientId, origin);
        if (port === null) throw error;
        return exchange.send();
      }
    },
  };
  return ofOnePage(request, url, target, await answerSubresource(exchange));
}

/**
 * The browser keeps it for no other document: all have one origin and one worker, by which it tells apart what it keeps.
 * In a style sheet of the page's own origin, addresses become places.
 */
function ofOnePage({ destination, integrity }: Request, { origin }: URL, target: string, answer: Response): Response {
  if (answer.type === "error") return answer;
  const { status, statusText, body } = answer;
  const headers = new Headers(answer.headers);
  headers.set("cache-control", "no-store");
  for (const name of ["expires", "pragma", "link"]) headers.delete(name);
  const isOwnSheet = destination === "style" && origin === BASE && body !== null;
  // A sheet whose bytes the browser checks stays as it is.
  const text = isOwnSheet && integrity === "" ? body.pipeThrough(placesInSheet(target)) : body;
  return new Response(text, { status, statusText, headers });
}

/** Parts of an exchange of both kinds. */
function exchangeOf(request: Request, origin: string, finish: () => void) {
  return {
    request,
    context: liteContext(BASE, origin),
    savesData: false,
    // Without scripts nothing answers to a tap.
    showPicture() {},
    async showCookies() {},
    noDocument() {},
    silentDocument() {},
    finish,
  };
}

async function navigate(event: FetchEvent, url: URL, finish: () => void): Promise<Response> {
  const { request, clientId, resultingClientId } = event;
  // Opened in a window of its own: the app does that.
  if (request.destination === "document") {
    finish();
    return Response.redirect("/", 302);
  }
  const from = (await pageOf(clientId)) || realOf(new URL(request.referrer || BASE)) || null;
  const again = url.pathname === `${LITE_PATH}again` ? url.searchParams.get("to") : null;
  if (again !== null) {
    finish();
    return Response.redirect(liteAddress(again), 302);
  }
  const target = targetOf(url, from);
  if (target === null) {
    finish();
    return stay();
  }
  const place = realOf(url) === null && /^https?:/.test(target) ? liteAddress(target) : null;
  if (place !== null) {
    finish();
    return Response.redirect(place, 307);
  }
  const body = await outgoingBody(request, NO_SLOT);
  const followed = redirects.take(resultingClientId, request.method, url.pathname + url.search);
  const asked = followed === null ? await question(request, target, from, body.content) : null;
  const leave = asked === null ? followed : await windows.leaveFor(asked);
  if (leave === null) {
    finish();
    return stay();
  }
  const { origin, hash } = new URL(target);
  if (resultingClientId !== "") pages.set(resultingClientId, target);
  windows.remember(resultingClientId, leave.port);
  const navigation: LiteNavigation = {
    ...exchangeOf(request, origin, finish),
    head: liteHead(request, target, from, body.length),
    fragment: hash,
    send: () =>
      isBackToForm(request)
        ? alreadySent()
        : leave.port.fetch(navigation.head, asked?.body ?? body.content, request.signal),
    noDocument: () => leave.port.noDocument(navigation.head.url),
    tell: leave.tell,
    expect: (address) => redirects.expect(resultingClientId, address, leave),
  };
  return answerLiteNavigation(navigation);
}

/** A page's link that was missed names a path of its site's, or the place of another one. @returns a real URL, or null. */
function targetOf(url: URL, from: string | null): string | null {
  const app = /^\/~((?:mailto|tel|sms):.*)$/.exec(url.pathname)?.[1];
  if (app !== undefined) return app + url.search;
  const own = from === null ? null : new URL(from).origin + url.pathname + url.search + url.hash;
  return realOf(url) ?? own;
}

async function question(
  request: Request,
  url: string,
  from: string | null,
  content: ArrayBuffer | ReadableStream<Uint8Array> | null,
) {
  // Firefox may not tell where it comes from. A large form is then not the app's to send.
  const mayLeave = from === null ? content instanceof ArrayBuffer : new URL(from).origin !== new URL(url).origin;
  const type = request.headers.get("content-type");
  const headers: [string, string][] = type === null ? [] : [["content-type", type]];
  return {
    type: "lite-navigation",
    url,
    // Of what a form led to nothing is sent again: the frame may go there.
    method: isBackToForm(request) ? "GET" : request.method,
    headers,
    body: mayLeave && content !== null ? await new Response(content).arrayBuffer() : null,
    referrer: liteReferrer(request, from, url),
    from,
    // Its document has the policy "origin".
    mayBeApps: request.referrer === `${BASE}/`,
    isRestored: request.isHistoryNavigation === true || isReload(request),
  } as const;
}

function isBackToForm({ method, isHistoryNavigation }: Request): boolean {
  return method === "POST" && isHistoryNavigation === true;
}

async function alreadySent(): Promise<never> {
  const message = later("Cannot show what the form led to: it is not kept, and nothing is sent twice");
  throw new RopewayError(ErrorCode.ALREADY_SENT, "stream", "user", message);
}

function isReload(request: Request & { readonly isReloadNavigation?: boolean }): boolean {
  return request.isReloadNavigation === true;
}
