import { answered, committed, databaseOpener } from "../../platform/platform.ts";
import type { Site } from "./state.ts";

const LISTS = "lists";
type ListName = "recent" | "pinned";

/** Recent and pinned sites, kept in IndexedDB since their icons are too large for synchronous storage. */
export class SiteStore {
  recent: readonly Site[] = [];
  pinned: readonly Site[] = [];
  readonly #open = databaseOpener(() => {
    const request = indexedDB.open("ropeway", 1);
    request.onupgradeneeded = () => request.result.createObjectStore(LISTS);
    return request;
  });

  async load(): Promise<void> {
    const lists = (await this.#open()).transaction(LISTS).objectStore(LISTS);
    const [recent, pinned] = await Promise.all([read(lists, "recent"), read(lists, "pinned")]);
    this.recent = joined(recent, []);
    this.pinned = pinned;
  }

  visit(site: Site): void {
    void this.#change("recent", (recent) => visited(recent, site));
  }

  /** @param url of the site's page. */
  showIcon(url: string, icon: string): void {
    void this.#change("recent", (recent) => withIcon(recent, url, icon));
  }

  /** @param isOf says of URLs whether their sites go. */
  forget(isOf: (url: string) => boolean): void {
    void this.#change("recent", (recent) => recent.filter(({ url }) => !isOf(url)));
  }

  /** Takes back that these were forgotten. */
  remember(sites: readonly Site[]): void {
    void this.#change("recent", (recent) => joined(recent, sites));
  }

  /** Last, or in place of the same page's. @returns whether it is written down. */
  pin(site: Site): Promise<boolean> {
    return this.#change("pinned", (pinned) => {
      const at = pinned.findIndex(({ url }) => url === site.url);
      return at < 0 ? [...pinned, site] : pinned.with(at, site);
    });
  }

  unpin(url: string): void {
    void this.#change("pinned", (pinned) => pinned.filter((site) => site.url !== url));
  }

  /**
   * At once here, and in one transaction of what is stored, which another window may have changed meanwhile. @returns false where
   * storage is full or closed to us: the lists live until the app is closed.
   */
  async #change(list: ListName, change: (sites: readonly Site[]) => readonly Site[]): Promise<boolean> {
    this[list] = change(this[list]);
    try {
      const transaction = (await this.#open()).transaction(LISTS, "readwrite");
      const lists = transaction.objectStore(LISTS);
      lists.put(change(await read(lists, list)), list);
      await committed(transaction);
      return true;
    } catch {
      return false;
    }
  }
}

async function read(lists: IDBObjectStore, name: ListName): Promise<readonly Site[]> {
  const stored: readonly Site[] | undefined = await answered(lists.get(name));
  // A release before took titles from pages that were none.
  return (stored ?? []).filter(({ title }) => typeof title === "string");
}

// Lists of sites as values: the latest first, one row for each site.

const RECENT_COUNT = 12;

/** Sites of the first list stay before those of the second. */
export function joined(sites: readonly Site[], more: readonly Site[]): readonly Site[] {
  const bySite = new Map<string, Site>();
  for (const site of [...sites, ...more]) if (!bySite.has(siteOf(site.url))) bySite.set(siteOf(site.url), site);
  return [...bySite.values()].slice(0, RECENT_COUNT);
}

/** The site's row comes first, and leads to the page of this visit; the icon stays until another comes. */
export function visited(sites: readonly Site[], visit: Site): readonly Site[] {
  const icon = visit.icon ?? sites.find(({ url }) => siteOf(url) === siteOf(visit.url))?.icon ?? null;
  return joined([{ ...visit, icon }], sites);
}

export function withIcon(sites: readonly Site[], url: string, icon: string): readonly Site[] {
  return sites.map((site) => (siteOf(site.url) === siteOf(url) ? { ...site, icon } : site));
}

export function isSameSite(url: string, other: string): boolean {
  return siteOf(url) === siteOf(other);
}

/** As people read it: by whatever scheme, with `www.` or not. */
function siteOf(url: string): string {
  return URL.parse(url)?.host.replace(/^www\./, "") ?? url;
}
