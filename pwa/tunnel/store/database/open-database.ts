import { openDB } from "idb";
import type { StoreDatabase, StoreSchema } from "./store-database.ts";

/** As this release has it: what a former one has stored stays. */
export function openStoreDatabase(name: string): Promise<StoreDatabase> {
  return openDB<StoreSchema>(name, 3, {
    upgrade(database, before, _after, transaction) {
      if (before < 1) {
        const entries = database.createObjectStore("entries", { keyPath: "id", autoIncrement: true });
        entries.createIndex("partition", "partition");
        entries.createIndex("url", ["partition", "url"]);
        entries.createIndex("copy", ["partition", "body.hash"]);
        entries.createIndex("body", "body.id");
        entries.createIndex("used", "used");
        database.createObjectStore("blocks");
        database.createObjectStore("partitions");
        database.createObjectStore("totals");
      }
      if (before < 2) {
        const visits = database.createObjectStore("visits", { autoIncrement: true });
        visits.createIndex("document", ["partition", "document"]);
      }
      if (before < 3) {
        transaction.objectStore("entries").createIndex("kept", "kept");
        database.createObjectStore("kept", { keyPath: "url" });
      }
    },
    // An app of a later release wants to change it.
    blocking: (_current, _blocked, event) => (event.target as IDBDatabase).close(),
  });
}
