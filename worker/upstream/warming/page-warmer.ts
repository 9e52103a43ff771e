/**
 * Fetches a page that a link leads to before anybody follows it: as for a stranger, and only what is the same for all
 * (PROTOCOL.md section 5.4).
 */
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { type CookieJar, partitionOf } from "../cookies/cookie-jar.ts";
import type { UpstreamRequest } from "../upstream-request.ts";
import type { UpstreamResponse } from "../upstream-response.ts";
import { RobotsKeeper } from "./robots-keeper.ts";

/** Bytes, as its origin codes it: a guess may cost that much. */
export const WARMED_PAGE_BYTES = 200_000;

/** As Chromium asks for documents. */
const ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8";

export interface PageWarmerDeps {
  readonly ask: (request: UpstreamRequest) => Promise<UpstreamResponse>;
  readonly jar: Pick<CookieJar, "hasFor">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export class PageWarmer {
  readonly #deps: PageWarmerDeps;
  readonly #robots: RobotsKeeper;

  constructor(deps: PageWarmerDeps) {
    this.#deps = deps;
    this.#robots = new RobotsKeeper(deps.ask, deps.now);
  }

  /**
   * @param request on whose behalf.
   * @param url of the page's own origin, without a query.
   * @returns null where it may not be fetched so, or may not be kept for whoever comes.
   */
  async warm(request: UpstreamRequest, url: URL): Promise<UpstreamResponse | null> {
    const isKnownHere = () => this.#deps.jar.hasFor(partitionOf(url.origin), url);
    if (await isKnownHere()) return null;
    if (!(await this.#robots.allows(url, request))) return null;
    try {
      const response = await this.#deps.ask({
        ...request,
        head: strangersHead(url),
        checkResponse: (each) => {
          if (!isForAll(each)) throw unfit();
        },
      });
      if (await isKnownHere()) {
        response.coded?.drop();
        await response.body?.cancel();
        return null;
      }
      // The rest of a body is for who has asked for it.
      const { resumption: _, ...head } = response.head;
      return { ...response, head };
    } catch (error) {
      if (error instanceof RopewayError) return null;
      throw error;
    }
  }
}

function strangersHead(url: URL): RequestHead {
  return {
    method: "GET",
    url: url.href,
    headers: [["accept", ACCEPT]],
    destination: "document",
    mode: "navigate",
    credentials: "omit",
    redirect: "error",
    referrer: "",
    origin: url.origin,
    topLevelOrigin: url.origin,
  };
}

/** An HTML page that is nobody's in particular, and not too long. */
export function isForAll({ status, headers }: Pick<Response, "status" | "headers">): boolean {
  const says = (name: string, words: RegExp): boolean => words.test(headers.get(name) ?? "");
  return (
    status === 200 &&
    says("content-type", /^\s*text\/html\s*(?:;|$)/i) &&
    !says("content-disposition", /^\s*attachment/i) &&
    !says("cache-control", /(?:^|[\s,])(?:private|no-store)(?:$|[\s,=])/i) &&
    !says("vary", /(?:^|[\s,])(?:cookie|authorization|\*)(?:$|[\s,])/i) &&
    !headers.has("set-cookie") &&
    !headers.has("clear-site-data") &&
    !(Number(headers.get("content-length") ?? 0) > WARMED_PAGE_BYTES)
  );
}

function unfit(): RopewayError {
  return new RopewayError(ErrorCode.CANCEL, "stream", "library", "Cannot keep the page: it is not the same for all");
}
