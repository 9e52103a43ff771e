/** What a slot's service worker answers by itself: its own small pages and scripts, which are part of this bundle. */
import bootPage from "ropeway:boot-page";
import bootScript from "ropeway:boot-script";
import framePage from "ropeway:frame-page";
import frameScript from "ropeway:frame-script";
import noticeScript from "ropeway:notice-script";
import pageScript from "ropeway:page-script";
import { RESERVED_PATH } from "../../shared/subprotocol.ts";
import { escapeAttribute } from "../slot/html-tag.ts";
import type { Notice } from "../slot/notice-data.ts";
import { ropewayPath } from "../slot/slot-url.ts";

const SCRIPTS: Readonly<Record<string, string>> = {
  [ropewayPath.pageScript]: pageScript,
  "/.ropeway/boot.js": bootScript,
  "/.ropeway/frame.js": frameScript,
  "/.ropeway/notice.js": noticeScript,
};
const PAGES: Readonly<Record<string, string>> = {
  "/.ropeway/boot": bootPage,
  [ropewayPath.frame]: framePage,
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; worker-src 'self'; connect-src 'self'; form-action 'self'";

/** For reserved paths other than a download, which needs the tunnel. */
export function answerReserved(url: URL): Response {
  const script = SCRIPTS[url.pathname];
  if (script !== undefined) return answer(script, "text/javascript; charset=utf-8");
  const page = PAGES[url.pathname];
  if (page !== undefined) return answer(page, "text/html; charset=utf-8");
  if (url.pathname === ropewayPath.go) {
    return noticePage({ kind: "moved", url: url.searchParams.get("url") ?? "" });
  }
  return answer("", "text/plain", 404);
}

/**
 * The worker was restarted and no page of the slot is left to get a port: the boot page does, and comes back.
 *
 * @param query `TOP_LEVEL_QUERY` where it has to find out who frames it, and no more.
 */
export function rebootPage(url: URL, query = "?"): Response {
  const then = encodeURIComponent(`${url.pathname}${url.search}`);
  return Response.redirect(`${RESERVED_PATH}boot${query}then=${then}`, 302);
}

/** In place of a document: tells the shell what became of it. */
export function noticePage(notice: Notice): Response {
  const data = escapeAttribute(JSON.stringify(notice));
  const html = `<!doctype html><html lang="en"><head><meta name="color-scheme" content="light dark"><title></title><script src="/.ropeway/notice.js" data-notice="${data}"></script></head><body></body></html>`;
  return answer(html, "text/html; charset=utf-8");
}

/** Also where there is nothing, it is a document of the slot, and must not be one without a policy. */
function answer(text: string, contentType: string, status = 200): Response {
  return new Response(text, {
    status,
    headers: { "content-type": contentType, "content-security-policy": POLICY, "x-content-type-options": "nosniff" },
  });
}
