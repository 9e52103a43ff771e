/** Forgets one site, when its pages have closed in all windows: what they say then does not bring it back. */
import { siteName } from "../../messages/site-name.ts";
import type { WindowChannel } from "../frames/other-windows.ts";
import type { TunnelClient } from "../link/tunnel-client.ts";

export interface SiteForgettingOptions {
  readonly tunnel: Pick<TunnelClient, "askStore">;
  /** To the other windows. */
  readonly channel: WindowChannel;
  /** Closes such pages in this window, and forgets what it knows of them. */
  readonly forgetHere: (isOf: (url: string) => boolean) => void;
  /** @param why something is still there, or "". */
  readonly onDone: (why: string) => void;
}

/** Milliseconds that a page has to say what it does when it is left. */
const GOODBYE_TIME = 300;

const NOT_NOW = "Cannot forget a site now: try again when the link is back";

export class SiteForgetting {
  readonly #options: SiteForgettingOptions;

  constructor(options: SiteForgettingOptions) {
    this.#options = options;
    options.channel.onmessage = ({ data }: MessageEvent<string>) => this.#forgetHere(data);
  }

  /** @param site as `siteName` of its pages. */
  forget(site: string): void {
    const { channel, tunnel, onDone } = this.#options;
    channel.postMessage(site);
    this.#forgetHere(site);
    setTimeout(
      () => void tunnel.askStore<string>({ kind: "forget", site }).then((why) => onDone(why ?? NOT_NOW)),
      GOODBYE_TIME,
    );
  }

  #forgetHere(site: string): void {
    this.#options.forgetHere((url) => siteName(url) === site);
  }
}
