import "fake-indexeddb/auto";
import { expect, it } from "vitest";
import { openStoreDatabase } from "./database/store-database.ts";
import { emptyStore, STORE_NAME } from "./store.ts";

it("empties the store though a window has it open, and tells the windows", async () => {
  const database = await openStoreDatabase(STORE_NAME);
  await database.put("blocks", new Uint8Array(3), ["w/0", 0]);
  const channel = new BroadcastChannel(STORE_NAME);
  const heard = new Promise((resolve) => {
    channel.onmessage = (event: MessageEvent) => resolve(event.data);
  });
  await emptyStore();
  expect(await heard).toEqual({ kind: "forgotten", isDatabaseNew: true });
  channel.close();
  const anew = await openStoreDatabase(STORE_NAME);
  expect(await anew.count("blocks")).toBe(0);
  anew.close();
});
