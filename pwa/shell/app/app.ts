import { isAway, type LinkPhase, type TunnelStats } from "../../messages/tunnel-messages.ts";
import { isPairedWith, pair, storedToken, UNREACHABLE } from "../link/pairing.ts";
import type { TunnelClient, TunnelEvent } from "../link/tunnel-client.ts";
import type { KeyValueStorage, SettingsStore } from "./settings.ts";
import { isSameSite, type SiteStore } from "./site-store.ts";
import type { AppActions, AppState, Notice, Settings, Site, SiteEvent, SiteTeller, TabState, Totals } from "./state.ts";

export type TabEvent = Exclude<TunnelEvent, { type: "link" }>;

/** A tab, as the app needs it. */
export interface AppTab {
  readonly state: Pick<TabState, "phase" | "url" | "destination">;
  /** The link is open again, or for the first time. */
  onLinkBack(): void;
  /** Each tab hears of it, and heeds what is about itself. */
  onTunnelEvent(event: TabEvent): void;
  home(): void;
}

export interface AppOptions {
  readonly tunnel: TunnelClient;
  readonly sites: SiteStore;
  readonly settings: SettingsStore;
  readonly totals: TotalsStore;
  /** Keeps the pairing. */
  readonly storage: KeyValueStorage;
  readonly demoUrl: string | null;
  readonly openLink: (token: string) => void;
  readonly forgetSlots: () => void;
  readonly forgetSlotsOf: (isOf: (origin: string) => boolean) => void;
  /** The phone's storage as the person sees it; null until its script is there. */
  readonly phone: () => { pageLoaded(stats: TunnelStats): void; read(): void } | null;
  /**
   * Forgets where the person was.
   *
   * @property isOf says of URLs whether they are to be forgotten.
   * @property closes tabs without a frame close, too.
   * @returns what has open pages written down again.
   */
  readonly forgetHistory: (isOf: (url: string) => boolean, closes: boolean) => () => void;
  /** Draws the state of the app and of the tab shown. */
  readonly draw: () => void;
}

interface Shown {
  readonly notice: Notice;
  readonly isOver: () => boolean;
  readonly isCovered: () => boolean;
}

/** Notices of what the person has just done, which nobody misses once there is a newer one. */
const PASSING: ReadonlySet<Notice["kind"]> = new Set(["closed-tab", "forgotten"]);

/** Milliseconds until an edge that could not be reached is asked about the person's key again. */
const PAIRING_PAUSE = 10_000;

/** All that tabs share: settings, sites, totals, the link and the pairing with its edge, and the one notice. */
export class App implements AppActions, SiteTeller {
  readonly tunnel: TunnelClient;
  readonly #options: AppOptions;
  readonly #tabs = new Set<AppTab>();
  #link: LinkPhase;
  #totals: Totals | null;
  /** The newest last; at most one of each kind. */
  #notices: readonly Shown[] = [];
  #readable: ReadonlySet<string> | null = null;
  /** The edge could not be reached when the person gave this key. */
  #unansweredKey: string | null = null;
  /** The one that the edge is being asked about. */
  #pairingKey: string | null = null;
  #pairingRetry: ReturnType<typeof setTimeout> | undefined;
  #wasReadied = false;
  /** Nobody has asked yet to hear it. */
  #untold: SiteEvent[] = [];
  #tellSites = (event: SiteEvent): void => void this.#untold.push(event);

  constructor(options: AppOptions) {
    this.#options = options;
    this.tunnel = options.tunnel;
    this.#totals = options.totals.current;
    this.#link =
      storedToken(options.storage) === null
        ? { kind: "unpaired" }
        : { kind: "connecting", since: Date.now(), attempt: 1 };
  }

  get state(): AppState {
    const { sites, settings, demoUrl } = this.#options;
    return {
      link: this.#link,
      pairing: this.#unansweredKey !== null ? "unreachable" : this.#pairingKey !== null ? "asking" : "idle",
      totals: this.#totals,
      notice: this.#newest?.notice ?? null,
      recent: sites.recent,
      pinned: sites.pinned,
      readable: this.#readable,
      settings: settings.current,
      demoUrl,
    };
  }

  // Tabs tell

  add(tab: AppTab): void {
    this.#tabs.add(tab);
  }

  remove(tab: AppTab): void {
    this.#tabs.delete(tab);
  }

  /** Draws anew: the state of the app, or of a tab, has changed. Once no page loads, earlier pages are made ready. */
  draw(): void {
    this.#notices = this.#notices.filter(({ isOver }) => !isOver());
    if (!this.#wasReadied) this.#ready();
    this.#options.draw();
  }

  /** @param isOver what the notice is about has passed. */
  notify(notice: Notice, isOver: () => boolean = () => false): void {
    const others = this.#notices.filter((each) => each.notice.kind !== notice.kind && !PASSING.has(each.notice.kind));
    this.#notices = [...others, { notice, isOver, isCovered: () => false }];
    this.draw();
  }

  /** Newer news stand in the place of notices. @param isOver they have passed, and the notices come back. */
  cover(isOver: () => boolean): void {
    this.#notices = this.#notices.map((each) => ({ ...each, isCovered: () => !isOver() }));
  }

  get #newest(): Shown | undefined {
    return this.#notices.findLast(({ isCovered }) => !isCovered());
  }

