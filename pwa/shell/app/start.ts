/** Puts the app together. The tunnel starts when this file is loaded, everything else after it, with `startShell`. */
import { setTimer } from "../../../shared/clock.ts";
import { type EdgeConfig, TUNNEL_PATH } from "../../../shared/subprotocol.ts";
import type { KeyPress, PageToShell } from "../../messages/page-messages.ts";
import type { Download, TunnelStats } from "../../messages/tunnel-messages.ts";
import { importAgain } from "../../platform/platform.ts";
import type { LitePlatform, OpenedPlaces } from "../frames/places.ts";
import { OtherWindows, SlotFrames, SlotPlaces } from "../frames/slot-frames.ts";
import { type SlotHosts, wildcardHosts } from "../frames/slot-hosts.ts";
import { SlotRegistry } from "../frames/slot-registry.ts";
import { type Activation, isForApp, type OfFrame, type PageMessage, SlotServices } from "../frames/slot-services.ts";
import { createPageFrame, KeptSpares, QUIET_TIME, SpareSchedule } from "../frames/spare-slots.ts";
import { isPairedWith, storedToken } from "../link/pairing.ts";
import { fetchConfig, LinkMemory, liteSites, storedAccept, storedConfig } from "../link/remembered.ts";
import { TunnelClient, type TunnelEvent, tunnelWorker, watchNetwork } from "../link/tunnel-client.ts";
import type { Permissions } from "../permissions/permissions.ts";
import { parseAddress } from "../tab/address-input.ts";
import { typedNavigation, withoutFragment } from "../tab/navigation-request.ts";
import type { KeptEntry } from "../tab/session-history.ts";
import { Tabs, type TabsOptions } from "../tab/tabs.ts";
import type { AppWindow } from "../tab/windows.ts";
import { App, type AppOptions, TotalsStore } from "./app.ts";
import { HISTORY_KEY, HistoryStore } from "./history-store.ts";
import { hearLaunches, LAUNCHER, type LaunchQueue, parseLaunch } from "./launch-request.ts";
import { hasUpdate, lookForCookies, startOwnWorker } from "./own-worker.ts";
import { type Phone, SITE_USE_KEY } from "./phone.ts";
import { SettingsStore, sizeOf } from "./settings.ts";
import { ANSWERS_KEY } from "./site-answers.ts";
import { SiteStore } from "./site-store.ts";
import type { BrowserState } from "./state.ts";

declare global {
  interface Window {
    /** For automation; stable, see docs/automation.md. */
    ropeway: { stats(): Promise<TunnelStats> };
    /** Path of the script for a list of hosts. */
    readonly __LISTED: string;
    /** Likewise, of that for pages without scripts. */
    readonly __LITE: string;
    /** Likewise, of that for questions of pages. */
    readonly __PERMISSIONS: string;
    readonly launchQueue?: LaunchQueue;
  }
}

/** The browser's own user interface. */
export interface Chrome {
  /** Draws the state, synchronously. */
  render(state: BrowserState): void;
  /** The pages' iframes go into it. Never re-created or moved: a moved iframe reloads. */
  readonly frameHost: ParentNode;
  /** Gives the page the focus, unless the person is busy with the address box or a sheet. */
  focusPage(): void;
  /** Does what a key asks for. @returns whether it is one of the app's. */
  press(press: KeyPress): boolean;
  openSettings(): void;
  /** Of the script of the sheets, which loads late: as `LateScript`. */
  readonly sheets: {
    readonly loaded: LateSheets | null;
    load(): Promise<LateSheets | null>;
  };
  /** Of the script of history and bookmarks, likewise. */
  readonly library: { load(): Promise<unknown> };
}

interface LateSheets {
  readonly phone: Phone;
  /** A file that a site sends has begun, or is over. */
  onDownload(download: Download): void;
}

/** Takes over `root`, replacing the skeleton in it, for as long as the app lives. */
export type Mount = (root: HTMLElement, tunnel: TunnelClient, app: App, tabs: Tabs) => Chrome;

/** The tab begins to load before it is there. */
const FIRST_TAB = 1;
const WINDOWS_CHANNEL = "ropeway.windows";
/** Milliseconds after the start; later while a page loads. */
const CONFIG_REFRESH_DELAY = 10_000;

const launchUrl = location.href;
const launch = parseLaunch(new URL(launchUrl));
// The app's own entries in the browser's list count on.
history.replaceState(history.state, "", "/");

