/**
 * Forgets one site, when its pages have closed in all windows: what they say then does not bring it back. No window asks
 * for a page of it again before that is done.
 */
import { siteName } from "../../messages/site-name.ts";
import type { WindowChannel } from "../frames/other-windows.ts";
import type { TunnelClient } from "../link/tunnel-client.ts";

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

const NOT_NOW = "Cannot forget a site now: try again when the link is back";

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
    const why = await tunnel.askStore<string>({ kind: "forget", site });
    this.#tellOver(site);
    onDone(why ?? NOT_NOW);
  }

  /** Another window has the lock, and gives it up when it is done or gone. */
  #follow(site: string): void {
    this.#forgetHere(site);
    const over = () => this.#tellOver(site);
    void (this.#options.locks?.request(LOCK + site, { mode: "shared" }, over) ?? over());
  }

  #forgetHere(site: string): void {
    const { tunnel, forgetHere } = this.#options;
    tunnel.tell({ type: "forget", site, isOver: false });
    forgetHere((url) => siteName(url) === site);
  }

  #tellOver(site: string): void {
    this.#options.tunnel.tell({ type: "forget", site, isOver: true });
  }
}
