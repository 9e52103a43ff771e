/** What the pages that are open asked for, frames and all: what it takes to keep one. It is in memory only. */
import type { RequestHead, ResponseHead } from "../../../../shared/http/heads.ts";
import { isPage } from "../exchanges/stored-exchange.ts";

/** Pages, the oldest dropped first: that which is shown, and those that were on the way since. */
const PAGES = 8;

/** Requests of one; nobody keeps a page that goes on for ever. */
const REQUESTS = 500;

export interface OpenPage {
  /** URL without a fragment. */
  readonly document: string;
  readonly method: string;
  readonly requests: Map<string, RequestHead>;
  /** Its document came, and must not be stored. */
  isForbidden: boolean;
}

export class PageRequests {
  /** By document, in the order in which they began. */
  readonly #pages = new Map<string, OpenPage>();
  /** The latest, by top-level origin: what is asked for there is its. */
  readonly #latest = new Map<string, OpenPage>();

  find(document: string): OpenPage | null {
    return this.#pages.get(document) ?? null;
  }

  /** A request that the store sees begins, or one for a page. */
  asked(head: RequestHead): void {
    if (isPage(head)) return this.#begin(head.url, head.method);
    const requests = this.#latest.get(head.topLevelOrigin)?.requests;
    if (requests !== undefined && requests.size < REQUESTS) requests.set(`${head.origin} ${head.url}`, head);
  }

  /** The edge has answered. @param isForbidden it must not be stored. */
  answered(head: RequestHead, { url }: Pick<ResponseHead, "url">, isForbidden: boolean): void {
    if (!isPage(head)) return;
    // Where it was redirected to, its page is another origin's.
    if (url !== head.url) this.#begin(url, head.method);
    const page = this.#pages.get(url);
    if (page !== undefined) page.isForbidden = isForbidden;
  }

  #begin(document: string, method: string): void {
    const page: OpenPage = { document, method, requests: new Map(), isForbidden: false };
    this.#pages.delete(document);
    this.#pages.set(document, page);
    this.#latest.set(new URL(document).origin, page);
    const [oldest] = this.#pages.values();
    if (this.#pages.size <= PAGES || oldest === undefined) return;
    this.#pages.delete(oldest.document);
    const { origin } = new URL(oldest.document);
    if (this.#latest.get(origin) === oldest) this.#latest.delete(origin);
  }
}
