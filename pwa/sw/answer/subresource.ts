/** Answers everything that is not a navigation: scripts, styles, images, fetch and XHR, workers, media. */
import { statusTextOf } from "../../../shared/http/head-fields.ts";
import type { Destination } from "../../../shared/http/heads.ts";
import { HELD_RESPONSE_TIME } from "../../messages/port-messages.ts";
import { pageHeaders } from "../../slot/rewrite/response-headers.ts";
import { toSlot } from "../../slot/slot-url.ts";
import { type SlotExchange, type ToldHosts, trackedBody } from "../slot-exchange.ts";
import type { TunnelResponse } from "../tunnel-port.ts";

/** Where it shows whether a response came by a redirect. */
const SEES_FINAL_URL: ReadonlySet<Destination> = new Set([
  "",
  "audioworklet",
  "json",
  "paintworklet",
  "script",
  "sharedworker",
  "style",
  "worker",
]);
export const WORKERS: ReadonlySet<string> = new Set(["worker", "sharedworker"]);

export async function answerSubresource(exchange: SlotExchange): Promise<Response> {
  const { request, context, head: asked } = exchange;
  const claimed = redirectedAnswers.claim(request);
  if (claimed !== null) return resource(exchange, claimed);

  const response = await exchange.send();
  const { head } = response;
  if (head.scriptCookies.length > 0) await exchange.showCookies(head.scriptCookies);
  // A picture that was coded anew looks the same.
  if (response.picture !== undefined && response.picture.kind !== "recoded") exchange.showPicture(response.picture);
  if (isOpaque(exchange, head.url)) return opaque(exchange, response);
  const url = toSlot(head.url, context);
  // For a document without a worker: its page reads where the file came from, and is not sent there.
  const isFile = request.destination === "" && asked.destination !== "";
  const isShown = head.url !== asked.url && SEES_FINAL_URL.has(asked.destination) && !isFile;
  if (isShown && !isMixedContent(url, context.slotOrigin)) return redirectedAnswers.redirect(exchange, response, url);
  const answer = resource(exchange, response);
  if (isFile) answer.headers.set("content-location", url);
  return answer;
}

function resource(exchange: SlotExchange, response: TunnelResponse): Response {
  const { context, head: asked } = exchange;
  const { head } = response;
  const kind = WORKERS.has(asked.destination) ? "worker" : asked.destination === "" ? "read" : "resource";
  const { headers, connect } = pageHeaders(head.headers, { ...context, kind, url: head.url, nonce: "" });
  const body = trackedBody(exchange, response);
  const config = { origin: context.realOrigin, base: head.url, connect };
  const isWorker = kind === "worker" && body !== null && head.status < 300;
  const script = isWorker ? exchange.workerScript?.(body, config) : undefined;
  return new Response(script ?? body, {
    status: head.status,
    statusText: statusTextOf(head),
    headers: headers
      .filter(([name]) => script === undefined || name !== "content-length")
      .map(([name, value]): [string, string] => [name, value]),
  });
}

/** First in a worker's script, as `patchConnection` in pages. Lines keep their numbers. */
const SAVES_DATA = `{const{connection:c}=navigator;c&&Object.defineProperty(Object.getPrototypeOf(c),"saveData",{get:()=>!0,configurable:!0,enumerable:!0})}`;
/** Text that may stand before a script's first token. */
const BLANK = /\s+|#!.*|\/\/.*|\/\*[\s\S]*?\*\//y;
const STRICT = /(["'])use strict\1/y;

/** The answer to a worker's script, which then reads that the person saves data. Nothing runs before a script is whole. */
export async function savingWorker(answer: Response): Promise<Response> {
  if (!answer.ok) return answer;
  const text = await answer.text();
  let at = 0;
  while (BLANK.test(text)) at = BLANK.lastIndex;
  // The script's own directive would be none behind other statements.
  STRICT.lastIndex = at;
  const directive = STRICT.test(text) ? '"use strict";' : "";
  STRICT.lastIndex = 0;
  const script = text.slice(0, at) + directive + SAVES_DATA + text.slice(at);
  // Bytes: text would get a type where the script has none.
  return new Response(new TextEncoder().encode(script), answer);
}

/** Whether a script's own request may know of the response no more than that there was one (Fetch section 2.2.6). */
function isOpaque({ context, head }: SlotExchange, finalUrl: string): boolean {
  if (head.mode !== "no-cors" || head.destination !== "") return false;
  return [head.url, finalUrl].some((url) => new URL(url).origin !== context.realOrigin);
}

/** Only the browser makes these. It has the worker's own script at hand, which no page can read in an opaque response. */
async function opaque(exchange: SlotExchange, response: TunnelResponse): Promise<Response> {
  response.cancel();
  exchange.finish();
  const path = (globalThis as ToldHosts).ropewayWorker ?? "";
  return fetch(exchange.context.shellOrigin + path, { mode: "no-cors", cache: "force-cache" }).catch(
    () => new Response(null),
  );
}

/** The browser would refuse to go there. */
function isMixedContent(url: string, slotOrigin: string): boolean {
  return slotOrigin.startsWith("https:") && url.startsWith("http:");
}

interface RedirectedAnswer {
  readonly response: TunnelResponse;
  readonly finish: () => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

const TOKEN = /#(ropeway-[\w-]+)$/;

/**
 * Responses to which the edge was redirected. The browser must see a redirect to know the final URL (`response.url`,
 * `redirected`, the base of imports and of `url()`), so it is sent there and comes back for the response.
 */
class RedirectedAnswers {
  readonly #answers = new Map<string, RedirectedAnswer>();

  /**
   * Takes over the exchange. 303 whatever the origin said: a body has been sent, the browser need not repeat it.
   *
   * @param url where the browser is to come back: the final URL as it reads on the slot.
   */
  redirect(exchange: SlotExchange, response: TunnelResponse, url: string): Response {
    // Fragments tell the same URL's requests apart. `response.url` leaves them out, unlike the URLs of loaded scripts.
    const token = exchange.head.destination === "" ? `ropeway-${crypto.randomUUID()}` : null;
    const key = token ?? url;
    this.#giveUp(key);
    const timer = setTimeout(() => this.#giveUp(key), HELD_RESPONSE_TIME);
    this.#answers.set(key, { response, finish: exchange.finish, timer });
    return Response.redirect(token === null ? url : `${url}#${token}`, 303);
  }

  /** The response that this request comes back for, or null. */
  claim(request: Pick<Request, "url">): TunnelResponse | null {
    const key = TOKEN.exec(request.url)?.[1] ?? request.url.split("#", 1)[0] ?? "";
    const answer = this.#take(key);
    answer?.finish();
    return answer?.response ?? null;
  }

  #take(key: string): RedirectedAnswer | undefined {
    const answer = this.#answers.get(key);
    if (answer === undefined) return undefined;
    this.#answers.delete(key);
    clearTimeout(answer.timer);
    return answer;
  }

  #giveUp(key: string): void {
    const answer = this.#take(key);
    answer?.response.cancel();
    answer?.finish();
  }
}

const redirectedAnswers = new RedirectedAnswers();
