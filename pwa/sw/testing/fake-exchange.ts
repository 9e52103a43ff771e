import type { Destination, HeaderList, ReferrerPolicy, RequestMode } from "../../../shared/http/heads.ts";
import { type SlotExchange, slotContext } from "../slot-exchange.ts";
import { ResponseBody, type TunnelResponse } from "../tunnel-port.ts";

export interface Asked {
  /** As the service worker sees it. */
  readonly url: string;
  readonly realUrl: string;
  readonly method?: string;
  readonly destination?: Destination;
  readonly mode?: RequestMode;
  readonly referrerPolicy?: ReferrerPolicy;
  readonly referrer?: string;
  /** The browser's own referrer, on a slot. */
  readonly sentFrom?: string;
  readonly savesData?: boolean;
  /** False: the slot stands for an embedded origin. */
  readonly topLevel?: boolean;
}

export interface Answered {
  readonly url: string;
  readonly status?: number;
  readonly headers?: HeaderList;
  readonly body?: string | readonly Uint8Array<ArrayBuffer>[];
  readonly redirected?: boolean;
  readonly fragment?: string;
  /** Of a navigation that began ahead. */
  readonly referrer?: string;
  /** The app can write it into a file. */
  readonly isSavable?: boolean;
}

/** An exchange of the slot s1 for https://example.org, and what was done with it. Without an answer it fails. */
export function fakeExchange(asked: Asked, answered?: Answered): { exchange: SlotExchange; log: string[] } {
  const log: string[] = [];
  const { realUrl, method = "GET", destination = "", mode = "cors" } = asked;
  const origin = "https://example.org";
  const topLevel = asked.topLevel ?? true;
  const exchange: SlotExchange = {
    savesData: asked.savesData ?? false,
    showPicture: ({ kind, bytes }) => void log.push(`picture ${kind} ${bytes}`),
    request: { url: asked.url, method, referrer: asked.sentFrom ?? "" } as Request,
    context: slotContext(new URL("http://s1.localhost:8787"), {
      origin,
      topLevelOrigin: topLevel ? origin : "https://top.example",
      topLevel,
    }),
    head: {
      method,
      url: realUrl,
      headers: [],
      destination,
      mode,
      credentials: "same-origin",
      redirect: "follow",
      referrer: asked.referrer ?? "",
      ...(asked.referrerPolicy && { referrerPolicy: asked.referrerPolicy }),
    },
    async send() {
      log.push("send");
      if (answered === undefined) throw new Error("Cannot answer: none was expected");
      return response(answered, log);
    },
    async showCookies() {},
    noDocument: (leadsTo) => void log.push(leadsTo === undefined ? "no-document" : `to ${leadsTo}`),
    silentDocument: ({ url, title, phase }) => void log.push(`silent ${phase} ${url} ${title}`.trim()),
    finish: () => void log.push("finish"),
  };
  return { exchange, log };
}

function response(answered: Answered, log: string[]): TunnelResponse {
  const body = bodyOf(answered.body ?? "");
  return {
    head: {
      status: answered.status ?? 200,
      headers: answered.headers ?? [],
      url: answered.url,
      redirected: answered.redirected ?? false,
      ...(answered.fragment === undefined ? {} : { fragment: answered.fragment }),
      coding: "identity",
      scriptCookies: [],
    },
    referrer: answered.referrer,
    body: () => body.readable,
    isEmpty: () => body.isEmpty(),
    watch: (observer) => body.watch(observer),
    hold: () => void log.push("hold"),
    save: answered.isSavable === true ? (name) => void log.push(`save ${name}`) : null,
    cancel: () => void log.push("cancel"),
  };
}

function bodyOf(content: NonNullable<Answered["body"]>): ResponseBody {
  const body = new ResponseBody(
    () => {},
    () => {},
  );
  const chunks = typeof content === "string" ? [new TextEncoder().encode(content)] : content;
  for (const chunk of chunks) if (chunk.length > 0) body.push(chunk);
  body.end();
  return body;
}