const settings = new SettingsStore(localStorage);
const linkMemory = new LinkMemory(localStorage);
const { lastOpening } = linkMemory;
let startedAt = 0;
/** News of the tunnel before there was an app to hear it. */
const earlyEvents: TunnelEvent[] = [];
let hear: (event: TunnelEvent) => void = (event) => earlyEvents.push(event);
const tunnel = new TunnelClient(tunnelWorker(), (event) => {
  if (event.type === "link" && event.link.kind === "open") linkMemory.opened(performance.now() - startedAt);
  // Cookies may be what keeps the link from opening.
  if (event.type === "link" && event.link.kind === "waiting") lookForCookies();
  hear(event);
});
window.ropeway = { stats: () => tunnel.stats() };
introduce();
tunnel.tellSettings(settings.current);
const stored = storedConfig(localStorage);
const ofSlots = { scriptless: liteSites(localStorage), known: new SlotRegistry(localStorage).sites };
tunnel.set(stored?.slotHost === null ? { scriptless: null, known: null } : ofSlots);
if (!navigator.onLine) tunnel.set({ isOnline: false });
// Before the link, so that it rides in its handshake.
const begun = beginNavigation();
const token = storedToken(localStorage);
if (token !== null) startTunnel(token);

export async function startShell(mount: Mount): Promise<void> {
  const sites = new SiteStore();
  const { accessKey, address, view } = launch;
  const history = new HistoryStore(localStorage, navigator.locks ?? null, setTimer);
  const [{ slotHost, demoUrl }, before, isNewKey] = await Promise.all([
    stored ?? firstConfig(),
    history.take(view === "start", (left) => tabs.resume(left)),
    accessKey !== null && isPairedWith(localStorage, accessKey).then((isPaired) => !isPaired),
    sites.load().catch(() => {}),
  ]);
  const registry = new SlotRegistry(localStorage);
  const slots = await openSlots(registry, slotHost, () => ({ app, tabs }));
  const { places, attach } = await openPlaces(slots);
  const isLoading = () => tabs.all.some((each) => each.tab.state.phase === "loading");
  const spares = slots === null ? null : new SpareSchedule(slots, isLoading);
  const app = new App({
    tunnel,
    sites,
    settings,
    totals: new TotalsStore(localStorage),
    storage: localStorage,
    demoUrl,
    openLink: startTunnel,
    forgetSlots: () => registry.clear(),
    forgetSlotsOf: (isOf) => registry.forget(isOf),
    phone: () => chrome.sheets.loaded?.phone ?? null,
    forgetHistory: (isOf, closes) => forgetIn(tabs, history, chrome, isOf, closes),
    draw: () => {
      const shown = tabs.shown.tab.state;
      tabs.lay((url) => sizeOf(settings.current, url));
      chrome.render({ ...app.state, ...shown, ...tabs.state, ...lateState() });
      chrome.sheets.loaded?.phone.count(shown);
      spares?.plan();
      if (shown.phase !== "loading") history.lasts();
    },
  });
  const tabs = openTabs({ app, places, slots, focusPage: () => chrome.focusPage() }, history);
  const { tab, frame } = tabs.shown;
  const chrome = mount(document.getElementById("app") as HTMLElement, tunnel, app, tabs);
  attach({ frame, tab, chrome, app });
  const isResumed = places !== null && token !== null && !isNewKey;
  keepHistory(history, tabs, isResumed ? before : [], address !== null);
  app.draw();
  warmSheets(chrome, isLoading);
  if (stored !== null) refreshConfig(isLoading, CONFIG_REFRESH_DELAY);

  hearPages(slots, tabs, chrome, app);
  await settlePermissions(app);
  if (begun === null || isNewKey) hearTunnel(app, chrome);
  if (address === null) frame.showStart();
  tabs.mount(chrome.frameHost);
  await spares?.start();
  if (accessKey !== null && isNewKey) await app.pair(accessKey);
  // On a slow link the page's frame would take bytes from the link's own handshake (see SlotFrames).
  if (address !== null) tab.go(address, { begun, waitsForLink: linkMemory.isSlow }, LAUNCHER);
  if (begun !== null && !isNewKey) hearTunnel(app, chrome);
  if (view === "settings") chrome.openSettings();
  heedLaunches(app, tabs, chrome);
  await startOwnWorker(localStorage, places === null || places instanceof SlotPlaces, introduce, () => app.draw());
}

