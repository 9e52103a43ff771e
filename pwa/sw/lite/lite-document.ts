/** Answers the navigation of a page without scripts. */
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { headerValue } from "../../../shared/http/head-fields.ts";
import { hasNullBody } from "../../../shared/web/origin.ts";
import { liteAddress } from "../../messages/lite-address.ts";
import type { LiteOutcome } from "../../messages/lite-messages.ts";
import { HtmlRewriter } from "../../slot/rewrite/html-rewriter.ts";
import { isRedirected, locationOf, redirectTarget } from "../answer/navigation-redirects.ts";
import { type DocumentText, rewrittenBody } from "../answer/rewritten-body.ts";
import {
  type DocumentKind,
  documentKind,
  errorWithoutPage,
  imagePage,
  mediaPage,
  titleOf,
} from "../answer/viewer-pages.ts";
import { PortLost } from "../port-lost.ts";
import { type SlotExchange, trackedBody } from "../slot-exchange.ts";
import type { TunnelResponse } from "../tunnel-port.ts";
import { keptPolicies, liteHeaders } from "./lite-policy.ts";
import { LITE_RULES } from "./lite-rules.ts";

export interface LiteNavigation extends SlotExchange {
  /** Fragment of the URL asked for, with "#", or "". */
  readonly fragment: string;
  tell(outcome: LiteOutcome): void;
  /** The browser comes back for this address, by a redirect. */
  expect(address: string): void;
}

export async function answerLiteNavigation(navigation: LiteNavigation): Promise<Response> {
  let response: TunnelResponse;
  try {
    response = await navigation.send();
  } catch (error) {
    if (error instanceof PortLost) throw error;
    return failed(navigation, error);
  }
  if (isRedirected(navigation, response)) return redirected(navigation, response);
  const location = locationOf(response);
  if (location !== null) return moved(navigation, response, location);
  const contentType = headerValue(response.head.headers, "content-type") ?? "";
  const disposition = headerValue(response.head.headers, "content-disposition") ?? "";
  const kind = documentKind(response.head.status, contentType, disposition);
  const error = await errorWithoutPage(response, kind);
  if (error === null) return documentOf(navigation, response, kind, contentType);
  response.cancel();
  return failed(navigation, error);
}

/** Within the origin. */
function redirected(navigation: LiteNavigation, response: TunnelResponse): Response {
  const { url, fragment } = response.head;
  response.hold();
  navigation.finish();
  const address = liteAddress(url);
  navigation.expect(address);
  return Response.redirect(address + (fragment ?? navigation.fragment), 302);
}

/** To another origin, which the window goes to. */
function moved(navigation: LiteNavigation, response: TunnelResponse, location: string): Response {
  response.cancel();
  const target = redirectTarget(response, location, navigation.request.method !== "GET", navigation.fragment);
  if (target instanceof RopewayError) return failed(navigation, target);
  navigation.finish();
  navigation.tell({ type: "lite-moved", url: target, from: response.head.url });
  return emptyDocument(navigation);
}

function failed(navigation: LiteNavigation, error: unknown): Response {
  navigation.finish();
  const code = error instanceof RopewayError ? error.code : ErrorCode.INTERNAL_ERROR;
  const message = error instanceof Error ? error.message : "Cannot load the page: internal error";
  if (code === ErrorCode.CANCEL) return stay();
  const url = navigation.head.url + navigation.fragment;
  navigation.tell({ type: "lite-failed", url, method: navigation.request.method, code, message });
  return emptyDocument(navigation);
}

/** The page before stays in the frame (HTML section 7.4.5). */
export function stay(): Response {
  return new Response(null, { status: 204 });
}

/** In place of a document that does not come. */
function emptyDocument({ context }: LiteNavigation): Response {
  return new Response("", { headers: liteHeaders([], { ...context, nonce: "" }) });
}

function documentOf(
  navigation: LiteNavigation,
  response: TunnelResponse,
  kind: DocumentKind,
  contentType: string,
): Response {
  const { head } = response;
  const title = titleOf(head.url);
  switch (kind) {
    case "none":
    case "download":
      response.cancel();
      navigation.finish();
      navigation.noDocument();
      if (kind === "download") navigation.tell({ type: "lite-download", url: head.url });
      return stay();
    case "image":
    case "media":
      // The viewer's own request for the same URL claims the response.
      response.hold();
      navigation.finish();
      tellDocument(navigation, head.status);
      return viewer(navigation, (kind === "image" ? imagePage : mediaPage)(liteAddress(head.url), title, contentType));
    case "text":
    case "html":
      return rewritten(navigation, response, { kind, contentType, title });
  }
}

function tellDocument(navigation: LiteNavigation, status: number): void {
  const url = navigation.head.url + navigation.fragment;
  const isPosted = navigation.request.method !== "GET";
  navigation.tell({ type: "lite-document", url, isPosted, isError: status >= 400 });
}

/** A whole small document of ours. */
function viewer({ context }: LiteNavigation, html: string): Response {
  return new Response(html, { headers: liteHeaders([], { ...context, nonce: "" }) });
}

/** The document as it streams. */
function rewritten(navigation: LiteNavigation, response: TunnelResponse, content: DocumentText): Response {
  const { head } = response;
  const context = { ...navigation.context, nonce: "" };
  const headers = liteHeaders(head.headers, context);
  const tracked = trackedBody(navigation, response);
  tellDocument(navigation, head.status);
  if (hasNullBody(navigation.request.method, head.status)) return new Response(null, { status: head.status, headers });
  const transformPolicy = (content: string) => keptPolicies([content], context).join(", ");
  const rewriter = new HtmlRewriter({ ...context, documentUrl: head.url, transformPolicy }, null, LITE_RULES);
  const body = rewrittenBody(tracked as ReadableStream<Uint8Array>, rewriter, content);
  return new Response(body, { status: head.status, headers });
}
