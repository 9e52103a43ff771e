/** Entry of the installed app's top-level page: starts the tunnel first, then everything else. */
import { ACCEPT_PATH, CONFIG_PATH, type EdgeConfig, RESERVED_PATH, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { MESSAGE_TAG, type PageToShell } from "../messages/page-messages.ts";
import type { TunnelStats } from "../messages/tunnel-messages.ts";
import { LAUNCHER, parseLaunch } from "./app/launch-link.ts";
import { SettingsStore } from "./app/settings-store.ts";
import { SiteStore } from "./app/site-store.ts";
import { TotalsStore } from "./app/totals-store.ts";
import { KeptSpares } from "./frames/kept-spares.ts";
import { OtherWindows } from "./frames/other-windows.ts";
import { SlotFrames } from "./frames/slot-frames.ts";
import { SlotRegistry } from "./frames/slot-registry.ts";
import { SlotServices } from "./frames/slot-services.ts";
import { LinkMemory } from "./link/link-memory.ts";
import { watchNetwork } from "./link/network-hints.ts";
import { type AcceptTold, storeAccept, storedAccept } from "./link/own-accept.ts";
import { isPairedWith, pair, storedToken } from "./link/pairing.ts";
import { TunnelClient } from "./link/tunnel-client.ts";
import { parseAddress } from "./tab/address-input.ts";
import { BrowserController, START_DOCUMENT } from "./tab/browser.ts";
import { typedNavigation, withoutFragment } from "./tab/navigation-request.ts";
import { mountChrome } from "./views/mount.tsx";

declare global {
  interface Window {
    /** For automation; stable, see docs/automation.md. */
    ropeway: { stats(): Promise<TunnelStats> };
  }
}

/** See `pwa/sw/shell/shell-cookies.ts` and `pwa/sw/shell/seen-accept.ts`. */
type ShellWorkerMessage = { readonly type: "expired-cookies"; readonly cookies: readonly string[] } | AcceptTold;

const CONFIG_KEY = "ropeway.config";
const WINDOWS_CHANNEL = "ropeway.windows";

const launch = parseLaunch(new URL(location.href));
history.replaceState(null, "", "/");

const settings = new SettingsStore(localStorage);
const linkMemory = new LinkMemory(localStorage);
let startedAt = 0;
let browser: BrowserController | null = null;
/** What the tunnel said before there was a browser to hear it. */
const earlyEvents: Parameters<BrowserController["onTunnelEvent"]>[0][] = [];
/** The edge could not be reached when the person gave this key. */
let unansweredKey: string | null = null;
const tunnel = new TunnelClient(new Worker(`${RESERVED_PATH}tunnel.js`, { type: "module" }), (event) => {
  if (event.type === "link" && event.link.kind === "open") linkMemory.opened(performance.now() - startedAt);
  if (browser === null) earlyEvents.push(event);
  else browser.onTunnelEvent(event);
});
window.ropeway = { stats: () => tunnel.stats() };
introduce();
tunnel.tellSettings(settings.current);
if (!navigator.onLine) tunnel.tell({ type: "network", online: false });
// Before the link, so that it rides in its handshake.
const begun = beginNavigation();
const token = storedToken(localStorage);
if (token !== null) startTunnel(token);

/** Milliseconds after a page has loaded before the link is used for what may be needed next. */
const QUIET_TIME = 1_000;
/** Milliseconds after the start; later while a page loads. */
const CONFIG_REFRESH_DELAY = 10_000;

void main();

async function main(): Promise<void> {
  const sites = new SiteStore();
  const stored = storedConfig();
  const [config] = await Promise.all([stored ?? fetchConfig(), sites.load().catch(() => {})]);
  const registry = new SlotRegistry(localStorage);
  window.addEventListener("storage", () => registry.restore());
  const otherWindows = new OtherWindows(new BroadcastChannel(WINDOWS_CHANNEL));
  window.addEventListener("pagehide", () => otherWindows.close());
  window.addEventListener("pageshow", ({ persisted }) => persisted && otherWindows.open());
  const frames =
    config.slotHost === null
      ? null
      : new SlotFrames({
          registry,
          keptSpares: new KeptSpares(localStorage, navigator.locks ?? null),
          document,
          scheme: location.protocol,
          slotHost: config.slotHost,
          bindPort: (slot) => tunnel.bind(slot),
          hasOtherWindows: () => otherWindows.areOpen,
        });
  const root = document.getElementById("app") as HTMLElement;
  const controller = new BrowserController({
    tunnel,
    frames,
    sites,
    settings,
    totals: new TotalsStore(localStorage),
    demoUrl: config.demoUrl,
    render: (state) => {
      chrome.render(state);
      prepareSpareWhenQuiet();
    },
    pair: pairWith,
    ensurePaired,
    forgetSlots: () => registry.clear(),
    onCommit: () => chrome.focusPage(),
    openOtherApp: (url) => {
      // A tap in the page is one in the shell, too (HTML section 6.4.2). No page opens other apps by itself.
      const isAsked = navigator.userActivation.isActive;
      if (isAsked) location.href = url;
      return isAsked;
    },
  });
  const chrome = mountChrome(root, controller);
  browser = controller;
  const services =
    frames === null
      ? null
      : new SlotServices(frames, tunnel, (press) => {
          // A page says what it likes, but has the keys only while it has the focus.
          if (document.activeElement === frames.page && typeof press?.key === "string") chrome.press(press);
        });

  let areSparesRestored = false;
  let isSparePlanned = false;
  /** A spare costs a connection and some bytes, which no page should have to share the link with. */
  function prepareSpareWhenQuiet(): void {
    if (!areSparesRestored || isSparePlanned || controller.state.phase === "loading") return;
    isSparePlanned = true;
    setTimeout(() => {
      isSparePlanned = false;
      if (controller.state.phase === "loading" || frames === null) return;
      if (!frames.prepareSpare()) prepareSpareWhenQuiet();
    }, QUIET_TIME);
  }

  /** For the next start. */
  function refreshConfig(delay: number): void {
    setTimeout(() => {
      if (controller.state.phase === "loading") refreshConfig(QUIET_TIME);
      else void fetchConfig().catch(() => {});
    }, delay);
  }
  if (stored !== null) refreshConfig(CONFIG_REFRESH_DELAY);

  if (storedToken(localStorage) !== null)
    controller.update({ link: { kind: "connecting", since: Date.now(), attempt: 1 } });
  chrome.render(controller.state);

  window.addEventListener("message", (event: MessageEvent<PageToShell | null>) => {
    if (event.data?.tag !== MESSAGE_TAG || event.source === null) return;
    const isStart = event.origin === location.origin;
    const slot = frames?.slotOf(event.origin) ?? null;
    const source = event.source as Window;
    if (slot === null && !isStart) return frames?.onUnassignedFrame(event.data.type, source);
    if (slot !== null) services?.onMessage(event.data, slot, source);
    controller.onPageMessage(event.data, slot, source);
  });
  for (const event of earlyEvents.splice(0)) controller.onTunnelEvent(event);
  watchNetwork(tunnel);
  window.addEventListener("online", ensurePaired);

  if (frames !== null) {
    if (launch.address === null) frames.page.src = START_DOCUMENT;
    chrome.frameHost.append(frames.page);
    frames.page.addEventListener("load", () => controller.onFrameLoad());
    await frames.restoreSpares();
    areSparesRestored = true;
    prepareSpareWhenQuiet();
  }
  if (launch.accessKey !== null && !(await isPairedWith(localStorage, launch.accessKey))) {
    await pairWith(launch.accessKey);
  }
  // On a slow link the page's frame would take bytes from the link's own handshake (see SlotFrames).
  if (launch.address !== null)
    controller.go(launch.address, { begun, waitsForLink: linkMemory.isSlow, initiator: LAUNCHER });
  if (launch.openSettings) chrome.openSettings();
  if (!("serviceWorker" in navigator)) return;
  navigator.serviceWorker.addEventListener("message", ({ data }: MessageEvent<ShellWorkerMessage>) => {
    if (data.type === "accept") {
      storeAccept(localStorage, data.accept);
      introduce();
    }
    // biome-ignore lint/suspicious/noDocumentCookie: Cookie Store adds a slash to paths.
    if (data.type === "expired-cookies") for (const cookie of data.cookies) document.cookie = cookie;
  });
  // Such cookies may have kept the browser from looking for a new version.
  const update = async () => (await navigator.serviceWorker.ready).update();
  navigator.serviceWorker.addEventListener("message", () => void update().catch(() => {}), { once: true });
  navigator.serviceWorker.startMessages();
  void navigator.serviceWorker.ready.then(({ active }) => active?.postMessage("opened"));
  // The cache may answer for a while after the last look, which would take its share of the link from a page.
  await navigator.serviceWorker.register("/sw.js", { scope: "/", updateViaCache: "all" }).catch(() => {});
  if (navigator.serviceWorker.controller !== null) showAccept();
  else navigator.serviceWorker.addEventListener("controllerchange", showAccept, { once: true });
}

/** Makes requests that the service worker answers by itself, and tells of. */
function showAccept(): void {
  if (storedAccept(localStorage) !== null) return;
  for (const destination of ["font", "image", "script", "style"]) {
    const link = document.createElement("link");
    // Each of its own, as WebKit preloads an address once.
    Object.assign(link, { rel: "preload", as: destination, href: `${ACCEPT_PATH}?${destination}` });
    // Fonts are always asked for so.
    if (destination === "font") link.crossOrigin = "anonymous";
    document.head.append(link);
  }
}

/** Before all is known, Chromium's is taken for granted where this is one. */
function introduce(): void {
  tunnel.tell({
    type: "introduce",
    userAgent: navigator.userAgent,
    acceptLanguage: navigator.languages.join(","),
    accept: storedAccept(localStorage) ?? ("userAgentData" in navigator ? {} : null),
  });
}

function ensurePaired(): void {
  const accessKey = unansweredKey;
  unansweredKey = null;
  if (accessKey !== null) void pairWith(accessKey);
}

async function pairWith(accessKey: string): Promise<void> {
  const result = await pair(localStorage, accessKey.trim());
  const paired = storedToken(localStorage);
  if (result === "paired" && paired !== null) return startTunnel(paired);
  if (result === "unreachable") unansweredKey = accessKey;
  if (paired !== null && browser?.state.link.kind !== "refused") {
    // The key that the phone has is as good as before.
    if (typeof result !== "string") browser?.update({ notice: { kind: "wrong-key", url: "", why: result.refused } });
    return;
  }
  browser?.update({
    link:
      typeof result === "string" ? { kind: "offline", since: Date.now() } : { kind: "refused", why: result.refused },
  });
  tunnel.tell({ type: "give-up" });
}

function startTunnel(deviceToken: string): void {
  const url = `${location.origin.replace(/^http/, "ws")}${TUNNEL_PATH}`;
  startedAt = performance.now();
  tunnel.tell({ type: "start", url, token: deviceToken, lastOpening: linkMemory.lastOpening });
}

/** @returns the id of the navigation that the app was opened for, or null. */
function beginNavigation(): number | null {
  const input = launch.address?.trim() ?? "";
  const address = parseAddress(input, settings.current.searchUrl);
  if (input === "" || address.kind === "unsupported") return null;
  return tunnel.navigate(withoutFragment(typedNavigation(address.url, LAUNCHER)));
}

/** What the edge last said about itself: with it the app opens without a network. */
function storedConfig(): EdgeConfig | null {
  const stored = localStorage.getItem(CONFIG_KEY);
  return stored === null ? null : (JSON.parse(stored) as EdgeConfig);
}

async function fetchConfig(): Promise<EdgeConfig> {
  const config = (await (await fetch(CONFIG_PATH)).json()) as EdgeConfig;
  localStorage.setItem(CONFIG_KEY, JSON.stringify(config));
  return config;
}
