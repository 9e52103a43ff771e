/** Says with navigations that their page runs no scripts, so that nothing comes for those. */
import { siteName } from "../../messages/site-name.ts";
import type { ResponseSource } from "./response-source.ts";

export class ScriptlessPages {
  /** Null: no page runs scripts. */
  #sites: ReadonlySet<string> | null = new Set();

  /** @param sites by `siteName`; null where no page runs scripts. */
  set(sites: readonly string[] | null): void {
    this.#sites = sites && new Set(sites);
  }

  readonly source: ResponseSource = (request, consumer, next) => {
    const { head } = request;
    const isScriptless = head.mode === "navigate" && (this.#sites?.has(siteName(head.topLevelOrigin)) ?? true);
    return next(isScriptless ? { ...request, head: { ...head, isScriptless } } : request, consumer);
  };
}
