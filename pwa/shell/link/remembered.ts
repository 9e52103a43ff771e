/** Notes of the app for its next start: of the edge, the link, the browser, and sites without scripts. */

import type { AcceptTable } from "../../../shared/http/phone-fields.ts";
import { CONFIG_PATH, type EdgeConfig } from "../../../shared/subprotocol.ts";
import { siteName } from "../../messages/tunnel-messages.ts";
import type { KeyValueStorage } from "../app/settings.ts";

const CONFIG_KEY = "ropeway.config";

/** The edge's word about itself: with it the app opens without a network. */
export function storedConfig(storage: KeyValueStorage): (EdgeConfig & { readonly hop?: string | undefined }) | null {
  return JSON.parse(storage.getItem(CONFIG_KEY) ?? "null");
}

/** @throws Error where the edge is not reached, or answers with an error. */
export async function fetchConfig(storage: KeyValueStorage): Promise<EdgeConfig> {
  const response = await fetch(CONFIG_PATH);
  if (!response.ok) throw new Error(`Config: ${response.status}`);
  const config = (await response.json()) as EdgeConfig;
  // How the edge's host speaks: the ALPN name (RFC 7301) of the connection.
  const timing = performance.getEntriesByName(response.url).at(-1) as PerformanceResourceTiming | undefined;
  storage.setItem(CONFIG_KEY, JSON.stringify({ ...config, hop: timing?.nextHopProtocol }));
  return config;
}

const OPENING_KEY = "ropeway.link-opening";

/** Milliseconds: above it bytes are scarce, not only far away. A satellite link takes 2.4 s, GPRS 7. */
const SLOW = 4_000;
/** Nothing that lasts longer says anything of the network. */
const LONGEST = 60_000;

/** How long the link took to open at the last start: what a start may know of the network before it has heard of it. */
export class LinkMemory {
  /** Milliseconds from the wish to the open link, or null. */
  readonly lastOpening: number | null;
  readonly #storage: KeyValueStorage;
  #isNoted = false;

  constructor(storage: KeyValueStorage) {
    this.#storage = storage;
    const text = storage.getItem(OPENING_KEY);
    const time = Number(text);
    this.lastOpening = text !== null && time > 0 && time <= LONGEST ? time : null;
  }

  get isSlow(): boolean {
    return (this.lastOpening ?? 0) > SLOW;
  }

  /** The link is open; only the first time of a sitting counts, as later ones may have waited for a network. */
  opened(time: number): void {
    if (this.#isNoted) return;
    this.#isNoted = true;
    this.#storage.setItem(OPENING_KEY, String(Math.round(time)));
  }
}

/**
 * Whether the first frames may go by a fetch: the edge's host then spoke HTTP/2 or 3, and the link had bytes for two
 * handshakes.
 */
export function mayFly(storage: KeyValueStorage): boolean {
  const { takesLinksOnce = false, hop } = storedConfig(storage) ?? {};
  return takesLinksOnce && /^h[23]/.test(`${hop}`) && !new LinkMemory(storage).isSlow;
}

const ACCEPT_KEY = "ropeway.accept";

/** @returns null where it has to be found out. */
export function storedAccept(
  storage: KeyValueStorage,
  { userAgent }: Pick<NavigatorID, "userAgent"> = navigator,
): AcceptTable | null {
  const [of, accept] = JSON.parse(storage.getItem(ACCEPT_KEY) ?? "[]") as [string?, AcceptTable?];
  return of === userAgent && accept ? accept : null;
}

/**
 * The `accept` that this browser sends for what elements load, so that the edge pushes just what pages will ask for. Only
 * its requests say so: the app's service worker is shown some, once for each version of the browser.
 */
export function storeAccept(
  storage: KeyValueStorage,
  accept: AcceptTable,
  { userAgent }: Pick<NavigatorID, "userAgent"> = navigator,
): void {
  storage.setItem(ACCEPT_KEY, JSON.stringify([userAgent, accept]));
}

const LITE_SITES_KEY = "ropeway.lite-sites";

/** Sites that run no scripts, by the person's choice. */
export function liteSites(storage: KeyValueStorage): readonly string[] {
  try {
    const sites: unknown = JSON.parse(storage.getItem(LITE_SITES_KEY) ?? "[]");
    return Array.isArray(sites) ? sites.filter((site) => typeof site === "string") : [];
  } catch {
    return [];
  }
}

/** Takes effect when the app is opened next. */
export function chooseScripts(storage: KeyValueStorage, url: string, isOn: boolean): void {
  const others = liteSites(storage).filter((site) => site !== siteName(url));
  const sites = isOn ? others : [...others, siteName(url)];
  if (sites.length === 0) storage.removeItem(LITE_SITES_KEY);
  else storage.setItem(LITE_SITES_KEY, JSON.stringify(sites));
}
