/** Answers a navigation: documents with the page script in them, viewers for what is no HTML, notices for failures. */
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { headerValue, headerValues } from "../../../shared/http/head-fields.ts";
import type { HeaderList, ResponseHead } from "../../../shared/http/heads.ts";
import { RESERVED_PATH } from "../../../shared/subprotocol.ts";
import { suffixIn } from "../../../shared/web/cookie.ts";
import type { MarkupValues, ShownDocument } from "../../../shared/web/documents.ts";
import { decodeByteString, hasNullBody, opensOtherApp } from "../../../shared/web/origin.ts";
import { applyReferrerPolicy, parseReferrerPolicy } from "../../../shared/web/policies.ts";
import { type PageConfig, pageSnippet } from "../../slot/documents/page-config.ts";
import { type PolicyContext, topLevelFramingPolicy, transformPolicies } from "../../slot/policy.ts";
import {
  type HtmlRewriter,
  inXml,
  type MarkupContext,
  ownTexts,
  pageRewriter,
} from "../../slot/rewrite/html-rewriter.ts";
import { framingAllowed, pageHeaders } from "../../slot/rewrite/response-headers.ts";
import { type SlotIdentity, takeFormMark, toSlot } from "../../slot/slot-url.ts";
import { PortLost } from "../port-lost.ts";
import { type SlotExchange, trackedBody } from "../slot-exchange.ts";
import type { TunnelResponse } from "../tunnel-port.ts";
import {
  bytesOf,
  imagePage,
  lastOfPath,
  locationOf,
  mediaPage,
  outcomeOf,
  pdfPage,
  redirectTarget,
  rewrittenBody,
  shownType,
  titleOf,
} from "./document.ts";
import { emptyPage, noticePage, placeholderPage } from "./reserved-paths.ts";

export async function answerNavigation(exchange: SlotExchange): Promise<Response> {
  let response: TunnelResponse;
  try {
    response = await exchange.send();
  } catch (error) {
    if (error instanceof PortLost) throw error;
    exchange.finish();
    return failed(exchange, error);
  }
  try {
    return await answerWith(exchange, response);
  } catch (error) {
    response.cancel();
    exchange.finish();
    return failed(exchange, error);
  }
}

async function answerWith(exchange: SlotExchange, response: TunnelResponse): Promise<Response> {
  const outcome = await outcomeOf(exchange, response);
  if (outcome.kind === "redirected") return redirected(exchange, response);
  if (outcome.kind === "moved") return redirectedElsewhere(exchange, response, outcome.location);
  const error = outcome.kind === "failed" ? outcome.error : framingError(exchange, response.head.headers);
  if (outcome.kind !== "failed" && error === null) return documentOf(exchange, response, outcome);
  response.cancel();
  exchange.finish();
  return failed(exchange, error);
}

/**
 * `<a download>`: whatever it is, the browser saves it. Where it cannot be had nothing happens: a notice
 * or an error would take the place of the page.
 */
export async function answerDownload(exchange: SlotExchange, name: string | null): Promise<Response> {
  const response = await exchange.send().catch((error: unknown) => {
    if (error instanceof PortLost) throw error;
    return null;
  });
  if (response === null) {
    exchange.finish();
    return new Response(null, { status: 204 });
  }
  const location = locationOf(response);
  // As in browsers: what another site sends is shown or saved as that site says.
  if (location !== null) return redirectedElsewhere(exchange, response, location);
  exchange.noDocument();
  const file = kept(exchange, response, name ?? "");
  if (file !== null) return file;
  // The browser sees an address of ours.
  const headers = savedHeaders(response.head, name || lastOfPath(response.head.url));
  return withBody(exchange, response, trackedBody(exchange, response), headers);
}

/** Within the origin. */
function redirected(exchange: SlotExchange, response: TunnelResponse): Response {
  const { context } = exchange;
  const { url, fragment } = response.head;
  response.hold();
  exchange.finish();
  // Without a fragment the browser keeps that of the request.
  return Response.redirect(toSlot(url, context) + (fragment ?? ""), 302);
}

