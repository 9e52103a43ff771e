/** Entry of the store's own script, which the tunnel loads when no page waits for it. */

import { importAgain } from "../../platform/platform.ts";
import { openResponseStore, StoreLimit, storeOptions } from "./database/response-store.ts";
import { dictionaryKey, openStoreDatabase } from "./database/store-database.ts";
import { StoredDictionaries } from "./exchanges/named-bodies.ts";
import { isStoredExchange } from "./exchanges/stored-exchange.ts";
import { STORE_NAME, type StorePlatform } from "./store.ts";
import { StoredSource } from "./stored-source.ts";

declare const self: DedicatedWorkerGlobalScope & {
  /** Path of the decoder's script; the build puts it here. */
  readonly __DECODER: string;
};

/** @param bytes of bodies that the person lets be stored, as of now. */
export function openStoredSource(platform: StorePlatform, bytes: () => number): StoredSource {
  const limit = new StoreLimit(bytes);
  void limit.measure(() => navigator.storage.estimate());
  const channel = new BroadcastChannel("ropeway-cookies");
  const store = openResponseStore(
    isStoredExchange,
    storeOptions(() => limit.bytes),
  );
  const dictionaries = new StoredDictionaries(store, () => importAgain(self.__DECODER));
  const source = new StoredSource(store, platform, (urls) => channel.postMessage(urls), dictionaries);
  dictionaryKey(() => openStoreDatabase(STORE_NAME)).then(
    (key) => {
      platform.onDictionaryKey(key);
      dictionaries.isOffered = true;
    },
    () => {},
  );
  channel.onmessage = (event: MessageEvent<readonly string[]>) => source.cookiesChanged(event.data);
  return source;
}
