/**
 * The hosts of a list (ROPEWAY_SLOT_HOSTS), and when each was last used. A host counts as clean only if this app has
 * wiped it since. A host of which nothing is known may have anything. Windows share what is stored; whether another
 * window has a host open, its service worker tells (`wipe.ts`).
 */
import { later } from "../../../shared/errors.ts";
import type { KeyValueStorage } from "../app/settings.ts";
import type { Notice } from "../app/state.ts";
import type { Slot } from "./places.ts";
import { chooseHost, type HostWish, type ListedHost, type SlotHosts } from "./slot-hosts.ts";
import type { SlotRegistry } from "./slot-registry.ts";

const USES_KEY = "ropeway.slot-uses";
/** In `sessionStorage`, as what it is about. */
const SHOWN_KEY = "ropeway.shown-slots";

/** Milliseconds for which a host that was open is left alone. */
const REFUSAL_TIME = 30_000;

export interface ListedHostsOptions {
  readonly origins: readonly string[];
  readonly registry: Pick<SlotRegistry, "byLabel">;
  readonly storage: KeyValueStorage;
  /** Storage of this window alone. */
  readonly sessionStorage: KeyValueStorage;
  /** Top-level origins that this window shows, or is on its way to. */
  readonly shown: () => readonly string[];
  /** Addresses of all tabs of this window, with frames or without. */
  readonly tabs: () => readonly string[];
  /** Tells the person of the site of a tab. @param why has `{site}` in its place. */
  readonly tell: (site: string, why: string) => void;
  readonly now: () => number;
}

/** The tabs of a window, as far as they count here. */
interface WindowTabs {
  readonly all: readonly { readonly tab: { readonly origins: readonly string[] } }[];
  readonly state: { readonly tabs: readonly { readonly url: string }[] };
}

const SOON = later("When one more site opens, {site}, in a tab behind, loses what it has stored on this phone");
const NOW = later("Another site needs the room: {site}, in a tab behind, loses what it has stored on this phone");

export class ListedHosts implements SlotHosts {
  readonly spares = 1;
  readonly areUsedAgain = true;
  readonly #options: ListedHostsOptions;
  readonly #scheme: string;
  readonly #labels: readonly string[];
  readonly #refusedUntil = new Map<string, number>();
  readonly #moved = new Set<string>();
  /** By label: of whom the person was told that they lose the host, and how. */
  readonly #told = new Map<string, string>();

  constructor(options: ListedHostsOptions) {
    this.#options = options;
    this.#scheme = `${options.origins[0]?.split("//")[0]}//`;
    this.#labels = options.origins.map((origin) => origin.slice(this.#scheme.length));
  }

  originOf(label: string): string {
    return this.#scheme + label;
  }

