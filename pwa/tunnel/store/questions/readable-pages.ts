import type { StoreDatabase } from "../database/store-database.ts";
import { isPageContext, isStoredExchange } from "../exchanges/stored-exchange.ts";

/**
 * Which of these pages are shown while the link is away, at least their documents. For the app alone: no page may know what
 * others have stored.
 *
 * @param urls of pages, real.
 */
export async function readablePages(
  open: () => Promise<StoreDatabase>,
  urls: readonly string[],
): Promise<readonly string[]> {
  const database = await open();
  try {
    const areStored = await Promise.all(urls.map((url) => isStored(database, url)));
    return urls.filter((_, index) => areStored[index]);
  } finally {
    database.close();
  }
}

async function isStored(database: StoreDatabase, page: string): Promise<boolean> {
  const url = URL.parse(page);
  if (url === null) return false;
  url.hash = "";
  const place: [string, string] = [`${url.origin} ${url.origin}`, url.href];
  const entries = await database.getAllFromIndex("entries", "url", place);
  return entries.some(({ meta }) => isStoredExchange(meta) && isPageContext(meta.context));
}
