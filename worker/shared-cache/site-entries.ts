/**
 * Entries of a store without a bound of its own (Deno's, and that of a local workerd) has of shared responses: which of them go
 * when it is full. The site whose pages have brought most gives, so no page can empty it of what others brought.
 */
import { FairShares, type Holding } from "../../shared/fair-shares.ts";

/** Names whose pages brought a response, as `ShareableRequest` has it. */
export const SITE_FIELD = "ropeway-site";

/** Count: in a store that has no bound of its own, so that what it knows of each stays small. */
export const MOST_ENTRIES = 4096;

interface SiteEntries {
  /** Their sizes by key, the longest unused first. */
  readonly sizes: Map<string, number>;
  bytes: number;
  usedAt: number;
}

export class EntriesBySite {
  readonly #mostBytes: number;
  readonly #siteOf = new Map<string, string>();
  readonly #sites = new Map<string, SiteEntries>();
  #bytes = 0;
  #turn = 0;

  /** @param mostBytes of all entries. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  has(key: string): boolean {
    return this.#siteOf.has(key);
  }

  /** A phone has used the response. */
  use(key: string): void {
    const site = this.#siteOf.get(key);
    const size = this.#sites.get(site ?? "")?.sizes.get(key);
    if (site !== undefined && size !== undefined) this.#add(site, key, size);
  }

  /** @returns the keys of those that have to go for it; its own, where it is too large. */
  put(site: string, key: string, size: number): string[] {
    this.#add(site, key, size);
    const gone: string[] = [];
    if (this.#bytes > this.#mostBytes) this.#makeRoom(({ bytes }) => bytes, this.#mostBytes, gone);
    if (this.#siteOf.size > MOST_ENTRIES) this.#makeRoom(({ sizes }) => sizes.size, MOST_ENTRIES, gone);
    return gone;
  }

  delete(key: string): void {
    const site = this.#siteOf.get(key);
    const entries = this.#sites.get(site ?? "");
    const size = entries?.sizes.get(key);
    if (site === undefined || entries === undefined || size === undefined) return;
    this.#siteOf.delete(key);
    entries.sizes.delete(key);
    entries.bytes -= size;
    this.#bytes -= size;
    if (entries.sizes.size === 0) this.#sites.delete(site);
  }

  #add(site: string, key: string, size: number): void {
    this.delete(key);
    const entries = this.#sites.get(site) ?? { sizes: new Map(), bytes: 0, usedAt: 0 };
    this.#sites.set(site, entries);
    this.#siteOf.set(key, site);
    entries.sizes.set(key, size);
    entries.bytes += size;
    entries.usedAt = this.#turn++;
    this.#bytes += size;
  }

  #makeRoom(measure: (entries: SiteEntries) => number, bound: number, gone: string[]): void {
    const holdingOf = (entries: SiteEntries): Holding => ({ amount: measure(entries), usedAt: entries.usedAt });
    const holdings = [...this.#sites].map(([site, entries]) => [site, holdingOf(entries)] as const);
    const shares = new FairShares(bound, new Map(holdings));
    for (let over = holdings.reduce((sum, [, { amount }]) => sum + amount, 0) - bound; over > 0; ) {
      const site = shares.giver();
      const entries = this.#sites.get(site ?? "");
      const [oldest] = entries?.sizes.keys() ?? [];
      if (site === undefined || entries === undefined || oldest === undefined) return;
      const before = measure(entries);
      this.delete(oldest);
      gone.push(oldest);
      const amount = before - measure(entries);
      shares.gave(site, amount);
      over -= amount;
    }
  }
}
