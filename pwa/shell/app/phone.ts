import { later } from "../../../shared/errors.ts";
import type { EdgeConfig } from "../../../shared/subprotocol.ts";
import {
  type KeepRefusal,
  type KeptPage,
  type StoredSite,
  siteName,
  type TunnelStats,
} from "../../messages/tunnel-messages.ts";
import type { WindowChannel } from "../frames/slot-frames.ts";
import { chooseScripts, liteSites, storedConfig } from "../link/remembered.ts";
import type { TunnelClient } from "../link/tunnel-client.ts";
import type { App } from "./app.ts";
import type { KeyValueStorage } from "./settings.ts";
import { forgetAnswers, keepAnswer, type SiteAnswer } from "./site-answers.ts";
import type { TabState } from "./state.ts";

const FORGOTTEN_CHANNEL = "ropeway.forgotten";

export interface PhoneOptions {
  readonly tunnel: TunnelClient;
  readonly app: Pick<App, "draw" | "notify" | "forgetSites">;
}

/**
 * Sites on this phone, as the person looks at them: their stored and kept pages, their use of the link, and a way to
 * forget them. No first page needs any of it: it is part of the sheets' script.
 */
export class Phone {
  readonly use = new DataUse(localStorage, Date.now);
  readonly #app: PhoneOptions["app"];
  readonly #tunnel: TunnelClient;
  readonly #storage: PhoneStorage;
  readonly #kept: KeptPages;
  readonly #siteUse = new SiteUse(localStorage, Date.now);
  readonly #forgetting: SiteForgetting;

  constructor({ tunnel, app }: PhoneOptions) {
    this.#app = app;
    this.#tunnel = tunnel;
    this.#kept = new KeptPages(tunnel);
    this.#storage = new PhoneStorage({
      tunnel,
      manager: navigator.storage ?? null,
      isInstalled: () => !matchMedia("(display-mode: browser)").matches,
      asksPerson: /Firefox\//.test(navigator.userAgent),
    });
    this.#forgetting = new SiteForgetting({
      tunnel,
      channel: new BroadcastChannel(FORGOTTEN_CHANNEL),
      locks: navigator.locks ?? null,
      forgetHere: (isOf) => {
        this.#kept.forget(isOf);
        forgetAnswers(localStorage, isOf);
        app.forgetSites(isOf);
      },
      onDone: (why) => {
        if (why !== "") app.notify({ kind: "not-cleared", why });
        this.read();
      },
    });
    window.addEventListener("appinstalled", () => this.#drawAfter(this.#storage.installed()));
    // Pages may have loaded before this was there.
    void this.#count();
    // Where the app is installed, the script of the tunnel that this needs is at hand.
    if (navigator.serviceWorker?.controller) this.#drawAfter(this.#kept.read());
  }

  /** Null until that is known. */
  get stored(): PageStorage | null {
    return this.#storage.current;
  }

  /** The latest first; as of when somebody last looked. */
  get kept(): readonly KeptPage[] {
    return this.#kept.all;
  }

  /** By what the edge said of itself when the app was opened last. */
  get edge(): EdgeConfig | null {
    return storedConfig(localStorage);
  }

  /** Looks anew at what is stored, kept and used. */
  read(): void {
    this.#drawAfter(Promise.all([this.#storage.read(), this.#kept.read(), this.#count()]));
  }

  /** A page has loaded. */
  pageLoaded(stats: TunnelStats): void {
    this.use.add(stats);
    this.#drawAfter(this.#storage.pageLoaded(stats));
  }

  /** As `SiteUse.count`. */
  count(state: Pick<TabState, "phase" | "url" | "cost">): void {
    this.#siteUse.count(state);
  }

  /** As `SiteUse.of`. */
  useOf(url: string): Use {
    return this.#siteUse.of(url);
  }

  /** As `SiteUse.forget`. */
  forgetUse(isOf: (url: string) => boolean): void {
    this.#siteUse.forget(isOf);
  }

  /** As `KeptPages.find`. */
  findKept(url: string): KeptPage | null {
    return this.#kept.find(url);
  }

  /** As `KeptPages.keep`. */
  async keep(url: string, title: string): Promise<KeepResult> {
    const result = await this.#kept.keep(url, title);
    this.#app.draw();
    return result;
  }

  async unkeep(url: string): Promise<void> {
    await this.#kept.unkeep(url);
    this.#app.draw();
  }

  /** Forgets what a site has left here and at the edge. @param site as `siteName` of its pages. */
  forgetSite(site: string): void {
    this.#forgetting.forget(site);
  }

  /** The person has answered a site's question otherwise. */
  changeAnswer(answer: SiteAnswer): void {
    keepAnswer(localStorage, answer);
    this.#app.draw();
  }

  /** Whether the site of this page runs scripts, as the person chose. */
  runsScripts(url: string): boolean {
    return !liteSites(localStorage).includes(siteName(url));
  }

  /** As the function of this name. */
  chooseScripts(url: string, isOn: boolean): void {
    chooseScripts(localStorage, url, isOn);
  }

  async #count(): Promise<void> {
    this.use.add(await this.#tunnel.stats());
  }

  #drawAfter(done: Promise<unknown>): void {
    void done.then(() => this.#app.draw());
  }
}

