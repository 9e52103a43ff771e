/** Puts the app together. The tunnel starts when this file is loaded, everything else after it, with `startShell`. */
import { setTimer } from "../../../shared/clock.ts";
import { TUNNEL_PATH } from "../../../shared/subprotocol.ts";
import { type KeyPress, MESSAGE_TAG, type PageToShell } from "../../messages/page-messages.ts";
import { EXPERIMENT_KEY, type TunnelStats } from "../../messages/tunnel-messages.ts";
import type { LitePlatform, OpenedPlaces } from "../frames/places.ts";
import { OtherWindows, SlotFrames, SlotPlaces, type WipeMessage } from "../frames/slot-frames.ts";
import { type SlotHosts, wildcardHosts } from "../frames/slot-hosts.ts";
import { SlotRegistry } from "../frames/slot-registry.ts";
import { type Activation, type OfFrame, SlotServices } from "../frames/slot-services.ts";
import { createPageFrame, KeptSpares, QUIET_TIME, SpareSchedule } from "../frames/spare-slots.ts";
import { isPairedWith, storedToken } from "../link/pairing.ts";
import { fetchConfig, LinkMemory, liteSites, storedAccept, storedConfig } from "../link/remembered.ts";
import { TunnelClient, type TunnelEvent, watchNetwork } from "../link/tunnel-client.ts";
import { parseAddress } from "../tab/address-input.ts";
import { typedNavigation, withoutFragment } from "../tab/navigation-request.ts";
import { PageFrame } from "../tab/page-frame.ts";
import type { KeptEntry } from "../tab/session-history.ts";
import { Tab } from "../tab/tab.ts";
import { App, TotalsStore } from "./app.ts";
import { HISTORY_KEY, HistoryStore } from "./history-store.ts";
import { hearLaunches, LAUNCHER, type LaunchQueue, parseLaunch } from "./launch-request.ts";
import { lookForCookies, startOwnWorker } from "./own-worker.ts";
import { type Phone, SITE_USE_KEY } from "./phone.ts";
import { SettingsStore } from "./settings.ts";
import { SiteStore } from "./site-store.ts";
import type { BrowserState } from "./state.ts";

declare global {
  interface Window {
    /** For automation; stable, see docs/automation.md. */
    ropeway: { stats(): Promise<TunnelStats> };
    /** Path of the tunnel's script; the build puts it here. */
    readonly __TUNNEL: string;
    /** Likewise, of that for a list of hosts. */
    readonly __LISTED: string;
    /** Likewise, of that for pages without scripts. */
    readonly __LITE: string;
    readonly launchQueue?: LaunchQueue;
  }
}

/** The browser's own user interface. */
export interface Chrome {
  /** Draws the state, synchronously. */
  render(state: BrowserState): void;
  /** The page's iframe goes into it. Never re-created or moved: a moved iframe reloads. */
  readonly frameHost: HTMLElement;
  /** Gives the page the focus, unless the person is busy with the address box or a sheet. */
  focusPage(): void;
  /** Does what a key asks for. @returns whether it is one of the app's. */
  press(press: KeyPress): boolean;
  openSettings(): void;
  /** Of the script of the sheets, which loads late: as `LateSheets`. */
  readonly sheets: {
    readonly loaded: LateSheets | null;
    load(): Promise<LateSheets | null>;
  };
}

interface LateSheets {
  readonly phone: Phone;
}

/** Takes over `root`, replacing the skeleton in it, for as long as the app lives. */
export type Mount = (root: HTMLElement, tunnel: TunnelClient, app: App, tab: Tab) => Chrome;

/** The tab begins to load before it is there. */
const FIRST_TAB = 1;
const WINDOWS_CHANNEL = "ropeway.windows";
/** Milliseconds after the start; later while a page loads. */
const CONFIG_REFRESH_DELAY = 10_000;

const launchUrl = location.href;
const launch = parseLaunch(new URL(launchUrl));
history.replaceState(null, "", "/");

