/** Paths that a slot's service worker answers by itself: its own small pages and scripts, which are part of this bundle. */
import pageScript from "ropeway:page-script";
import commonScript from "ropeway:realm-script";
import workerScript from "ropeway:worker-script";

// The page script comes first, beside what it has in common with this worker: gzip looks back 32 KB.

import bootPage from "ropeway:boot-page";
import bootScript from "ropeway:boot-script";
import framePage from "ropeway:frame-page";
import frameScript from "ropeway:frame-script";
import noticeScript from "ropeway:notice-script";
import { ErrorCode } from "../../../shared/errors.ts";
import { RESERVED_PATH } from "../../../shared/subprotocol.ts";
import type { Notice, Trouble } from "../../messages/page-messages.ts";
import { beforeScript, type WorkerConfig, withCommon, workerPrelude } from "../../slot/page-workers.ts";
import { allowedConnections } from "../../slot/policy.ts";
import { escapeHtml } from "../../slot/rewrite/html-rewriter.ts";
import { isSlotHost, ropewayPath } from "../../slot/slot-url.ts";
import type { SlotContext } from "../slot-exchange.ts";

const SCRIPTS: Readonly<Record<string, string>> = {
  [ropewayPath.pageScript]: withCommon(commonScript, pageScript),
  "/.ropeway/boot.js": bootScript,
  "/.ropeway/frame.js": frameScript,
  "/.ropeway/notice.js": noticeScript,
};
const PAGES: Readonly<Record<string, string>> = {
  "/.ropeway/boot": bootPage,
  [ropewayPath.meeting]: "<!doctype html>",
};

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; worker-src 'self'; connect-src 'self'; form-action 'self'";

type Hosts = Pick<SlotContext, "shellOrigin" | "slotSources">;

/**
 * For reserved paths other than a download, which needs the tunnel. A path that is no page is none in a frame either: its
 * document would be one of the slot without a page script.
 */
export function answerReserved(url: URL, hosts: Hosts, isNavigation: boolean): Response {
  const page = PAGES[url.pathname];
  if (page !== undefined) return document(page, hosts);
  if (url.pathname === ropewayPath.go) {
    return noticePage({ kind: "moved", url: url.searchParams.get("url") ?? "", from: "" }, hosts);
  }
  if (isNavigation) return new Response(null, { status: 204 });
  if (url.pathname === ropewayPath.workerScript) return answerScript(preludeFor(url));
  const script = SCRIPTS[url.pathname];
  return script === undefined ? answer("", "text/plain", 404) : answerScript(script);
}

export function answerScript(script: string): Response {
  return answer(script, "text/javascript; charset=utf-8");
}

const ofWorkers = withCommon(commonScript, workerScript);

function preludeFor({ search }: URL): string {
  return workerPrelude(ofWorkers, JSON.parse(decodeURIComponent(search.slice(1))) as WorkerConfig);
}

/** A worker's script, behind the one that gives it sockets. */
export function withPrelude(
  body: ReadableStream<Uint8Array>,
  config: WorkerConfig,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const prelude = workerPrelude(ofWorkers, config);
  let isStart = true;
  const before = new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      // Workers' scripts are in UTF-8, whatever a field says.
      if (isStart) controller.enqueue(new TextEncoder().encode(beforeScript(prelude, new TextDecoder().decode(chunk))));
      isStart = false;
      controller.enqueue(chunk as Uint8Array<ArrayBuffer>);
    },
  });
  return body.pipeThrough(before);
}

/**
 * Frames of it are slots that are being set up. The edge's own hosts are no sites: a frame of theirs is not shown.
 *
 * @param url where the frame is to go.
 * @param told see frame.ts; `referrer` with which the frame is asked for, all URLs real; `form` as of `PortRequestHead`.
 */
export function placeholderPage(
  url: string,
  told: { readonly referrer: string; readonly form?: string } | { readonly url: string; readonly from: string },
  hosts: Hosts,
): Response {
  const host = URL.parse(url)?.host ?? "";
  const isOwn = host === new URL(hosts.shellOrigin).host || isSlotHost(host, hosts.slotSources);
  const data = Object.entries(isOwn ? { url: "" } : told).map(
    ([name, value]) => `data-${name}="${escapeHtml(value)}" `,
  );
  const html = framePage.replace("<script ", (tag) => tag + data.join(""));
  return document(html, hosts, `${POLICY}; frame-src ${hosts.slotSources}`);
}

/** A document with nothing in it, for a frame that would go on showing what stands in for one. */
export function emptyPage(hosts: Hosts): Response {
  return document("", hosts);
}

/**
 * The worker was restarted and no page of the slot is left to get a port: the boot page does, and comes back.
 *
 * @param query `TOP_LEVEL_QUERY` where it has to find out who frames it, and no more; `BACK_QUERY` for an entry of the
 *   history.
 */
export function rebootPage(url: URL, query = "?"): Response {
  const then = encodeURIComponent(`${url.pathname}${url.search}`);
  return Response.redirect(`${RESERVED_PATH}boot${query}then=${then}`, 302);
}

/** In place of a document: tells the shell what became of it. */
export function noticePage(notice: Notice, hosts: Hosts): Response {
  const data = escapeHtml(JSON.stringify({ ...notice, trouble: troubleOf(notice) }));
  const html = `<!doctype html><html lang="en"><head><meta name="color-scheme" content="light dark"><title></title><script src="/.ropeway/notice.js" data-notice="${data}"></script></head><body></body></html>`;
  return document(html, hosts);
}

function troubleOf(notice: Notice): Trouble | undefined {
  if (notice.kind === "moved") return undefined;
  if (notice.method !== "GET") return "form";
  // So fails what its site does not let others show.
  return notice.code === ErrorCode.REFUSED_STREAM ? "frame" : undefined;
}

/** Its script, the first there is, is told where the shell is. */
function document(html: string, { shellOrigin, slotSources }: Hosts, policy = POLICY): Response {
  const told = html.replace("<script ", () => `<script data-shell="${shellOrigin}" `);
  const response = answer(told, "text/html; charset=utf-8", 200, policy);
  response.headers.set("connection-allowlist", allowedConnections(slotSources));
  return response;
}

/** Scripts may become workers, which must not be without a policy. */
function answer(text: string, contentType: string, status = 200, policy = POLICY): Response {
  return new Response(text, {
    status,
    headers: { "content-type": contentType, "content-security-policy": policy, "x-content-type-options": "nosniff" },
  });
}