/** A redirect out of the origin, which only the shell (or, in a frame, the placeholder) can follow. */
function redirectedElsewhere(exchange: SlotExchange, response: TunnelResponse, location: string): Response {
  response.cancel();
  const target = redirectTarget(response, location, methodOf(exchange) !== "GET", fragmentOf(exchange));
  const isApps = typeof target === "string" && opensOtherApp(new URL(target).protocol);
  if (isApps && exchange.context.binding.topLevel) {
    // The page stays, and the app asks the person.
    exchange.noDocument(target);
    exchange.finish();
    return new Response(null, { status: 204 });
  }
  exchange.finish();
  if (target instanceof RopewayError) return failed(exchange, target);
  const moved = { url: target, from: exchange.head.url };
  // Documents of such a slot are in a frame.
  return exchange.context.binding.topLevel
    ? noticePage({ kind: "moved", ...moved, referrer: referrerBeyond(exchange, response, target) }, exchange.context)
    : placeholderPage(target, moved, exchange.context);
}

function failed(exchange: SlotExchange, error: unknown): Response {
  const code = error instanceof RopewayError ? error.code : ErrorCode.INTERNAL_ERROR;
  const message = error instanceof Error ? error.message : "Cannot load the page: internal error";
  if (code === ErrorCode.CANCEL) return new Response(null, { status: 204 });
  const method = methodOf(exchange);
  const notice = { kind: "failed", url: exchange.head.url + fragmentOf(exchange), method, code, message } as const;
  return noticePage(notice, exchange.context);
}

/** Of what was sent, which the tunnel may have done before the frame came for the answer. */
function methodOf({ request, head }: SlotExchange): string {
  return head.form ? "POST" : request.method;
}

/** The page's own. */
function fragmentOf({ request }: SlotExchange): string {
  return new URL(takeFormMark(request.url).url).hash;
}

/**
 * Frames of a slot that stands for an embedded origin are known to be below the top-level page. What a top-level slot
 * shows is not below any other (see `isFromOwn`).
 */
function framingError(exchange: SlotExchange, headers: HeaderList): RopewayError | null {
  const { binding } = exchange.context;
  if (binding.topLevel || framingAllowed(headers, [binding.topLevelOrigin], binding.origin)) return null;
  const reason = "Cannot show this in a frame: the site does not allow it";
  return new RopewayError(ErrorCode.REFUSED_STREAM, "stream", "origin", reason);
}

function documentOf(exchange: SlotExchange, response: TunnelResponse, document: ShownDocument): Response {
  const { head } = response;
  switch (document.kind) {
    case "none":
      exchange.noDocument();
      if (standsInForFrame(exchange)) {
        response.cancel();
        exchange.finish();
        return emptyPage(exchange.context);
      }
      return withBody(exchange, response, trackedBody(exchange, response), head.headers);
    case "download": {
      if (isShownPdf(exchange, response, document)) {
        response.hold();
        exchange.finish();
        return viewer(exchange, response, document);
      }
      exchange.noDocument();
      const file = kept(exchange, response, "");
      return file ?? withBody(exchange, response, trackedBody(exchange, response), savedHeaders(head));
    }
    case "image":
    case "media":
      // The viewer's own request for the same URL claims the response.
      response.hold();
      exchange.finish();
      return viewer(exchange, response, document);
    case "text":
    case "xml":
    case "html":
      return rewritten(exchange, response, document);
  }
}

/** As browsers do: one that a server sends for keeping is kept. */
function isShownPdf(
  { request, head: asked }: SlotExchange,
  { head: { status, headers } }: TunnelResponse,
  { essence }: ShownDocument,
): boolean {
  const isForKeeping = /^\s*attachment/i.test(headerValue(headers, "content-disposition") ?? "");
  return essence === PDF && !isForKeeping && status === 200 && request.method === "GET" && !asked.form;
}

/** Whether what the frame has so far is a page of ours, whose `load` waits for a document. */
function standsInForFrame({ request, context }: SlotExchange): boolean {
  const source = URL.parse(request.referrer);
  if (context.binding.topLevel || source === null) return false;
  return source.origin !== context.slotOrigin || source.pathname.startsWith(RESERVED_PATH);
}

/** Bytes: a file below this is there before anybody would look at a list. */
const LEAST_KEPT = 1_000_000;

/** The answer for a file that the app keeps: the page stays. Null: it goes to the browser's own downloads. */
function kept({ request, head, finish }: SlotExchange, response: TunnelResponse, name: string): Response | null {
  const { status, headers } = response.head;
  const length = headerValue(headers, "content-length");
  const isSmall = length !== null && Number(length) <= LEAST_KEPT;
  if (response.save === null || request.method !== "GET" || head.form || status !== 200 || isSmall) return null;
  response.save(name);
  finish();
  return new Response(null, { status: 204 });
}