const settings = new SettingsStore(localStorage);
const linkMemory = new LinkMemory(localStorage);
let startedAt = 0;
/** News of the tunnel before there was an app to hear it. */
const earlyEvents: TunnelEvent[] = [];
let hear: (event: TunnelEvent) => void = (event) => earlyEvents.push(event);
const experiment = localStorage.getItem(EXPERIMENT_KEY) ?? "";
const worker = new Worker(self.__TUNNEL, { type: "module", name: experiment });
const tunnel = new TunnelClient(worker, (event) => {
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
    stored ?? fetchConfig(localStorage),
    history.take(view === "start"),
    accessKey !== null && isPairedWith(localStorage, accessKey).then((isPaired) => !isPaired),
    sites.load().catch(() => {}),
  ]);
  const registry = new SlotRegistry(localStorage);
  const slots = await openSlots(registry, slotHost, () => tab);
  const { places, attach } = await openPlaces(slots);
  const spares = slots === null ? null : new SpareSchedule(slots, () => tab.state.phase === "loading");
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
    forgetHistory: (isOf) => forgetIn([frame.history, history], chrome, isOf),
    draw: () => {
      chrome.render({ ...app.state, ...tab.state });
      chrome.sheets.loaded?.phone.count(tab.state);
      spares?.plan();
      if (tab.state.phase !== "loading") history.lasts();
    },
  });
  const frame = new PageFrame(createPageFrame(document), places, (entries) => history.save(entries));
  const tab = new Tab({ id: FIRST_TAB, app, frame, onCommit: () => chrome.focusPage(), openOtherApp });
  const chrome = mount(document.getElementById("app") as HTMLElement, tunnel, app, tab);
  attach({ frame, tab, chrome, app });
  const isResumed = places !== null && token !== null && address === null && !isNewKey;
  keepHistory(history, tab, frame, isResumed ? before : []);
  app.draw();
  warmSheets(chrome, tab);
  if (stored !== null) refreshConfig(tab, CONFIG_REFRESH_DELAY);

  hearPages(slots, frame, tab, chrome, app);
  hear = (event) => app.onTunnelEvent(event);
  for (const event of earlyEvents) hear(event);
  watchNetwork(tunnel);
  window.addEventListener("online", () => app.ensurePaired());

  if (address === null) frame.showStart();
  chrome.frameHost.append(frame.element);
  await spares?.start();
  if (accessKey !== null && isNewKey) await app.pair(accessKey);
  // On a slow link the page's frame would take bytes from the link's own handshake (see SlotFrames).
  if (address !== null) tab.go(address, { begun, waitsForLink: linkMemory.isSlow }, LAUNCHER);
  if (view === "settings") chrome.openSettings();
  heedLaunches(app, tab, chrome);
  await startOwnWorker(localStorage, places === null || places instanceof SlotPlaces, introduce);
}

/** The app may be opened for something while it is open. */
function heedLaunches(app: App, tab: Tab, chrome: Chrome): void {
  const [start] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  hearLaunches(
    window.launchQueue,
    { own: launchUrl, isReload: start?.type === "reload" },
    ({ accessKey, address, view }) => {
      if (accessKey !== null) void app.pair(accessKey);
      if (address !== null) tab.go(address, {}, LAUNCHER);
      else if (view === "start") tab.home();
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

/** @returns null where there is one host only. @param tabOf is asked when there is one. */
async function openSlots(
  registry: SlotRegistry,
  slotHost: string | null,
  tabOf: () => Tab,
): Promise<SlotFrames | null> {
  const hosts = await slotHosts(registry, slotHost, tabOf);
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
    onNoHost: (origin) => tabOf().onNoHost(origin),
  });
}

/** A list comes with the page, whose policy names the same hosts (`worker/front/hosts.ts`). */
async function slotHosts(registry: SlotRegistry, slotHost: string | null, tabOf: () => Tab): Promise<SlotHosts | null> {
  const list = document.querySelector<HTMLMetaElement>('meta[name="ropeway-slots"]')?.content ?? "";
  if (list === "") return slotHost === null ? null : wildcardHosts(location.protocol, slotHost);
  const { ListedHosts } = (await import(self.__LISTED)) as typeof import("../frames/listed-hosts.ts");
  const shown = () => tabOf().origins;
  const now = () => Date.now();
  return new ListedHosts({ origins: list.split(" "), registry, storage: localStorage, sessionStorage, shown, now });
}

function forgetIn(
  histories: readonly Pick<HistoryStore, "forget">[],
  chrome: Pick<Chrome, "sheets">,
  isOf: (url: string) => boolean,
): void {
  for (const history of histories) history.forget(isOf);
  if (localStorage.getItem(SITE_USE_KEY) !== null)
    void chrome.sheets.load().then((loaded) => loaded?.phone.forgetUse(isOf));
}

/** However the app ends, what was last is written. @param before what is opened again, if anything is. */
function keepHistory(history: HistoryStore, tab: Tab, frame: PageFrame, before: readonly KeptEntry[]): void {
  if (before.length > 0) {
    history.begin();
    tab.resume(before);
  }
  window.addEventListener("pagehide", () => history.close());
  window.addEventListener("pageshow", ({ persisted }) => persisted && void history.take());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "hidden") return;
    history.write();
    tunnel.tell({ type: "store", kind: "write-down" });
  });
  window.addEventListener("storage", ({ key }) => key === HISTORY_KEY && frame.history.forget(history.forgotten()));
}