/** Milliseconds in which an app that is stored opens anew, and so long the first wait; each one after that is twice as long. */
const REOPENED_WITHIN = 3_000;

/**
 * Opens the app anew. Chromium 156 loses the request of a window that reloads just as a new version of its service worker
 * takes over; the window would load for ever.
 */
export function reloadApp(within = REOPENED_WITHIN): void {
  location.reload();
  setTimeout(() => reloadApp(2 * within), within);
}

/** Data that pages have left on this phone. */
export interface PageStorage {
  /** Bytes of bodies, and how many there may be. */
  readonly bytes: number;
  readonly bytesMax: number;
  /** The largest first; as of when the person last looked. */
  readonly sites: readonly StoredSite[];
  /** Whether the browser has promised to keep it; null while that is not known. */
  readonly isKept: boolean | null;
  /** Bytes that the browser gives to the app; null while that is not known. */
  readonly quota: number | null;
}

export interface PhoneStorageOptions {
  readonly tunnel: Pick<TunnelClient, "stats" | "askStore">;
  /** Null where the browser has none. */
  readonly manager: Pick<StorageManager, "estimate" | "persist" | "persisted"> | null;
  /** Whether the app runs as one that was installed. */
  readonly isInstalled: () => boolean;
  /** Firefox hands the question on to the person: it comes only while they look at the settings. */
  readonly asksPerson: boolean;
}

/** With so many bytes stored, the browser is asked for its promise to keep them. */
const WORTH_KEEPING = 1_000_000;

/** Data that pages have left on this phone, as the person sees it, and the browser's word to keep it. */
export class PhoneStorage {
  readonly #options: PhoneStorageOptions;
  #current: PageStorage | null = null;
  #isAsked = false;

  constructor(options: PhoneStorageOptions) {
    this.#options = options;
  }

  /** Null until that is known. */
  get current(): PageStorage | null {
    return this.#current;
  }

  show({ storedBytes, storedBytesMax }: TunnelStats): void {
    if (storedBytes === null || storedBytesMax === null) this.#current = null;
    else {
      const known = this.#current ?? { sites: [], isKept: null, quota: null };
      this.#current = { ...known, bytes: storedBytes, bytesMax: storedBytesMax };
    }
  }

