/** A page that the person loads anew, with all that belongs to it: nothing that is stored counts. */
import type { RequestHead } from "../../../shared/http/heads.ts";
import type { ResponseSource } from "./response-source.ts";

export class HardReload {
  /** Real, without a fragment; null where no page is loaded so. */
  #url: string | null = null;

  /** @param url of the page; null: it is there, and what it asks for from now on is asked for as ever. */
  set(url: string | null): void {
    this.#url = url;
  }

  /** @param url of the page that begins, as of `page-begins`: this one, or one that ends it. */
  pageBegins(url: string | null): void {
    if (url !== this.#url) this.#url = null;
  }

  /** Comes before all that could answer with what is stored. */
  readonly source: ResponseSource = (request, consumer, next) =>
    next({ ...request, head: this.marked(request.head) }, consumer);

  marked(head: RequestHead): RequestHead {
    const isOfPage = this.#url !== null && head.topLevelOrigin === new URL(this.#url).origin;
    // Who asks the store alone gets its answer, and what was not to be stored is not.
    const isChanged = isOfPage && head.cache !== "only-if-cached" && head.cache !== "no-store";
    return isChanged ? { ...head, cache: "reload" } : head;
  }
}
