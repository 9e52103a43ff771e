/** The store where there is a browser. */
import { deleteStoreDatabase, STORE_NAME } from "./delete-database.ts";
import { ResponseStore } from "./response-store.ts";
import { openStoreDatabase } from "./store-database.ts";
import type { StoreNews } from "./store-platform.ts";

const WRITER_LOCK = `${STORE_NAME}/`;

export function openResponseStore<Meta>(): ResponseStore<Meta> {
  const channel = new BroadcastChannel(STORE_NAME);
  const writer = crypto.randomUUID();
  let isHeld = false;
  const store = new ResponseStore<Meta>({
    openDatabase: () => openStoreDatabase(STORE_NAME),
    deleteDatabase: deleteStoreDatabase,
    writer,
    now: () => performance.now(),
    hold() {
      if (isHeld) return;
      isHeld = true;
      // Until this worker ends, however it does.
      void navigator.locks.request(WRITER_LOCK + writer, () => new Promise(() => {}));
    },
    async liveWriters() {
      const { held = [] } = await navigator.locks.query();
      return new Set(held.map(({ name = "" }) => name.slice(WRITER_LOCK.length)));
    },
    tellOthers: (news) => channel.postMessage(news),
  });
  channel.onmessage = (event: MessageEvent<StoreNews>) => store.hear(event.data);
  return store;
}
