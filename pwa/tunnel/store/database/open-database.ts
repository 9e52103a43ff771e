import { openDB } from "idb";
import { type StoreDatabase, type StoreSchema, siteOf } from "./store-database.ts";

/** As this release has it: what a former one has stored stays. */
export function openStoreDatabase(name: string): Promise<StoreDatabase> {
  return openDB<StoreSchema>(name, 4, {
    async upgrade(database, before, _after, transaction) {
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
      if (before < 4) {
        const entries = transaction.objectStore("entries");
        entries.createIndex("order", ["site", "used"]);
        entries.deleteIndex("used");
        for (let row = await entries.openCursor(); row !== null; row = await row.continue())
          if (row.value.kept === undefined)
            await row.update({ ...row.value, site: siteOf(String(row.value.partition)) });
      }
    },
    // An app of a later release wants to change it.
    blocking: (_current, _blocked, event) => (event.target as IDBDatabase).close(),
  });
}