  hearSites(hear: (event: SiteEvent) => void): void {
    for (const event of this.#untold) hear(event);
    this.#untold = [];
    this.#tellSites = hear;
  }

  /** A page has loaded. @param site null where it is an error of the site's. @param isNew it was not there before. */
  onPageLoaded(site: Site | null, isNew: boolean): void {
    const { sites, totals } = this.#options;
    if (site !== null) {
      // The title of a page whose site was forgotten may change for as long as its tab is open.
      if (isNew || sites.recent.some(({ url }) => isSameSite(url, site.url))) sites.visit(site);
      this.#tellSites({ kind: "loaded", site, at: Date.now(), isNew });
    }
    this.tunnel.tell({ type: "store", kind: "write-down" });
    if (isAway(this.#link)) void this.#findReadable();
    this.draw();
    void this.tunnel.stats().then((stats) => {
      this.#totals = totals.add(stats);
      this.#options.phone()?.pageLoaded(stats);
      this.draw();
    });
  }

  showIcon(url: string, icon: string): void {
    this.#options.sites.showIcon(url, icon);
    this.#tellSites({ kind: "icon", url, icon });
    this.draw();
  }

  /** Tries once more to pair with a key that the edge could not be asked about. */
  ensurePaired(): void {
    if (this.#unansweredKey !== null) void this.#askAbout(this.#unansweredKey);
  }

  // The person asks

  prepareToGo(): void {
    this.tunnel.tell({ type: "link", kind: "hint", hint: "navigation" });
  }

  dismissNotice(): void {
    const newest = this.#newest;
    this.#notices = this.#notices.filter((each) => each !== newest);
    this.draw();
  }

  pin(site: Site): Promise<boolean> {
    const written = this.#options.sites.pin(site);
    this.draw();
    return written;
  }

  unpin(url: string): void {
    this.#options.sites.unpin(url);
    this.draw();
  }

  forgetRecent(url: string | "all"): void {
    const isOf = (other: string) => url === "all" || isSameSite(other, url);
    // First, as the notice takes the focus that goes with the list.
    const undrop = this.dropRecent(isOf);
    this.#tellSites({ kind: "forget", isOf: url === "all" ? null : isOf });
    const keepAgain = this.#options.forgetHistory(isOf, false);
    if (url !== "all") return;
    const undo = () => {
      this.#tellSites({ kind: "remember" });
      keepAgain();
      undrop();
    };
    this.notify({ kind: "forgotten", undo }, () => this.#isLoading);
  }

  dropRecent(isOf: (url: string) => boolean): () => void {
    const { sites } = this.#options;
    const gone = sites.recent.filter(({ url }) => isOf(url));
    sites.forget(isOf);
    this.draw();
    return () => {
      sites.remember(gone);
      this.draw();
    };
  }

  changeSettings(change: Partial<Settings>): void {
    this.tunnel.tellSettings(this.#options.settings.change(change));
    this.draw();
  }

  /** A key that has paired the phone changes nothing; with another, all that is stored goes. A second tap asks nothing: a code pairs once. */
  async pair(accessKey: string): Promise<void> {
    const key = accessKey.trim();
    if (key !== this.#pairingKey) this.#unansweredKey = null;
    await this.#askAbout(key);
  }

  async #askAbout(key: string): Promise<void> {
    if (key === this.#pairingKey) return;
    this.#pairingKey = key;
    clearTimeout(this.#pairingRetry);
    this.draw();
    try {
      const isPaired = this.#link.kind !== "refused" && (await isPairedWith(this.#options.storage, key));
      if (!isPaired) await this.#pair(key);
    } finally {
      if (this.#pairingKey === key) this.#pairingKey = null;
      this.draw();
    }
  }

  async #pair(accessKey: string): Promise<void> {
    const { storage, openLink } = this.#options;
    const isWanted = () => this.#pairingKey === accessKey;
    const result = await pair(storage, accessKey, isWanted);
    if (!isWanted()) return;
    if (result !== "unreachable") this.#unansweredKey = null;
    const token = storedToken(storage);
    if (result === "paired" && token !== null) {
      // The history that is there was another pairing's.
      this.#options.forgetHistory(() => true, true);
      this.tunnel.tell({ type: "store", kind: "empty" });
      return openLink(token);
    }
    const refusal = typeof result === "string" ? null : { why: result.refused };
    if (token !== null && this.#link.kind !== "refused") {
      // The key that the phone has is as good as before.
      return this.notify({ kind: "wrong-key", why: refusal ? refusal.why : UNREACHABLE });
    }
    if (refusal === null) {
      this.#unansweredKey = accessKey;
      this.#pairingRetry = setTimeout(() => this.ensurePaired(), PAIRING_PAUSE);
    } else this.#link = { kind: "refused", ...refusal };
    this.tunnel.tell({ type: "link", kind: "give-up" });
  }

  clearSiteData(): void {
    this.#options.forgetSlots();
    void this.tunnel.clearSiteData().then((why) => {
      if (why !== null) this.notify({ kind: "not-cleared", why });
      this.#options.phone()?.read();
    });
    for (const tab of this.#tabs) tab.home();
    this.#options.forgetHistory(() => true, true);
  }

  /** Such pages close, and this window forgets where they were. */
  forgetSites(isOf: (url: string) => boolean): void {
    const { sites, settings, forgetSlotsOf, forgetHistory } = this.#options;
    for (const tab of this.#tabs) {
      const { url, destination } = tab.state;
      if (isOf(url) || isOf(destination?.url ?? "")) tab.home();
    }
    sites.forget(isOf);
    this.#tellSites({ kind: "forget", isOf });
    const { pixelReaders, trackerExceptions, windowOpeners, sizes } = settings.current;
    this.changeSettings({
      windowOpeners: windowOpeners.filter((site) => !isOf(`https://${site}`)),
      sizes: sizes.filter(({ site }) => !isOf(`https://${site}`)),
      pixelReaders: pixelReaders.filter((origin) => !isOf(origin)),
      trackerExceptions: trackerExceptions.filter((site) => !isOf(`https://${site}`)),
    });
    forgetSlotsOf(isOf);
    forgetHistory(isOf, true);
    this.draw();
  }

  // The tunnel tells

  onTunnelEvent(event: TunnelEvent): void {
    if (event.type === "link") return this.#onLink(event.link);
    if (event.type === "reads-pixels") return this.#addReader(event.origin);
    for (const tab of this.#tabs) tab.onTunnelEvent(event);
    if (event.type === "uncertain") this.notify({ kind: "uncertain", url: event.url });
  }

  #addReader(origin: string): void {
    const { settings } = this.#options;
    const { pixelReaders } = settings.current;
    if (!pixelReaders.includes(origin)) settings.change({ pixelReaders: [...pixelReaders, origin] });
  }

  #onLink(link: LinkPhase): void {
    const isBack = link.kind === "open" && this.#link.kind !== "open";
    const wasAway = isAway(this.#link);
    this.#link = link;
    if (!isAway(link)) this.#readable = null;
    else if (!wasAway) void this.#findReadable();
    if (isBack) for (const tab of this.#tabs) tab.onLinkBack();
    this.draw();
  }

  /** Pages that were opened before open at once, where they may. A page that loads has the link for itself. */
  #ready(): void {
    if (this.#link.kind !== "open" || this.#isLoading) return;
    const urls = this.#siteUrls;
    if (urls.length === 0) return;
    this.#wasReadied = true;
    void this.tunnel.askStore({ kind: "ready", urls });
  }

  get #isLoading(): boolean {
    return [...this.#tabs].some(({ state }) => state.phase === "loading");
  }

  get #siteUrls(): readonly string[] {
    const { recent, pinned } = this.#options.sites;
    return [...pinned, ...recent].map(({ url }) => url);
  }

  /** Looks for pages on the start page that are stored. */
  async #findReadable(): Promise<void> {
    const pages = await this.tunnel.askStore({ kind: "readable", urls: this.#siteUrls });
    if (!isAway(this.#link)) return;
    this.#readable = pages === null ? null : new Set(pages);
    this.draw();
  }
}

const TOTALS_KEY = "ropeway.totals";

/** Bytes that Ropeway has moved since it was set up on this phone: of earlier starts, and of this one. */
export class TotalsStore {
  #storage: KeyValueStorage;
  #last: Totals = { linkBytes: 0, originBytes: 0 };

  constructor(storage: KeyValueStorage) {
    this.#storage = storage;
  }

  /** Null until something was moved. */
  get current(): Totals | null {
    return readTotals(this.#storage.getItem(TOTALS_KEY));
  }

  /** Adds what was moved since the last call. Another window adds its own. */
  add(stats: TunnelStats): Totals {
    const now = { linkBytes: stats.linkBytesUp + stats.linkBytesDown, originBytes: stats.originBytes };
    const before = this.current ?? { linkBytes: 0, originBytes: 0 };
    const totals = {
      linkBytes: before.linkBytes + now.linkBytes - this.#last.linkBytes,
      originBytes: before.originBytes + now.originBytes - this.#last.originBytes,
    };
    this.#last = now;
    this.#storage.setItem(TOTALS_KEY, JSON.stringify(totals));
    return totals;
  }
}

function readTotals(json: string | null): Totals | null {
  try {
    const value = JSON.parse(json ?? "null") as Partial<Record<keyof Totals, unknown>> | null;
    if (typeof value?.linkBytes !== "number" || typeof value.originBytes !== "number") return null;
    return { linkBytes: value.linkBytes, originBytes: value.originBytes };
  } catch {
    return null;
  }
}
