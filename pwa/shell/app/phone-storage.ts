/** What pages have left on this phone, as the person sees it, and the browser's word to keep it. */
import type { StoredSite, TunnelStats } from "../../messages/tunnel-messages.ts";
import type { TunnelClient } from "../link/tunnel-client.ts";

/** What pages have left on this phone. */
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
      tunnel.askStore<readonly StoredSite[]>({ kind: "sites" }),
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