/** Told by the browser, and by a late script. */
function lateState() {
  return { question: permissions?.question ?? null, hasUpdate: hasUpdate() };
}

/** A frame's permissions are settled when it sets out. */
async function settlePermissions(app: App): Promise<void> {
  if (/cam|mic/.test(localStorage.getItem(ANSWERS_KEY) ?? ""))
    await openPermissions().then(
      () => app.draw(),
      // A page waits for no script that cannot be had.
      () => {},
    );
}

/** The app hears all news from now on, and what came before. News of a first page waits until the tab has set out for it. */
function hearTunnel(app: App, { sheets }: Pick<Chrome, "sheets">): void {
  hear = (event) => {
    if (event.type === "document" && event.kind === "download")
      void sheets.load().then((loaded) => loaded?.onDownload(event.download));
    else app.onTunnelEvent(event);
  };
  for (const event of earlyEvents) hear(event);
  watchNetwork(tunnel);
  window.addEventListener("online", () => app.ensurePaired());
}

function openTabs(
  needs: Pick<TabsOptions, "app" | "places" | "slots" | "focusPage">,
  history: Pick<HistoryStore, "save">,
): Tabs {
  const tabs: Tabs = new Tabs({
    ...needs,
    keepFocus() {
      const { element } = tabs.shown.frame;
      const { host, activeElement } = element.getRootNode() as ShadowRoot;
      // Else the person is in the bar, or in a sheet.
      if ([host, document.body].includes(document.activeElement ?? host)) needs.focusPage();
      return activeElement;
    },
    createFrame: () => createPageFrame(document),
    openOtherApp(url, origin, isOwn = true) {
      // A tap in the page is one in the shell, too (HTML section 6.4.2), for some seconds.
      const { isActive } = navigator.userActivation;
      askPerson((it) => it.openApp(url, origin, isActive, isOwn));
    },
    history: window.history,
    keep: (entries, others) => history.save(entries, others),
    mostBehind: framesBehind(),
  });
  window.addEventListener("popstate", ({ state }) => tabs.onEntry(state));
  return tabs;
}

/** Beside the frame of the tab shown; the more memory the phone has, as far as it tells. */
function framesBehind(): number {
  const { deviceMemory = 4 } = navigator as Navigator & { readonly deviceMemory?: number };
  return deviceMemory <= 2 ? 2 : deviceMemory < 8 ? 5 : 11;
}

/** The app may be opened for something while it is open. */
function heedLaunches(app: App, tabs: Tabs, chrome: Chrome): void {
  const [start] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  hearLaunches(
    window.launchQueue,
    { own: launchUrl, isReload: start?.type === "reload" },
    ({ accessKey, address, view }) => {
      if (accessKey !== null) void app.pair(accessKey);
      const goesOn = address !== null || view === "start";
      // The page that is shown stays, in its tab, with all that the person has typed there.
      if (goesOn && tabs.shown.tab.state.url !== "") tabs.open();
      if (address !== null) tabs.shown.tab.go(address, {}, LAUNCHER);
      else if (view === "settings") chrome.openSettings();
    },
  );
}

/** Slots, or where scripts do not run, too: that is in a script of its own. */
async function openPlaces(slots: SlotFrames | null): Promise<OpenedPlaces> {
  const inSlots = slots && new SlotPlaces(slots);
  const { serviceWorker: workers } = navigator;
  const sites = liteSites(localStorage);
  if (workers === undefined || (slots !== null && sites.length === 0)) return { places: inSlots, attach() {} };
  const { openLite } = (await import(self.__LITE)) as { openLite(platform: LitePlatform): OpenedPlaces };
  return openLite({ storage: localStorage, workers, slots: inSlots, sites, bind: (slot) => tunnel.bind(slot) });
}

/** The app and its tabs, which come after the slots. */
type GetWhole = () => { readonly app: App; readonly tabs: Tabs };

