/** Entry of the script that answers what the shell asks about what is stored: no page needs it (tunnel-worker.ts). */
import type { StoreQuestion } from "../../../messages/tunnel-messages.ts";
import type { Ask } from "../../requests/response-source.ts";
import type { StoreDatabase } from "../database/store-database.ts";
import type { SourceParts } from "../exchanges/source-parts.ts";
import { forgetSite } from "./forget-site.ts";
import { keepPage } from "./keep-page.ts";
import { keptPages } from "./kept-pages.ts";
import { readablePages } from "./readable-pages.ts";
import { readyPages } from "./ready-pages.ts";
import { storedSites } from "./stored-sites.ts";

export interface AskedStore {
  readonly ask: Ask;
  /** A connection of its own. */
  open(): Promise<StoreDatabase>;
  readonly parts: SourceParts;
}

/** @returns as the methods of the shell's `TunnelClient` say. */
export async function answerTo(question: StoreQuestion, { ask, open, parts }: AskedStore): Promise<unknown> {
  switch (question.kind) {
    case "forget":
      return forgetSite(ask, question.site, self.location.origin);
    case "readable":
      return readablePages(open, question.urls);
    case "ready":
      return readyPages(ask, open, parts, question.urls);
    case "sites":
      return storedSites(open);
    case "kept":
      return keptPages(open);
    case "keep":
      return keepPage(parts, question);
    case "unkeep":
      await parts.store.change(parts.store.era, (changes) => changes.unkeep(question.url));
      return keptPages(open);
  }
}
