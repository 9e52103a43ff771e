/** Answers the navigation of a page without scripts. */
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { headerValue } from "../../../shared/http/head-fields.ts";
import { hasNullBody, isRedirectStatus } from "../../../shared/web/status.ts";
import { liteAddress } from "../../messages/lite-address.ts";
import type { LiteOutcome } from "../../messages/lite-messages.ts";
import { HtmlRewriter } from "../../slot/rewrite/html-rewriter.ts";
import { escapeHtml } from "../../slot/rewrite/html-tag.ts";
import { DocumentDecoder } from "../answer/charset.ts";
import { documentKind, imagePage, mediaPage, textPage } from "../answer/viewer-pages.ts";
import { PortLost } from "../port-lost.ts";
import { type SlotExchange, trackedBody } from "../slot-exchange.ts";
import type { TunnelResponse } from "../tunnel-port.ts";
import { keptPolicies, liteHeaders } from "./lite-policy.ts";
import { LITE_RULES } from "./lite-rules.ts";

export interface LiteNavigation extends SlotExchange {
  /** Of the URL asked for, with "#", or "". */
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
  const { head } = response;
  const isFormDone = head.redirected && navigation.request.method !== "GET";
  if (head.url !== navigation.head.url || isFormDone) return redirected(navigation, response);
  const location = isRedirectStatus(head.status) ? headerValue(head.headers, "location") : null;
  return location === null ? documentOf(navigation, response) : moved(navigation, response, location);
}

/** Within the origin: the browser must see the final address, whose request then claims this response. */
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
  const { url, fragment, status } = response.head;
  const target = URL.parse(location, url);
  if (target?.hash === "") target.hash = fragment ?? navigation.fragment;
  if (target === null || (status >= 307 && navigation.request.method !== "GET")) {
    const reason = "Cannot follow the redirect: it leads to another site with the data of a form";
    return failed(navigation, new RopewayError(ErrorCode.BODY_NOT_REPLAYABLE, "stream", "origin", reason));
  }
  navigation.finish();
  navigation.tell({ type: "lite-moved", url: target.href, from: url });
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

function documentOf(navigation: LiteNavigation, response: TunnelResponse): Response {
  const { head } = response;
  const contentType = headerValue(head.headers, "content-type") ?? "";
  const kind = documentKind(head.status, contentType, headerValue(head.headers, "content-disposition") ?? "");
  const title = new URL(head.url).pathname.split("/").pop() || new URL(head.url).host;
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
    case "text": {
      const { before, after } = textPage(title);
      return rewritten(navigation, response, { contentType, convert: escapeHtml, before, after });
    }
    case "html":
      return rewritten(navigation, response, { contentType, convert: (text) => text, before: "", after: "" });
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

interface Content {
  readonly contentType: string;
  readonly convert: (text: string) => string;
  readonly before: string;
  readonly after: string;
}

/** The document as it streams: decoded, rewritten, encoded as UTF-8. */
function rewritten(
  navigation: LiteNavigation,
  response: TunnelResponse,
  { contentType, convert, before, after }: Content,
): Response {
  const { head } = response;
  const context = { ...navigation.context, nonce: "" };
  const headers = liteHeaders(head.headers, context);
  const tracked = trackedBody(navigation, response);
  tellDocument(navigation, head.status);
  if (hasNullBody(navigation.request.method, head.status)) return new Response(null, { status: head.status, headers });
  const transformPolicy = (content: string) => keptPolicies([content], context).join(", ");
  const rewriter = new HtmlRewriter({ ...context, documentUrl: head.url, transformPolicy }, null, LITE_RULES);
  const decoder = new DocumentDecoder(contentType);
  const encoder = new TextEncoder();
  const reader = (tracked as ReadableStream<Uint8Array>).getReader();
  let opening = before;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read();
          let out = rewriter.write(opening + convert(decoder.decode(value)));
          opening = "";
          if (done) out += rewriter.write(after) + rewriter.end();
          if (out !== "") controller.enqueue(encoder.encode(out));
          if (done) return controller.close();
          if (out !== "") return;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status: head.status, headers });
}
