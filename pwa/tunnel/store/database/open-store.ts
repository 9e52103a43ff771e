/** The store where there is a browser. */
import { monotonicClock } from "../../../../shared/clock.ts";
import { deleteStoreDatabase, STORE_NAME } from "./delete-database.ts";
import { openStoreDatabase } from "./open-database.ts";
import { ResponseStore } from "./response-store.ts";
import type { StoreOptions } from "./store-options.ts";
import type { StoreNews, StorePlatform } from "./store-platform.ts";

export function openResponseStore<Meta>(
  isMeta: (meta: unknown) => meta is Meta,
  options: StoreOptions,
): ResponseStore<Meta> {
  const channel = new BroadcastChannel(STORE_NAME);
  const writer = crypto.randomUUID();
  const platform: StorePlatform = {
    openDatabase: () => openStoreDatabase(STORE_NAME),
    deleteDatabase: deleteStoreDatabase,
    writer,
    ...monotonicClock,
    bodies: { hold: holdBody, unlessHeld: unlessBodyHeld },
    tellOthers: (news) => channel.postMessage(news),
  };
  const store = new ResponseStore(platform, isMeta, options);
  channel.onmessage = (event: MessageEvent<StoreNews>) => store.hear(event.data);
  return store;
}

const lockOf = (bodyId: string): string => `${STORE_NAME}/${bodyId}`;

function holdBody(bodyId: string): Promise<() => void> {
  return new Promise((resolve) => {
    const isHeld = () => new Promise<void>((release) => resolve(release));
    void navigator.locks.request(lockOf(bodyId), { mode: "shared" }, isHeld);
  });
}

async function unlessBodyHeld(bodyId: string, task: () => Promise<void>): Promise<void> {
  await navigator.locks.request(lockOf(bodyId), { ifAvailable: true }, async (lock) => lock !== null && task());
}