function savedHeaders({ headers }: TunnelResponse["head"], name = ""): HeaderList {
  const disposition = asAttachment(headerValue(headers, "content-disposition") ?? "", name);
  return [...headers.filter(([field]) => field !== "content-disposition"), ["content-disposition", disposition]];
}

const PDF = "application/pdf";

/** A file that takes over its viewer can run no script but the app's own, make none of text, and ask nothing of others. */
function pdfPolicy({ slotOrigin }: SlotIdentity): string {
  const own = slotOrigin + RESERVED_PATH;
  return `default-src 'none'; script-src ${own}; worker-src ${own}; connect-src 'self'; style-src 'unsafe-inline'; img-src blob: data:`;
}

/** A whole small document of ours. The policy of what it shows is not for it, nor in browsers. */
function viewer(exchange: SlotExchange, response: TunnelResponse, document: ShownDocument): Response {
  const { url } = response.head;
  const source = toSlot(url, exchange.context);
  const { kind, essence } = document;
  const title = titleOf(url);
  const isPdf = essence === PDF;
  const html = isPdf ? pdfPage(title) : kind === "image" ? imagePage(source, title) : mediaPage(source, title, essence);
  const fields = response.head.headers.filter(([name]) => name !== "content-security-policy");
  const page = documentParts(exchange, response, { ...document, encoding: "utf-8" }, undefined, fields);
  page.onEnd();
  if (isPdf) page.headers.append("content-security-policy", pdfPolicy(exchange.context));
  return new Response(page.rewriter.write(html) + page.rewriter.end(), { headers: page.headers });
}

/** The document as it streams. */
function rewritten(exchange: SlotExchange, response: TunnelResponse, document: ShownDocument): Response {
  const { head } = response;
  const bytes = bytesOf(document);
  const { rewriter, headers, onEnd } = documentParts(exchange, response, document, bytes.values);
  const tracked = trackedBody(exchange, response, onEnd);
  if (hasNullBody(exchange.request.method, head.status)) return withBody(exchange, response, tracked, head.headers);
  const body = rewrittenBody(tracked as ReadableStream<Uint8Array>, rewriter, bytes, document);
  return new Response(body, { status: head.status, headers });
}

function ownCookies({ headers, scriptCookies }: ResponseHead): Pick<PageConfig, "cookies" | "suffix"> {
  const suffix = suffixIn(headers);
  return { cookies: scriptCookies, ...(suffix > 1 && { suffix }) };
}

/** The features of a document. */
function ownPermissions(fields: HeaderList): { readonly permissions?: string } {
  const permissions = headerValues(fields, "permissions-policy").join();
  return permissions === "" ? {} : { permissions };
}

/** By a policy that parts it from windows of other origins. */
function isApart(fields: HeaderList): boolean {
  return /^\s*(?:same-origin(?!-allow)|noopener-allow-popups)/i.test(
    headerValue(fields, "cross-origin-opener-policy") ?? "",
  );
}

