/** Entry of the store's own script, which the tunnel loads when no page waits for it. */
import { STORE_NAME } from "./database/delete-database.ts";
import { dictionaryKey } from "./database/dictionary-key.ts";
import { openStoreDatabase } from "./database/open-database.ts";
import { openResponseStore } from "./database/open-store.ts";
import { storeOptions } from "./database/store-options.ts";
import { StoredDictionaries } from "./dictionary/stored-dictionaries.ts";
import { isStoredExchange } from "./exchanges/stored-exchange.ts";
import { StoreLimit } from "./store-limit.ts";
import { StoredSource } from "./stored-source.ts";
import type { StoredSourcePlatform } from "./stored-source-platform.ts";

declare const self: DedicatedWorkerGlobalScope & {
  /** Path of the decoder's script; the build puts it here. */
  readonly __DECODER: string;
};

/** A connection of its own for who asks what is stored. */
export const openDatabase = () => openStoreDatabase(STORE_NAME);

/** @param bytes of bodies that the person lets be stored, as of now. */
export function openStoredSource(platform: StoredSourcePlatform, bytes: () => number): StoredSource {
  const limit = new StoreLimit(bytes);
  void limit.measure(() => navigator.storage.estimate());
  const channel = new BroadcastChannel("ropeway-cookies");
  const store = openResponseStore(
    isStoredExchange,
    storeOptions(() => limit.bytes),
  );
  const dictionaries = new StoredDictionaries(store, () => import(self.__DECODER));
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
