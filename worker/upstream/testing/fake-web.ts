/** A web of handlers by URL, in place of the platform's fetch; remembers what it was asked. */
import { expect } from "vitest";
import { setTimer } from "../../../shared/clock.ts";
import type { ErrorCode } from "../../../shared/errors.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { navigation, requestHead } from "../../../shared/testing/http/request-heads.ts";
import type { CookieJarStore } from "../cookie-jar.ts";
import { createUpstreamParts, type UpstreamDeps, type UpstreamRequest } from "../upstream.ts";

/** The origin of the pages that ask. */
export const A = "https://a.example";

/** An error with that code, which ends its stream alone. */
export const failsWith = (code: ErrorCode) => expect.objectContaining({ code, scope: "stream" });

export type Handler = (request: Request) => Response | Promise<Response>;

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export class MapStore implements CookieJarStore {
  readonly values = new Map<string, string>();
  puts = 0;

  async get(key: string): Promise<unknown> {
    return this.values.get(key);
  }

  async put(key: string, value: string): Promise<void> {
    this.puts++;
    this.values.set(key, value);
  }

  async delete(key: string): Promise<void> {
    this.values.delete(key);
  }

  async list(prefix: string): Promise<ReadonlyMap<string, number>> {
    const found = [...this.values].filter(([key]) => key.startsWith(prefix));
    return new Map(found.map(([key, { length }]) => [key, length]));
  }
}

/** A request of a page of https://a.example for one of its images, but for `head`. */
export function requestFor(
  head: Partial<RequestHead> & Pick<RequestHead, "url">,
  rest: Partial<UpstreamRequest> = {},
): UpstreamRequest {
  return {
    head: {
      ...requestHead,
      destination: "image",
      mode: "no-cors",
      credentials: "include",
      referrer: "https://a.example/page",
      ...head,
    },
    body: null,
    userAgent: "Phone/1.0",
    acceptLanguage: "de,en;q=0.5",
    signal: new AbortController().signal,
    ...rest,
  };
}

/** What the address bar asks for. */
export function navigationTo(url: string, head: Partial<RequestHead> = {}): UpstreamRequest {
  return requestFor({ ...navigation(url), ...head });
}

/** What a page's `fetch()` asks for. */
export function fetchOf(url: string, head: Partial<RequestHead> = {}): UpstreamRequest {
  return requestFor({ url, destination: "", mode: "cors", credentials: "same-origin", ...head });
}

export function fakeWeb(handlers: Record<string, Handler>, deps: Partial<UpstreamDeps> = {}) {
  const asked: Asked[] = [];
  const store = new MapStore();
  const { upstream, jar } = createUpstreamParts({
    allowPrivate: false,
    now: () => 1_700_000_000_000,
    setTimer,
    cookieJarStore: store,
    openSocket: () => Promise.reject(new Error("Cannot open a socket: there is none here")),
    fetch: async (request) => {
      const handler = handlers[request.url] ?? handlers[`${request.method} ${request.url}`];
      asked.push({
        method: request.method,
        url: request.url,
        headers: Object.fromEntries(request.headers),
        body: await request.clone().text(),
      });
      return handler === undefined ? new Response("no such page", { status: 404 }) : handler(request);
    },
    ...deps,
  });
  return { upstream, asked, jar, store };
}

export function redirect(status: number, location: string, fields: Record<string, string> = {}): Response {
  return new Response(null, { status, headers: { location, ...fields } });
}