/** Chromium tells what the person has done in the window that speaks. */
type PageMessage = MessageEvent<PageToShell | null> & { readonly userActivation?: Activation };

/** Whatever speaks for a slot is served; the page's own frame is the tab's business, too. */
function hearPages(slots: SlotFrames | null, frame: PageFrame, tab: Tab, chrome: Chrome, app: App): void {
  // The app has no forms: this is the way back to what a page's form has led to.
  document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
    if (effectiveDirective === "form-action") app.notify({ kind: "no-way-back" });
  });
  if (slots === null) return;
  const onKey = (press: KeyPress) => {
    // A page says what it likes, but has the keys only while it has the focus.
    if (document.activeElement === frame.element && typeof press?.key === "string") chrome.press(press);
  };
  const services = new SlotServices(slots, tunnel, onKey, (url, slot) => tab.mayShowEntry(url, slot));
  window.addEventListener("message", ({ data, origin, source, userActivation }: PageMessage) => {
    if (data?.tag !== MESSAGE_TAG || source === null) return;
    if (isOfWiping(data)) return slots.onWipe(data, origin, source as Window);
    const slot = slots.slotOf(origin);
    const coming = slots.comingTo(origin);
    if (slot !== null && coming === null) services.onMessage(data, slot, source as Window);
    const page = frame.element.contentWindow;
    const frames = { source: source as Window, page };
    if (page !== null && isOfFrames(data, source === page)) {
      const said = services.forPage(data, slot, frames, userActivation);
      if (said !== null) tab.onPageMessage(said, slot, page);
    } else if ((coming ?? slot) !== null || origin === location.origin)
      tab.onPageMessage(data, coming ?? slot, source as Window);
    // The host that the history has led to is nobody's now.
    else if (data.type === "port-wanted" && data.backTo !== undefined && frame.isOf(source as Window))
      tab.mayShowEntry(data.backTo, null);
    else slots.onUnassignedFrame(data.type, source as Window);
  });
}

/** A page speaks for frames without a script. */
function isOfFrames(message: PageToShell, isPages: boolean): message is OfFrame {
  if (message.type === "trouble") return true;
  return message.type === "navigate" && (!isPages || message.leads !== undefined);
}

function isOfWiping(message: PageToShell): message is WipeMessage {
  return message.type === "wipe-wanted" || message.type === "wiped";
}

/** The sheets load soon where the app's worker has them; else no page should have to share the link with them. */
function warmSheets(chrome: Chrome, tab: Tab): void {
  setTimeout(() => {
    const isFetched = !("serviceWorker" in navigator) || navigator.serviceWorker.controller === null;
    if (isFetched && tab.state.phase === "loading") warmSheets(chrome, tab);
    else void chrome.sheets.load();
  }, QUIET_TIME);
}

/** For the next start. */
function refreshConfig(tab: Tab, delay: number): void {
  setTimeout(() => {
    if (tab.state.phase === "loading") refreshConfig(tab, QUIET_TIME);
    else void fetchConfig(localStorage).catch(() => {});
  }, delay);
}

/** A tap in the page is one in the shell, too (HTML section 6.4.2). No page opens other apps by itself. */
function openOtherApp(url: string): boolean {
  const isAsked = navigator.userActivation.isActive;
  if (isAsked) location.href = url;
  return isAsked;
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
  tunnel.tell({ type: "link", kind: "start", url, token: deviceToken, lastOpening: linkMemory.lastOpening });
}

/** @returns the id of the navigation that the app was opened for, or null. */
function beginNavigation(): number | null {
  const input = launch.address?.trim() ?? "";
  const address = parseAddress(input, settings.current.searchUrl);
  if (input === "" || address.kind === "unsupported") return null;
  return tunnel.navigate(FIRST_TAB, withoutFragment(typedNavigation(address.url, LAUNCHER)), false);
}