  /** A page has loaded. */
  async pageLoaded(stats: TunnelStats): Promise<void> {
    this.show(stats);
    if (!this.#options.asksPerson) await this.#askToKeep();
  }

  /** The app was installed: browsers answer otherwise then. */
  async installed(): Promise<void> {
    this.#isAsked = false;
    if (!this.#options.asksPerson) await this.#askToKeep();
  }

  /** The person looks at it. */
  async read(): Promise<void> {
    const { tunnel, manager } = this.#options;
    const [stats, sites, isKept, estimate] = await Promise.all([
      tunnel.stats(),
      tunnel.askStore({ kind: "sites" }),
      manager?.persisted().catch(() => null) ?? null,
      manager?.estimate().catch(() => null) ?? null,
    ]);
    this.show(stats);
    this.#learn({ sites: sites ?? [], isKept, quota: estimate?.quota ?? null });
    await this.#askToKeep();
  }

  async #askToKeep(): Promise<void> {
    const { manager, isInstalled } = this.#options;
    const isWorthIt = isInstalled() || (this.#current?.bytes ?? 0) >= WORTH_KEEPING;
    if (manager === null || this.#isAsked || !isWorthIt) return;
    this.#isAsked = true;
    try {
      this.#learn({ isKept: (await manager.persisted()) || (await manager.persist()) });
    } catch {
      // Storage is closed to us.
    }
  }

  #learn(change: Partial<PageStorage>): void {
    if (this.#current !== null) this.#current = { ...this.#current, ...change };
  }
}

/** Outcome of the wish to keep a page. `unavailable`: the store cannot be had now. */
export type KeepResult = "kept" | KeepRefusal | "unavailable";

/** The pages that the person has kept, as the chrome shows them. */
export class KeptPages {
  readonly #tunnel: Pick<TunnelClient, "askStore">;
  #all: readonly KeptPage[] = [];

  constructor(tunnel: Pick<TunnelClient, "askStore">) {
    this.#tunnel = tunnel;
  }

  /** The latest first; as of when somebody last looked. */
  get all(): readonly KeptPage[] {
    return this.#all;
  }

  /** @param url of a page, with its fragment or without. */
  find(url: string): KeptPage | null {
    return this.#all.find((page) => page.url === withoutFragment(url)) ?? null;
  }

  async read(): Promise<void> {
    this.#learn(await this.#tunnel.askStore({ kind: "kept" }));
  }

  /** The page that is shown, as it is now. */
  async keep(url: string, title: string): Promise<KeepResult> {
    const question = { kind: "keep", url: withoutFragment(url), title } as const;
    const outcome = await this.#tunnel.askStore(question);
    if (outcome === null) return "unavailable";
    if ("refused" in outcome) return outcome.refused;
    this.#all = [outcome.page, ...this.#all.filter((page) => page.url !== outcome.page.url)];
    return "kept";
  }

  async unkeep(url: string): Promise<void> {
    this.#learn(await this.#tunnel.askStore({ kind: "unkeep", url: withoutFragment(url) }));
  }

  /** A site is forgotten: what was kept of it is shown no more, however long the edge takes to say that it is done. */
  forget(isOf: (url: string) => boolean): void {
    this.#learn(this.#all.filter(({ url }) => !isOf(url)));
  }

  #learn(pages: readonly KeptPage[] | null): void {
    this.#all = pages ?? this.#all;
  }
}

function withoutFragment(url: string): string {
  return url.split("#", 1)[0] as string;
}

const DATA_USE_KEY = "ropeway.data-use";

/** Days that are kept: two months, and those of the plot. */
const DAYS_KEPT = 62;
/** Days that the plot shows. */
const DAYS_SHOWN = 30;
const DAY = 86_400_000;

export interface Use {
  /** WebSocket payload, both directions. */
  readonly linkBytes: number;
  /** Body bytes that origins sent. */
  readonly originBytes: number;
}

export const NOTHING: Use = { linkBytes: 0, originBytes: 0 };

/** Bytes that the link has carried, day by day, and as many as sites sent for it. */
export class DataUse {
  readonly #storage: KeyValueStorage;
  readonly #now: () => number;
  #last = NOTHING;

  /** @param now milliseconds since the epoch; days begin at the phone's midnight. */
  constructor(storage: KeyValueStorage, now: () => number) {
    this.#storage = storage;
    this.#now = now;
  }

  /** Counts what was moved since the last call. Another window adds its own. */
  add({ linkBytesUp, linkBytesDown, originBytes }: Pick<TunnelStats, "linkBytesUp" | "linkBytesDown" | "originBytes">) {
    const now = { linkBytes: linkBytesUp + linkBytesDown, originBytes };
    const days = this.#read();
    const today = dayOf(this.#now());
    const before = days.get(today) ?? NOTHING;
    days.set(today, {
      linkBytes: before.linkBytes + now.linkBytes - this.#last.linkBytes,
      originBytes: before.originBytes + now.originBytes - this.#last.originBytes,
    });
    this.#last = now;
    const kept = [...days].sort(([a], [b]) => a.localeCompare(b)).slice(-DAYS_KEPT);
    this.#storage.setItem(DATA_USE_KEY, JSON.stringify(kept));
  }

  /** The last thirty days, today last. */
  get days(): readonly Use[] {
    const days = this.#read();
    const noon = new Date(this.#now()).setHours(12);
    return Array.from({ length: DAYS_SHOWN }, (_, i) => days.get(dayOf(noon - (DAYS_SHOWN - 1 - i) * DAY)) ?? NOTHING);
  }

  /** Since the first of the month. */
  get month(): Use {
    const month = dayOf(this.#now()).slice(0, -2);
    const days = [...this.#read()].filter(([day]) => day.startsWith(month)).map(([, use]) => use);
    return {
      linkBytes: days.reduce((sum, use) => sum + use.linkBytes, 0),
      originBytes: days.reduce((sum, use) => sum + use.originBytes, 0),
    };
  }

  #read(): Map<string, Use> {
    try {
      const entries = JSON.parse(this.#storage.getItem(DATA_USE_KEY) ?? "[]") as readonly (readonly [string, Use])[];
      return new Map(entries.filter(([day, use]) => /^\d{4}-\d\d-\d\d$/.test(day) && isUse(use)));
    } catch {
      return new Map();
    }
  }
}

function isUse({ linkBytes, originBytes }: Use): boolean {
  return Number.isFinite(linkBytes) && Number.isFinite(originBytes);
}

/** In the phone's time zone: 2026-11-23. */
export function dayOf(time: number): string {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export const SITE_USE_KEY = "ropeway.site-use";

/** The latest. */
const SITES_KEPT = 100;

/** Bytes on the link by which a page that is shown is counted on: each step is written. */
const STEP = 4_096;

/**
 * Bytes that pages of each site have cost on the link this month. The count is kept on this phone, and forgotten with the
 * site.
 */
export class SiteUse {
  readonly #storage: KeyValueStorage;
  readonly #now: () => number;
  /** Counted so far of the page that is shown. */
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

export interface SiteForgettingOptions {
  readonly tunnel: Pick<TunnelClient, "askStore" | "tell">;
  /** To the other windows. */
  readonly channel: WindowChannel;
  /** Tells the other windows when it is over, however that comes about; without them they do not wait. */
  readonly locks: Pick<LockManager, "request"> | null;
  /** Closes such pages in this window, and forgets what it knows of them. */
  readonly forgetHere: (isOf: (url: string) => boolean) => void;
  /** @param why something is still there, or "". */
  readonly onDone: (why: string) => void;
}

/** Milliseconds that a page has to say what it does when it is left. */
const GOODBYE_TIME = 300;

const LOCK = "ropeway.forgetting ";

/**
 * Forgets one site, when its pages have closed in all windows: what they say then does not bring it back. No window asks
 * for a page of it again before that is done.
 */
export class SiteForgetting {
  readonly #options: SiteForgettingOptions;

  constructor(options: SiteForgettingOptions) {
    this.#options = options;
    options.channel.onmessage = ({ data }: MessageEvent<string>) => this.#follow(data);
  }

  /** @param site as `siteName` of its pages. */
  forget(site: string): void {
    const { locks } = this.#options;
    const forget = () => this.#forget(site);
    void (locks === null ? forget() : locks.request(LOCK + site, forget));
  }

  async #forget(site: string): Promise<void> {
    const { channel, tunnel, onDone } = this.#options;
    channel.postMessage(site);
    this.#forgetHere(site);
    await new Promise((resolve) => setTimeout(resolve, GOODBYE_TIME));
    const why = await tunnel.askStore({ kind: "forget", site });
    this.#tellOver(site);
    // Where the store cannot be had.
    const away = later("some of it is still there. Try again when the link is back");
    onDone(why ?? `Cannot forget ${site}: ${away}`);
  }

  /** Another window has the lock, and gives it up when it is done or gone. */
  #follow(site: string): void {
    this.#forgetHere(site);
    const over = () => this.#tellOver(site);
    void (this.#options.locks?.request(LOCK + site, { mode: "shared" }, over) ?? over());
  }

  #forgetHere(site: string): void {
    const { tunnel, forgetHere } = this.#options;
    tunnel.tell({ type: "store", kind: "forget", site, isOver: false });
    forgetHere((url) => siteName(url) === site);
  }

  #tellOver(site: string): void {
    this.#options.tunnel.tell({ type: "store", kind: "forget", site, isOver: true });
  }
}
