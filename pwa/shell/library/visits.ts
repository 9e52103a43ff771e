import { answered } from "../../platform/platform.ts";
import { dayOf } from "../app/phone.ts";
import type { SiteEvent } from "../app/state.ts";
import type { Entry } from "./bookmarks.ts";
import { type LibraryDatabase, Shelf } from "./library-database.ts";
import { decoded } from "./suggestions.ts";

/** A page on a day. */
export interface Visit {
  /** In the phone's time zone: 2026-11-23. */
  readonly day: string;
  readonly url: string;
  readonly title: string;
  /** Of the last visit on that day, in milliseconds since 1970. */
  readonly at: number;
  /** Visits on that day. */
  readonly count: number;
}

const DAYS_KEPT = 90;
/** Pages on days that are kept: some 3 MB of storage. */
const VISITS_KEPT = 10_000;
/** Addresses of an origin and a day: a page can say any number of them. */
const MOST_OF_ORIGIN = 500;
/** Characters. */
const MOST_ADDRESS = 64_000;

const DAY = 86_400_000;

/** Takes back what was done. */
export type Undo = () => void;

export interface VisitsPlatform {
  readonly database: LibraryDatabase;
  /** Milliseconds since 1970; days begin at the phone's midnight. */
  readonly now: () => number;
  /** The visits were read. */
  readonly onRead: () => void;
}

/** The pages that the person has visited, by day. */
export class Visits {
  readonly #database: LibraryDatabase;
  readonly #now: () => number;
  readonly #visits: Shelf<readonly Visit[]>;
  readonly #icons: Shelf<ReadonlyMap<string, string>>;
  /** Visits that "Forget all" took last, until somebody wants them back. */
  #forgotten: Promise<readonly Visit[] | null> = Promise.resolve(null);

  constructor({ database, now, onRead }: VisitsPlatform) {
    this.#database = database;
    this.#now = now;
    this.#visits = new Shelf(() => this.#readVisits(), [], onRead);
    this.#icons = new Shelf(() => this.#readIcons(), new Map(), onRead);
    void this.#prune();
  }

  /** As of `Shelf`: the latest first. */
  look(): readonly Visit[] | null {
    return this.#visits.look();
  }

  /** As of `Shelf`. */
  read(): Promise<readonly Visit[] | null> {
    return this.#visits.read();
  }

  /** As of `Shelf`. */
  isChanged(): boolean {
    this.#icons.isChanged();
    return this.#visits.isChanged();
  }

