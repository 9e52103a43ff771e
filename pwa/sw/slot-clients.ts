/**
 * What a slot's service worker asks of the slot's pages, which outlive it: a new port after it was restarted, and
 * signs of life while a long response streams, since a browser stops an idle worker after half a minute.
 */
import type { ScriptCookie } from "../../shared/http/heads.ts";
import { MESSAGE_TAG } from "../slot/page-messages.ts";
import type { WorkerToPage } from "../slot/worker-messages.ts";
import { TunnelPort } from "./tunnel-port.ts";

declare const self: ServiceWorkerGlobalScope;

/** A page that does not answer within this is gone, or has no page script. */
const ACKNOWLEDGE_TIMEOUT = 250;
/** The shell answers at once; a page that is still loading needs its script first. */
const PORT_TIMEOUT = 3_000;
/** Bodies that last longer than this need keep-alives. */
const LONG_BODY = 10_000;
/** Well below the 30 s of silence after which Chromium stops a service worker. */
const KEEP_ALIVE_INTERVAL = 15_000;

export class SlotClients {
  #port: TunnelPort | null = null;
  #waiting: ((port: TunnelPort) => void)[] = [];
  #acknowledged = new Map<number, () => void>();
  #nextId = 1;
  #busyTimer: ReturnType<typeof setTimeout> | null = null;
  #keepingAlive = false;

  get port(): TunnelPort | null {
    return this.#port;
  }

  takePort(port: MessagePort): void {
    const tunnelPort = new TunnelPort(port, (bodies) => this.#setBusy(bodies > 0));
    this.#port = tunnelPort;
    for (const resolve of this.#waiting.splice(0)) resolve(tunnelPort);
  }

  /** The port, asking the slot's pages for one if need be. Null when no page can get one. */
  async ensurePort(): Promise<TunnelPort | null> {
    const known = this.#port;
    if (known !== null && (await known.isAlive())) return known;
    if (this.#port === known) this.#port = null;
    const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
    if (this.#port !== null || pages.length === 0) return this.#port;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      setTimeout(() => resolve(this.#port), PORT_TIMEOUT);
      this.#tell(pages, { tag: MESSAGE_TAG, type: "port-wanted" });
    });
  }

  /** Shows cookies to the slot's pages, and waits until they have them: a script may read them next. */
  async showCookies(cookies: readonly ScriptCookie[]): Promise<void> {
    const pages = await self.clients.matchAll({ type: "window" });
    await Promise.all(
      pages.map((page) => {
        const id = this.#nextId++;
        return new Promise<void>((resolve) => {
          this.#acknowledged.set(id, resolve);
          setTimeout(resolve, ACKNOWLEDGE_TIMEOUT);
          this.#tell([page], { tag: MESSAGE_TAG, type: "cookies", id, cookies });
        }).then(() => this.#acknowledged.delete(id));
      }),
    );
  }

  acknowledge(id: number): void {
    this.#acknowledged.get(id)?.();
  }

  #setBusy(busy: boolean): void {
    if (busy === (this.#busyTimer !== null)) return;
    if (this.#busyTimer !== null) clearTimeout(this.#busyTimer);
    this.#busyTimer = null;
    if (busy) this.#busyTimer = setTimeout(() => this.#keepAlive(KEEP_ALIVE_INTERVAL), LONG_BODY);
    else if (this.#keepingAlive) this.#keepAlive(0);
  }

  #keepAlive(interval: number): void {
    this.#keepingAlive = interval > 0;
    void self.clients
      .matchAll({ type: "window", includeUncontrolled: true })
      .then((pages) => this.#tell(pages, { tag: MESSAGE_TAG, type: "keep-alive", interval }));
  }

  #tell(pages: readonly Client[], message: WorkerToPage): void {
    for (const page of pages) page.postMessage(message);
  }
}
