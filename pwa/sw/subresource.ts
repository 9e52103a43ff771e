/** Answers everything that is not a navigation: scripts, styles, images, fetch and XHR, workers, media. */
import type { Destination } from "../../shared/http/heads.ts";
import { pageHeaders } from "../slot/response-headers.ts";
import { toSlot } from "../slot/slot-url.ts";
import { type SlotExchange, trackedBody } from "./slot-exchange.ts";

/** Where it shows whether a response came by a redirect: `response.url`, the base of imports and of `url()`. */
const SEES_FINAL_URL: ReadonlySet<Destination> = new Set(["", "script", "style", "worker", "sharedworker"]);
const WORKERS: ReadonlySet<Destination> = new Set(["worker", "sharedworker"]);

export async function answerSubresource(exchange: SlotExchange): Promise<Response> {
  const { request, context, head: asked } = exchange;
  const response = await exchange.send();
  const { head } = response;
  if (head.scriptCookies.length > 0) await exchange.showCookies(head.scriptCookies);

  const redirected = head.url !== asked.url;
  if (redirected && request.method === "GET" && SEES_FINAL_URL.has(asked.destination)) {
    response.hold();
    exchange.finish();
    return Response.redirect(toSlot(head.url, context), 302);
  }
  const kind = WORKERS.has(asked.destination) ? "worker" : "resource";
  const { headers } = pageHeaders(head.headers, { ...context, kind, url: head.url, nonce: "" });
  return new Response(trackedBody(exchange, response), {
    status: head.status,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
  });
}
