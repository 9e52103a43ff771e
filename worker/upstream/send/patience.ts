/** How long an origin has for the head of its response. */
import type { RequestHead } from "../../../shared/http/heads.ts";

/** Milliseconds: from a GET for a document to its response head: somebody waits, and may safely ask again. */
export const NAVIGATION_TIMEOUT = 30_000;

/**
 * Milliseconds: the same for other requests, long polls and orders among them: below the 300 s of Chromium's sockets
 * and of its service workers' events, so that the phone hears of it.
 */
export const ANSWER_TIMEOUT = 290_000;

/**
 * It depends on the phone's own request: a document to which a form was redirected cannot be fetched again without
 * risk.
 */
export function patienceFor({ mode, method }: RequestHead): number {
  const mayAskAgain = mode === "navigate" && (method === "GET" || method === "HEAD");
  return mayAskAgain ? NAVIGATION_TIMEOUT : ANSWER_TIMEOUT;
}
