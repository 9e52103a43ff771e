/** Entry of the installed app's top-level page: starts the tunnel first, then everything else. */
import { CONFIG_PATH, type EdgeConfig, RESERVED_PATH, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { MESSAGE_TAG, type PageToShell } from "../slot/page-messages.ts";
import type { TunnelStats } from "../tunnel/tunnel-messages.ts";
import { BrowserController, START_DOCUMENT } from "./browser.ts";
import { parseLaunch } from "./launch-link.ts";
import { isPairedWith, pair, storedToken } from "./pairing.ts";
import { SettingsStore } from "./settings-store.ts";
import { SiteStore } from "./site-store.ts";
import { SlotFrames } from "./slot-frames.ts";
import { SlotRegistry } from "./slot-registry.ts";
import { TotalsStore } from "./totals-store.ts";
import { TunnelClient } from "./tunnel-client.ts";
import { mountChrome } from "./views/mount.tsx";

declare global {
  interface Window {
    /** For automation; stable, see README. */
    ropeway: { stats(): Promise<TunnelStats> };
  }
}

const CONFIG_KEY = "ropeway.config";

const launch = parseLaunch(new URL(location.href));
history.replaceState(null, "", "/");

let browser: BrowserController | null = null;
/** The edge could not be reached when the person gave this key. */
let unansweredKey: string | null = null;
const tunnel = new TunnelClient(new Worker(`${RESERVED_PATH}tunnel.js`, { type: "module" }), (event) =>
  browser?.onTunnelEvent(event),
);
window.ropeway = { stats: () => tunnel.stats() };
const token = storedToken(localStorage);
if (token !== null) startTunnel(token);

void main();

async function main(): Promise<void> {
  const sites = new SiteStore();
  const [config] = await Promise.all([loadConfig(), sites.load().catch(() => {})]);
  const registry = new SlotRegistry(localStorage);
  const frames =
    config.slotHost === null
      ? null
      : new SlotFrames({
          registry,
          document,
          scheme: location.protocol,
          slotHost: config.slotHost,
          bindPort: (slot) => tunnel.bind(slot),
        });
  const root = document.getElementById("app") as HTMLElement;
  const controller = new BrowserController({
    tunnel,
    frames,
    sites,
    settings: new SettingsStore(localStorage),
    totals: new TotalsStore(localStorage),
    demoUrl: config.demoUrl,
    render: (state) => chrome.render(state),
    pair: pairWith,
    ensurePaired: () => {
      const accessKey = unansweredKey;
      unansweredKey = null;
      if (accessKey !== null) void pairWith(accessKey);
    },
    forgetSlots: () => registry.clear(),
  });
  const chrome = mountChrome(root, controller);
  browser = controller;
  if (storedToken(localStorage) !== null)
    controller.update({ link: { kind: "connecting", since: Date.now(), attempt: 1 } });
  chrome.render(controller.state);

  window.addEventListener("message", (event: MessageEvent<PageToShell | null>) => {
    if (event.data?.tag !== MESSAGE_TAG || event.source === null) return;
    const isStart = event.origin === location.origin;
    const slot = frames?.slotOf(event.origin) ?? null;
    if (slot === null && !isStart) frames?.onUnassignedFrame(event.source as Window);
    else controller.onPageMessage(event.data, slot, event.source as Window);
  });
  window.addEventListener("online", () => tunnel.setOnline(true));
  window.addEventListener("offline", () => tunnel.setOnline(false));
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") tunnel.retry();
  });
  if (!navigator.onLine) tunnel.setOnline(false);

  if (frames !== null) {
    if (launch.address === null) frames.page.src = START_DOCUMENT;
    chrome.frameHost.append(frames.page);
    frames.prepareSpare();
  }
  if (launch.accessKey !== null && !(await isPairedWith(localStorage, launch.accessKey))) {
    await pairWith(launch.accessKey);
  }
  if (launch.address !== null) controller.go(launch.address);
  if (launch.openSettings) chrome.openSettings();
  if ("serviceWorker" in navigator) await navigator.serviceWorker.register("/sw.js", { scope: "/" }).catch(() => {});
}

async function pairWith(accessKey: string): Promise<void> {
  const result = await pair(localStorage, accessKey.trim());
  const paired = storedToken(localStorage);
  if (result === "paired" && paired !== null) return startTunnel(paired);
  if (result === "unreachable") unansweredKey = accessKey;
  browser?.update({ link: result === "refused" ? { kind: "refused" } : { kind: "offline", since: Date.now() } });
  tunnel.giveUp();
}

function startTunnel(deviceToken: string): void {
  const url = `${location.origin.replace(/^http/, "ws")}${TUNNEL_PATH}`;
  tunnel.start(url, deviceToken, navigator.userAgent, navigator.languages.join(","));
}

/** What the edge last said about itself, refreshed in the background, so that the app opens without a network. */
async function loadConfig(): Promise<EdgeConfig> {
  const stored = localStorage.getItem(CONFIG_KEY);
  const fresh = fetch(CONFIG_PATH).then(async (response) => {
    const config = (await response.json()) as EdgeConfig;
    localStorage.setItem(CONFIG_KEY, JSON.stringify(config));
    return config;
  });
  if (stored === null) return fresh;
  fresh.catch(() => {});
  return JSON.parse(stored) as EdgeConfig;
}
