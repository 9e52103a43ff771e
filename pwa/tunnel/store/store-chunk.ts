/** Entry of the store's own script, which the tunnel loads when no page waits for it. */
import type { StoreQuestion } from "../../messages/tunnel-messages.ts";
import type { Ask } from "../requests/response-source.ts";
import { STORE_NAME } from "./database/delete-database.ts";
import { openResponseStore } from "./database/open-store.ts";
import { openStoreDatabase } from "./database/store-database.ts";
import { storeOptions } from "./database/store-options.ts";
import { storedSites } from "./database/stored-sites.ts";
import { isStoredExchange } from "./exchanges/stored-exchange.ts";
import { forgetSite } from "./forget-site.ts";
import { readablePages } from "./readable-pages.ts";
import { StoreLimit } from "./store-limit.ts";
import { StoredSource } from "./stored-source.ts";
import type { StoredSourcePlatform } from "./stored-source-platform.ts";

/** Answers what the shell asks about what is stored. */
export function answerTo(question: StoreQuestion, ask: Ask): Promise<unknown> {
  const open = () => openStoreDatabase(STORE_NAME);
  switch (question.kind) {
    case "forget":
      return forgetSite(ask, question.site, self.location.origin);
    case "readable":
      return readablePages(open, question.urls);
    case "sites":
      return storedSites(open);
  }
}

/** @param bytes of bodies that the person lets be stored, as of now. */
export function openStoredSource(platform: StoredSourcePlatform, bytes: () => number): StoredSource {
  const limit = new StoreLimit(bytes);
  void limit.measure(() => navigator.storage.estimate());
  const channel = new BroadcastChannel("ropeway-cookies");
  const store = openResponseStore(
    isStoredExchange,
    storeOptions(() => limit.bytes),
  );
  const source = new StoredSource(store, platform, (urls) => channel.postMessage(urls));
  channel.onmessage = (event: MessageEvent<readonly string[]>) => source.cookiesChanged(event.data);
  return source;
}