/** @returns null where there is one host only. */
async function openSlots(
  registry: SlotRegistry,
  slotHost: string | null,
  getWhole: GetWhole,
): Promise<SlotFrames | null> {
  const hosts = await slotHosts(registry, slotHost, getWhole);
  if (hosts === null) return null;
  const isKnown = (label: string) => hosts.labelOf(hosts.originOf(label)) !== null;
  registry.keepOnly(isKnown);
  window.addEventListener("storage", () => (hosts.areUsedAgain ? registry.reread() : registry.restore()));
  const otherWindows = new OtherWindows(new BroadcastChannel(WINDOWS_CHANNEL));
  window.addEventListener("pagehide", () => otherWindows.close());
  window.addEventListener("pageshow", ({ persisted }) => persisted && otherWindows.open());
  return new SlotFrames({
    registry,
    keptSpares: new KeptSpares(localStorage, navigator.locks ?? null),
    document,
    hosts,
    bindPort: (slot) => tunnel.bind(slot),
    hasOtherWindows: () => otherWindows.areOpen,
    onNoHost(origin) {
      for (const { tab } of getWhole().tabs.all) tab.onNoHost(origin);
    },
  });
}

/** A list comes with the page, whose policy names the same hosts (`worker/front/hosts.ts`). */
async function slotHosts(
  registry: SlotRegistry,
  slotHost: string | null,
  getWhole: GetWhole,
): Promise<SlotHosts | null> {
  const list = document.querySelector<HTMLMetaElement>('meta[name="ropeway-slots"]')?.content ?? "";
  if (list === "") return slotHost === null ? null : wildcardHosts(location.protocol, slotHost);
  const { openListedHosts } = (await import(self.__LISTED)) as typeof import("../frames/listed-hosts.ts");
  return openListedHosts(list.split(" "), registry, getWhole);
}

function forgetIn(
  tabs: Tabs,
  history: HistoryStore,
  chrome: Pick<Chrome, "sheets" | "library">,
  ...[isOf, closes]: Parameters<AppOptions["forgetHistory"]>
): () => void {
  const undo = tabs.forget(isOf, closes);
  history.forget(isOf);
  if (localStorage.getItem(SITE_USE_KEY) !== null) {
    void chrome.sheets.load().then((loaded) => loaded?.phone.forgetUse(isOf));
    void chrome.library.load();
  }
  return undo;
}

/**
 * However the app ends, what was last is written.
 *
 * @param before what is opened again, if anything is. @param isBehind in a tab behind that which the app is opened for.
 */
function keepHistory(history: HistoryStore, tabs: Tabs, before: readonly KeptEntry[], isBehind: boolean): void {
  const { others } = history;
  if (before.length > 0 && !isBehind) {
    history.begin();
    tabs.shown.tab.resume(before);
  }
  const former = before.length > 0 && isBehind ? [{ entries: before, title: "" }] : [];
  tabs.resume({ tabs: others.tabs.toSpliced(others.at, 0, ...former), at: others.at + former.length });
  window.addEventListener("pagehide", () => history.close());
  window.addEventListener("pageshow", ({ persisted }) => persisted && void history.take());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "hidden") return;
    history.write();
    tunnel.tell({ type: "store", kind: "write-down" });
  });
  window.addEventListener("storage", ({ key }) => key === HISTORY_KEY && tabs.forget(history.forgotten()));
}

/** @param told null where a browser that tells it was not asked to: what was done in the app's own bar counts for no page. */
function noteActivation(told: Activation | null | undefined, message: PageToShell): Activation | undefined {
  const activation = told === null ? { isActive: false, hasBeenActive: false } : told;
  if (message.type === "navigate") message.isUnasked = activation?.isActive === false;
  return activation;
}

/** Questions of pages; null until their script is there, which loads with the first. */
let permissions: Permissions | null = null;
let openPermissions: () => Promise<Permissions>;
const askPerson = (how: (permissions: Permissions) => void) => void openPermissions().then(how, () => {});

/**
 * A message in a slot's name is served, from any frame; a page's own frame is its tab's business, too.
 */