  /** The app tells of its pages. @returns when that is written. */
  async hear(event: SiteEvent): Promise<void> {
    if (event.kind === "loaded") await this.#visit(event);
    else if (event.kind === "icon") {
      const { url, icon } = event;
      if ((await this.#icons.read())?.get(iconName(url)) === icon) return;
      await this.#database.change(["icons"], async ({ icons }) => void icons.put(icon, iconName(url)));
    } else if (event.kind === "forget") {
      const { isOf } = event;
      const gone = this.#forget(({ url }) => isOf?.(url) ?? true);
      // Somebody may want it back before it is gone.
      if (isOf === null) this.#forgotten = gone;
      await gone;
    } else await this.#putBack((await this.#forgotten) ?? []);
  }

  /** @returns a data: URL, or null where none is known. */
  iconOf(url: string): string | null {
    return this.#icons.look()?.get(iconName(url)) ?? null;
  }

  /** @returns null where none could go. */
  async forget(visits: readonly Visit[]): Promise<Undo | null> {
    const keys = new Set(visits.map(keyOf));
    const gone = await this.#forget((visit) => keys.has(keyOf(visit)));
    return gone && (() => void this.#putBack(gone));
  }

  /** Where a page has none of that day, and is not too old. @returns those that were added; null where there was no room. */
  async add(visits: readonly Omit<Visit, "day">[]): Promise<readonly Visit[] | null> {
    const now = this.#now();
    const oldest = now - DAYS_KEPT * DAY;
    const added = await this.#database.change(["visits"], async (stores) => {
      const known = new Set((await answered(stores.visits.getAllKeys())).map(String));
      const fresh: Visit[] = [];
      for (const visit of visits) {
        const day = dayOf(visit.at);
        const key = String([day, visit.url]);
        if (visit.at < oldest || visit.at > now || known.has(key)) continue;
        known.add(key);
        fresh.push({ ...visit, day });
      }
      for (const visit of fresh) stores.visits.put(visit);
      return fresh;
    });
    await this.#prune();
    return added;
  }

  async #visit({ site: { url: address, title }, at, isNew }: Extract<SiteEvent, { kind: "loaded" }>): Promise<void> {
    const url = pageUrl(address);
    if (url === null) return;
    const day = dayOf(at);
    const { origin } = new URL(url);
    await this.#database.change(["visits"], async ({ visits }) => {
      const before: Visit | undefined = await answered(visits.get([day, url]));
      const own = IDBKeyRange.bound([day, `${origin}/`], [day, `${origin}/\uffff`]);
      if (before === undefined && (await answered(visits.count(own))) >= MOST_OF_ORIGIN) return;
      // A page that changes its title is the same visit; one that was forgotten meanwhile stays so.
      if (isNew) visits.put({ day, url, title, at, count: (before?.count ?? 0) + 1 } satisfies Visit);
      else if (before !== undefined) visits.put({ ...before, title } satisfies Visit);
    });
  }

  /** The icons of sites that nobody has visited or marked any more go, too. @returns those that went; null where none could. */
  #forget(isGone: (visit: Visit) => boolean): Promise<readonly Visit[] | null> {
    return this.#database.change(["visits", "icons", "bookmarks"], async (stores) => {
      const { visits, icons } = stores;
      const all: readonly Visit[] = await answered(visits.getAll());
      const gone = all.filter(isGone);
      for (const { day, url } of gone) visits.delete([day, url]);
      const marked: readonly Entry[] = await answered(stores.bookmarks.getAll());
      const left = [...all.filter((visit) => !isGone(visit)), ...marked.filter((entry) => entry.kind === "page")];
      const used = new Set(left.map(({ url }) => iconName(url)));
      for (const name of await answered(icons.getAllKeys())) if (!used.has(String(name))) icons.delete(name);
      return gone;
    });
  }

  async #putBack(visits: readonly Visit[]): Promise<void> {
    await this.#database.change(["visits"], async (stores) => {
      for (const visit of visits) stores.visits.put(visit);
    });
  }

  /** Days are first in the keys, and so the oldest come first. */
  async #prune(): Promise<void> {
    const oldest = dayOf(this.#now() - DAYS_KEPT * DAY);
    await this.#database.change(["visits"], async ({ visits }) => {
      visits.delete(IDBKeyRange.upperBound([oldest]));
      const keys = await answered(visits.getAllKeys());
      const last = keys[keys.length - VISITS_KEPT - 1];
      if (last !== undefined) visits.delete(IDBKeyRange.upperBound(last));
    });
  }

  async #readVisits(): Promise<readonly Visit[] | null> {
    const visits = await this.#database.read(["visits"], ({ visits }) => answered<Visit[]>(visits.getAll()));
    // A release before took titles from pages that were none.
    return visits?.filter(({ title }) => typeof title === "string").sort((a, b) => b.at - a.at) ?? null;
  }

  #readIcons(): Promise<ReadonlyMap<string, string> | null> {
    return this.#database.read(["icons"], async ({ icons }) => {
      const [keys, values] = await Promise.all([answered(icons.getAllKeys()), answered<string[]>(icons.getAll())]);
      return new Map(keys.map((key, index) => [String(key), values[index] ?? ""]));
    });
  }
}

function keyOf({ day, url }: Pick<Visit, "day" | "url">): string {
  return `${day} ${url}`;
}

/** Sites have one icon each. */
function iconName(url: string): string {
  return URL.parse(url)?.host.replace(/^www\./, "") ?? url;
}

/** Without a name and a password; null for what is no page of the web. */
export function pageUrl(address: string): string | null {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol) || url.href.length > MOST_ADDRESS) return null;
  url.username = "";
  url.password = "";
  return url.href;
}

/** @param words each of them is to be found in the title or the address. */
export function withWords(visits: readonly Visit[], words: string): readonly Visit[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return visits;
  return visits.filter(({ url, title }) => {
    const text = `${title} ${decoded(url)}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}
