import { siteName } from "../../../messages/site-name.ts";
import type { StoredSite } from "../../../messages/tunnel-messages.ts";
import { beginRead, type StoreDatabase } from "../database/store-database.ts";

/** What is stored for the pages of each site, the largest first. A body that several have counts for each. */
export async function storedSites(open: () => Promise<StoreDatabase>): Promise<readonly StoredSite[]> {
  const database = await open();
  try {
    const partitions = beginRead(database, "partitions").objectStore("partitions");
    const [keys, uses] = await Promise.all([partitions.getAllKeys(), partitions.getAll()]);
    const bySite = new Map<string, number>();
    for (const [index, key] of keys.entries()) {
      const [topLevelOrigin = ""] = key.split(" ");
      const site = siteName(topLevelOrigin);
      bySite.set(site, (bySite.get(site) ?? 0) + (uses[index]?.bytes ?? 0));
    }
    return [...bySite].map(([site, bytes]) => ({ site, bytes })).sort((a, b) => b.bytes - a.bytes);
  } finally {
    database.close();
  }
}
