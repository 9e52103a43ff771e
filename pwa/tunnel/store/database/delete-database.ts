import type { StoreNews } from "./store-platform.ts";

/** The last way to empty the store: it needs neither the store's script nor a database that can be opened or written. */
export const STORE_NAME = "ropeway-store";

/** Settles when it is gone; that may be never, while a window of the app does not close it. */
export function deleteStoreDatabase(): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(STORE_NAME);
    request.onsuccess = () => resolve();
    request.onerror = () => reject(new Error("Cannot delete the database of the store"));
  });
}

/** As `deleteStoreDatabase`, and the stores of all windows begin anew, the own one too. */
export async function emptyStore(): Promise<void> {
  await deleteStoreDatabase();
  const channel = new BroadcastChannel(STORE_NAME);
  const news: StoreNews = { kind: "forgotten", isDatabaseNew: true };
  channel.postMessage(news);
  channel.close();
}