  labelOf(origin: string): string | null {
    const label = origin.slice(this.#scheme.length);
    return this.originOf(label) === origin && this.#labels.includes(label) ? label : null;
  }

  take(wish: HostWish, isFree: (label: string) => boolean): string | null {
    const hosts = this.#hosts();
    const open = hosts.filter((host) => this.#isOpen(host, hosts));
    // However long the page has been there since it was opened.
    this.#note(open.map(({ label }) => label));
    const now = this.#options.now();
    const mayBeTaken = (host: ListedHost) =>
      !open.includes(host) && isFree(host.label) && (this.#refusedUntil.get(host.label) ?? 0) <= now;
    const tabs = this.#options.tabs().map((url) => URL.parse(url)?.origin);
    const isOfTab = ({ owner }: ListedHost) => owner !== null && tabs.includes(owner.topLevelOrigin);
    const chosen = chooseHost(hosts, wish, (host) => mayBeTaken(host) && !isOfTab(host));
    if (chosen !== null) return chosen.label;
    const ofTab = chooseHost(hosts, wish, mayBeTaken);
    if (ofTab === null) return null;
    this.#tell(ofTab, wish.isSpare ? SOON : NOW);
    return wish.isSpare ? null : ofTab.label;
  }

  /** Once of each loss, and after all that hangs on the host that is asked for. */
  #tell({ label, owner }: ListedHost, why: string): void {
    const loss = `${owner?.topLevelOrigin} ${why}`;
    if (owner === null || this.#told.get(label) === loss) return;
    this.#told.set(label, loss);
    queueMicrotask(() => this.#options.tell(owner.topLevelOrigin, why));
  }

  hasRoomFor(wish: HostWish): boolean {
    return chooseHost(this.#hosts(), wish, ({ owner }) => owner === null || owner.topLevel) !== null;
  }

  use({ label }: Slot): void {
    this.#note([label]);
  }

  isNewHere(slot: Slot): boolean {
    return this.#shown()[slot.label] !== nameOf(slot);
  }

  show(slot: Slot): void {
    const shown = this.#shown();
    const former = shown[slot.label];
    if (former === nameOf(slot)) return;
    if (former !== undefined) this.#moved.add(slot.label);
    this.#options.sessionStorage.setItem(SHOWN_KEY, JSON.stringify({ ...shown, [slot.label]: nameOf(slot) }));
  }

  hasMoved(label: string): boolean {
    return this.#moved.has(label);
  }

  refuse(label: string, isKept: boolean): void {
    this.#note([label]);
    this.#refusedUntil.set(label, isKept ? Number.POSITIVE_INFINITY : this.#options.now() + REFUSAL_TIME);
  }

  #hosts(): readonly ListedHost[] {
    const uses = readRecord<number>(this.#options.storage, USES_KEY);
    return this.#labels.map((label) => ({
      label,
      owner: this.#options.registry.byLabel(label),
      usedAt: uses[label] ?? 0,
    }));
  }

  /** In this window: of a page shown, a frame in it, or a frame in one of those that is apart from it. */
  #isOpen({ owner }: ListedHost, hosts: readonly ListedHost[]): boolean {
    if (owner === null) return false;
    const shown = this.#options.shown();
    if (shown.includes(owner.topLevelOrigin)) return true;
    const isUnder = (top: string) =>
      hosts.some(({ owner: other }) => other?.origin === top && shown.includes(other.topLevelOrigin));
    return !owner.topLevel && isUnder(owner.topLevelOrigin);
  }

  #note(labels: readonly string[]): void {
    const uses = readRecord<number>(this.#options.storage, USES_KEY);
    const now = this.#options.now();
    for (const label of labels) uses[label] = now;
    const known = Object.entries(uses).filter(([label]) => this.#labels.includes(label));
    try {
      this.#options.storage.setItem(USES_KEY, JSON.stringify(Object.fromEntries(known)));
    } catch {
      // Full: the order is what it was.
    }
  }

  #shown(): Readonly<Record<string, string>> {
    return readRecord<string>(this.#options.sessionStorage, SHOWN_KEY);
  }
}

/** The hosts of this window. @param getWhole who is there by the time that there are pages. */
export function openListedHosts(
  origins: readonly string[],
  registry: ListedHostsOptions["registry"],
  getWhole: () => { readonly tabs: WindowTabs; readonly app: { notify(notice: Notice): void } },
): ListedHosts {
  return new ListedHosts({
    origins,
    registry,
    storage: localStorage,
    sessionStorage,
    shown: () => getWhole().tabs.all.flatMap(({ tab }) => tab.origins),
    tabs: () => getWhole().tabs.state.tabs.map(({ url }) => url),
    tell: (url, why) => getWhole().app.notify({ kind: "host", url, why }),
    now: () => Date.now(),
  });
}

function nameOf({ origin, topLevelOrigin }: Slot): string {
  return `${topLevelOrigin} ${origin}`;
}

function readRecord<Value>(storage: KeyValueStorage, key: string): Record<string, Value> {
  try {
    const record: unknown = JSON.parse(storage.getItem(key) ?? "{}");
    return typeof record === "object" && record !== null ? (record as Record<string, Value>) : {};
  } catch {
    return {};
  }
}
