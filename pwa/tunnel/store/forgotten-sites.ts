import type { RequestHead } from "../../../shared/http/heads.ts";
import { siteName } from "../../messages/site-name.ts";

/**
 * Sites that phone and edge are forgetting, on behalf of any window: documents of them wait until that is over. Each window
 * has a session of its own, so that a request of one could come to the edge, for cookies, before another's word to forget
 * them. What pages that close have to say goes out.
 */
export class ForgottenSites {
  readonly #sites = new Map<string, PromiseWithResolvers<void>>();

  /** @param site as `siteName` of its pages. @param isOver whether it is forgotten by now, or cannot be. */
  tell({ site, isOver }: { readonly site: string; readonly isOver: boolean }): void {
    if (!isOver) return void this.#sites.set(site, this.#sites.get(site) ?? Promise.withResolvers());
    this.#sites.get(site)?.resolve();
    this.#sites.delete(site);
  }

  /** What a request has to wait for; null where there is nothing. */
  holding({ mode, url }: Pick<RequestHead, "mode" | "url">): Promise<void> | null {
    if (this.#sites.size === 0 || mode !== "navigate") return null;
    return this.#sites.get(siteName(url))?.promise ?? null;
  }
}