function hearPages(slots: SlotFrames | null, tabs: Tabs, chrome: Chrome, app: App): void {
  // The app has no forms: this is the way back to what a page's form has led to.
  document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
    if (effectiveDirective === "form-action") app.notify({ kind: "no-way-back" });
  });
  let opening: Promise<Permissions> | undefined;
  openPermissions = () => {
    opening ??= importAgain<typeof import("../permissions/permissions.ts")>(self.__PERMISSIONS).then(
      (late) => (permissions = late.openPermissions({ app, tabs, slots, chrome, frames: () => services.frames })),
    );
    opening.catch(() => {
      opening = undefined;
    });
    return opening;
  };
  if (slots === null) return;
  const onKey = (press: KeyPress, source: Window) => {
    // A page says what it likes, but has the keys only while it has the focus.
    const { shown } = tabs;
    const { element } = shown.frame;
    const root = element.getRootNode() as Document | ShadowRoot;
    const hasKeys = root.activeElement === element && tabs.of(source) === shown;
    if (hasKeys && typeof press?.key === "string") chrome.press(press);
  };
  const services = new SlotServices(slots, tunnel, onKey, (url, slot, page) => {
    return tabs.of(page)?.tab.mayShowEntry(url, slot) === true;
  });
  window.addEventListener("message", (event: PageMessage) => {
    if (isForApp(event.data) && event.data.type === "asks") askPerson((it) => it.hear(event));
  });
  window.addEventListener("message", ({ data, origin, source: speaker, userActivation: told, ports }: PageMessage) => {
    if (speaker === null || !isForApp(data)) return;
    const userActivation = noteActivation(told, data);
    const source = speaker as Window;
    if (data.type === "wipe") return slots.onWipe(data, origin, source);
    const slot = slots.slotOf(origin);
    const coming = slots.comingTo(origin);
    if (slot !== null && coming === null) services.onMessage(data, slot, source, userActivation);
    const from = tabs.of(source) ?? tabs.shown;
    const page = from.frame.element.contentWindow;
    const isFrames = page !== null && isOfFrames(data, source === page);
    const said = isFrames ? services.forPage(data, slot, { source, page }, userActivation) : data;
    if (said === null || (slot !== null && tabs.take(said, slot, { source, from, ports, userActivation }))) return;
    const spoken = coming ?? slot;
    if (isFrames) from.tab.onPageMessage(said, slot, page, userActivation);
    else if (spoken !== null || origin === location.origin)
      from.tab.onPageMessage(data, spoken, source, userActivation);
    else if (!isOfNobody(data, from, source)) slots.onUnassignedFrame(data.type, source);
  });
}

/** Whether the history has led to a host that is nobody's now: something else is shown in its place. */
function isOfNobody(data: PageToShell, { frame, tab }: AppWindow, source: Window): boolean {
  const backTo = data.type === "port-wanted" && frame.isOf(source) ? data.backTo : undefined;
  if (backTo !== undefined) tab.mayShowEntry(backTo, null);
  return backTo !== undefined;
}

/** A page speaks for frames without a script. */
function isOfFrames(message: PageToShell, isPages: boolean): message is OfFrame {
  if (message.type === "trouble") return true;
  return message.type === "navigate" && (!isPages || message.leads !== undefined);
}

/** The late scripts load soon, and at once when they are wanted; no page has to share the link or the processor with them. */
function warmSheets(chrome: Chrome, isLoading: () => boolean): void {
  setTimeout(() => {
    if (isLoading()) warmSheets(chrome, isLoading);
    else void chrome.sheets.load().then(() => chrome.library.load());
  }, QUIET_TIME);
}

/** For the next start. */
/** At the first start nothing can be shown without it, and the link may lose it. */
function firstConfig(): Promise<EdgeConfig> {
  return fetchConfig(localStorage).catch(
    () => new Promise((resolve) => setTimeout(() => resolve(firstConfig()), QUIET_TIME)),
  );
}

function refreshConfig(isLoading: () => boolean, delay: number): void {
  setTimeout(() => {
    if (isLoading()) refreshConfig(isLoading, QUIET_TIME);
    else void fetchConfig(localStorage).catch(() => {});
  }, delay);
}

/** Before all is known, Chromium's is taken for granted where this is one. */
function introduce(): void {
  const phone = {
    userAgent: navigator.userAgent,
    acceptLanguage: navigator.languages.join(","),
    viewport: `${innerWidth} ${innerHeight} ${devicePixelRatio}`,
    accept: storedAccept(localStorage) ?? ("userAgentData" in navigator ? {} : null),
  };
  tunnel.set({ phone });
}

function startTunnel(deviceToken: string): void {
  const url = `${location.origin.replace(/^http/, "ws")}${TUNNEL_PATH}`;
  startedAt = performance.now();
  const flies = window.ropewayFlies === true && begun !== null;
  tunnel.tell({ type: "link", kind: "start", url, token: deviceToken, lastOpening, flies });
}

/** @returns the id of the navigation that the app was opened for, or null. */
function beginNavigation(): number | null {
  const input = launch.address?.trim() ?? "";
  const address = parseAddress(input, settings.current.searchUrl);
  if (input === "" || address.kind === "unsupported") return null;
  return tunnel.navigate(FIRST_TAB, withoutFragment(typedNavigation(address.url, LAUNCHER)), false);
}
