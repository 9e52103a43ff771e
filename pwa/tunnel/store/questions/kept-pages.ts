import type { KeptPage } from "../../../messages/kept-page.ts";
import type { StoreDatabase } from "../database/store-database.ts";

/** The pages that are kept, the latest first. */
export async function keptPages(open: () => Promise<StoreDatabase>): Promise<readonly KeptPage[]> {
  const database = await open();
  try {
    return (await database.getAll("kept")).sort((a, b) => b.keptAt - a.keptAt);
  } finally {
    database.close();
  }
}