/** @param fields that govern the document. */
function documentParts(
  exchange: SlotExchange,
  response: TunnelResponse,
  document: ShownDocument,
  values?: MarkupValues,
  fields = response.head.headers,
): { rewriter: HtmlRewriter; headers: Headers; onEnd: () => void } {
  const { context } = exchange;
  const { head } = response;
  const { kind } = document;
  const [language, title] = [kind === "xml" ? "xml" : "html", kind === "html" ? "" : titleOf(head.url)] as const;
  const policyContext = { ...context, nonce: crypto.randomUUID() };
  const policies = headerValues(fields, "content-security-policy");
  const page = pageHeaders(fields, { ...policyContext, kind: "document", url: head.url });
  const snippet = page.opaque
    ? ""
    : pageSnippet(
        {
          slotOrigin: context.slotOrigin,
          realOrigin: context.realOrigin,
          shellOrigin: context.shellOrigin,
          slotSources: context.slotSources,
          documentUrl: head.url,
          topLevel: context.binding.topLevel,
          isPosted: exchange.request.method !== "GET",
          ...(title !== "" && { title }),
          ...(kind !== language && { viewed: document.essence }),
          ...ownCookies(head),
          ...(exchange.savesData && { savesData: true }),
          ...ownPermissions(fields),
          ...(isApart(fields) && { isApart: true }),
          referrer: documentReferrer(exchange, response),
          referrerPolicy: page.referrerPolicy,
          hasPolicy: policies.length > 0,
          ...(page.connect.length > 0 && { connect: page.connect }),
        },
        policyContext.nonce,
      );
  const markup = {
    slotOrigin: context.slotOrigin,
    realOrigin: context.realOrigin,
    documentUrl: head.url,
    nonce: policyContext.nonce,
    ...(values && { values }),
    ...policyRules(policies, policyContext),
  };
  const rewriter = pageRewriter(markup, language === "xml" ? inXml(snippet) : snippet, language);
  const headers = toHeaders(page.headers.filter(([name]) => name !== "content-length"));
  headers.set("content-type", shownType(document));
  if (context.binding.topLevel) {
    // The worker is not told whether it is a frame's; the browser knows.
    const allowsOwnFrames = framingAllowed(head.headers, [context.realOrigin], context.realOrigin);
    headers.append("content-security-policy", topLevelFramingPolicy(context, allowsOwnFrames));
  }
  const tell = (phase: "loading" | "loaded") => {
    if (page.silent) exchange.silentDocument({ url: head.url + fragmentOf(exchange), title, phase });
  };
  tell("loading");
  return { rewriter, headers, onEnd: () => tell("loaded") };
}

/** @param policies of the fields as the origin says them, to which those of markup come: they may name texts by their hash. */
function policyRules(
  policies: string[],
  context: PolicyContext,
): Pick<Required<MarkupContext>, "texts" | "transformPolicy"> {
  return {
    texts: ownTexts(() => !policies.some((policy) => policy.includes("'sha"))),
    transformPolicy(content) {
      policies.push(content);
      return transformPolicies([content], context).policies.join(", ");
    },
  };
}

/** The referrer of a navigation that a redirect leads to another origin, by the redirect's policy or that of the page that asked. */
function referrerBeyond(exchange: SlotExchange, { head, referrer }: TunnelResponse, target: string): string {
  const policy = parseReferrerPolicy(headerValue(head.headers, "referrer-policy") ?? "");
  const { head: asked } = exchange;
  return applyReferrerPolicy(policy || (asked.referrerPolicy ?? ""), referrer ?? asked.referrer, target);
}

/** Redirects cut a referrer down as the edge did for each hop, as far as the default policy goes. */
function documentReferrer(exchange: SlotExchange, { head, referrer }: TunnelResponse): string {
  if (referrer === undefined) return exchange.head.referrer;
  return head.redirected ? applyReferrerPolicy("", referrer, head.url) : referrer;
}

function withBody(
  exchange: SlotExchange,
  response: TunnelResponse,
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  headers: HeaderList,
): Response {
  const { head } = response;
  const page = pageHeaders(headers, { ...exchange.context, kind: "resource", url: head.url, nonce: "" });
  return new Response(body, { status: head.status, headers: toHeaders(page.headers) });
}

function toHeaders(fields: HeaderList): Headers {
  return new Headers(fields.map(([name, value]): [string, string] => [name, value]));
}

/**
 * The field with the disposition type `attachment`. A file name that the origin gives counts, whatever its type, then
 * `name` (HTML section 4.6.5); without both the browser takes one from the address. Chromium reads raw UTF-8 from a network,
 * but Latin-1 from a service worker; what is neither ASCII nor UTF-8 is no name to it.
 */
export function asAttachment(field: string, name = ""): string {
  const [parameters = ""] = /;.*$/s.exec(field) ?? [];
  const [, quoted, token = ""] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)|([^;]*))/i.exec(parameters) ?? [];
  const raw = quoted?.replace(/\\(.)/g, "$1") ?? token.trim();
  const isRaw = /[^\0-\x7f]/.test(raw) && !/;\s*filename\*\s*=/i.test(parameters);
  if (isRaw && decodeByteString(raw) !== raw)
    return `attachment; filename*=UTF-8''${extendedValue(decodeByteString(raw))}`;
  if (!isRaw && /;\s*filename\*?\s*=/i.test(parameters)) return `attachment${parameters}`;
  return name === "" ? "attachment" : `attachment; filename*=UTF-8''${extendedValue(name)}`;
}

/** RFC 8187 section 3.2.1. */
function extendedValue(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`);
}
