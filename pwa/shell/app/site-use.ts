/** What pages of each site have cost on the link this month. It is kept on this phone, and forgotten with the site. */
import { siteName } from "../../messages/site-name.ts";
import type { TabState } from "../tab/tab-state.ts";
import { dayOf, NOTHING, type Use } from "./data-use.ts";
import type { KeyValueStorage } from "./key-value-storage.ts";

export const SITE_USE_KEY = "ropeway.site-use";

/** The latest. */
const SITES_KEPT = 100;

/** Bytes on the link by which a page that is shown is counted on: each step is written. */
const STEP = 4_096;

export class SiteUse {
  readonly #storage: KeyValueStorage;
  readonly #now: () => number;
  /** What was counted so far of the page that is shown. */
  #counted: Use | null = null;

  /** @param now milliseconds since the epoch; months begin at the phone's midnight. */
  constructor(storage: KeyValueStorage, now: () => number) {
    this.#storage = storage;
    this.#now = now;
  }

  /** Told of each state of a tab: a page is counted when it has loaded, and goes on. Another window adds its own. */
  count({ phase, url, cost }: Pick<TabState, "phase" | "url" | "cost">): void {
    if (phase === "loading") this.#counted = null;
    if (phase !== "loaded" || !/^https?:/.test(url)) return;
    const page = { linkBytes: cost.linkBytesUp + cost.linkBytesDown, originBytes: cost.originBytes };
    const former = this.#counted ?? NOTHING;
    const linkBytes = page.linkBytes - former.linkBytes;
    if (linkBytes < (this.#counted === null ? 1 : STEP)) return;
    this.#counted = page;
    const sites = this.#read();
    const site = siteName(url);
    const before = sites.get(site) ?? NOTHING;
    sites.delete(site);
    sites.set(site, {
      linkBytes: before.linkBytes + linkBytes,
      originBytes: before.originBytes + page.originBytes - former.originBytes,
    });
    this.#write(sites);
  }

  /** This month. @param url of a page of the site. */
  of(url: string): Use {
    return this.#read().get(siteName(url)) ?? NOTHING;
  }

  /** @param isOf says of URLs whether their sites go. */
  forget(isOf: (url: string) => boolean): void {
    this.#write(new Map([...this.#read()].filter(([site]) => !isOf(`https://${site}/`))));
  }

  #read(): Map<string, Use> {
    try {
      const { month, sites } = JSON.parse(this.#storage.getItem(SITE_USE_KEY) ?? "{}") as Stored;
      if (month !== this.#month) return new Map();
      return new Map(sites?.map(([site, linkBytes, originBytes]) => [site, { linkBytes, originBytes }]));
    } catch {
      return new Map();
    }
  }

  #write(sites: ReadonlyMap<string, Use>): void {
    const latest = [...sites].slice(-SITES_KEPT);
    const stored: Stored = {
      month: this.#month,
      sites: latest.map(([site, { linkBytes, originBytes }]) => [site, linkBytes, originBytes]),
    };
    this.#storage.setItem(SITE_USE_KEY, JSON.stringify(stored));
  }

  /** 2026-11. */
  get #month(): string {
    return dayOf(this.#now()).slice(0, -3);
  }
}

interface Stored {
  readonly month?: string;
  readonly sites?: readonly (readonly [site: string, linkBytes: number, originBytes: number])[];
}
