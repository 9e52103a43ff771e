/** The shell's handle on its tunnel worker. */
import type { AcceptTable } from "../../../shared/web/default-accept.ts";
import type { LinkHint } from "../../messages/link.ts";
import type {
  FrameStart,
  NavigationRequest,
  ShellToTunnel,
  SlotBinding,
  TunnelStats,
  TunnelToShell,
} from "../../messages/tunnel-messages.ts";

export class TunnelClient {
  #worker: Worker;
  #answers = new Map<number, (value: unknown) => void>();
  #nextId = 1;

  constructor(worker: Worker, onEvent: (event: Exclude<TunnelToShell, { type: "answer" }>) => void) {
    this.#worker = worker;
    worker.onmessage = (event: MessageEvent<TunnelToShell>) => {
      const message = event.data;
      if (message.type !== "answer") return onEvent(message);
      this.#answers.get(message.id)?.(message.value);
      this.#answers.delete(message.id);
    };
  }

  /** What sessions say of this phone. Before anything else, and when more is known. */
  introduce(userAgent: string, acceptLanguage: string, accept: AcceptTable | null): void {
    this.#post({ type: "introduce", userAgent, acceptLanguage, accept });
  }

  /**
   * Opens the link. Navigations that were begun before ride in its handshake.
   *
   * @param lastOpening milliseconds that it took at the last start, or null.
   */
  start(url: string, token: string, lastOpening: number | null): void {
    this.#post({ type: "start", url, token, lastOpening });
  }

  /** @returns the end of the port that goes to the slot's service worker. */
  bind(binding: SlotBinding): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#post({ type: "bind", binding }, [port1]);
    return port2;
  }

  /** @param url real, without a fragment. */
  startFrame({ origin, topLevelOrigin, topLevel }: SlotBinding, url: string, start: FrameStart): void {
    this.#post({ type: "frame-starts", binding: { origin, topLevelOrigin, topLevel }, url, start });
  }

  /** @returns the id under which the tunnel reports on this navigation. */
  navigate(request: NavigationRequest): number {
    const id = this.#nextId++;
    this.#post({ type: "navigate", id, request });
    return id;
  }

  abandon(id: number): void {
    this.#post({ type: "abandon", id });
  }

  setOnline(online: boolean): void {
    this.#post({ type: "network", online });
  }

  beginPage(): void {
    this.#post({ type: "page-begins" });
  }

  /** Whatever waits for the edge fails now. */
  giveUp(): void {
    this.#post({ type: "give-up" });
  }

  hint(hint: LinkHint): void {
    this.#post({ type: "hint", hint });
  }

  takePushes(isOn: boolean): void {
    this.#post({ type: "take-pushes", isOn });
  }

  /** @param waitTime milliseconds that requests wait while there is no link. */
  setWaitTime(waitTime: number): void {
    this.#post({ type: "wait-time", waitTime });
  }

  /** @param count null for as many as pay. */
  fixChannels(count: number | null): void {
    this.#post({ type: "channels", count });
  }

  stats(): Promise<TunnelStats> {
    return this.#ask((id) => ({ type: "stats", id })) as Promise<TunnelStats>;
  }

  /** @returns a data: URL, or null. */
  icon(url: string, topLevelOrigin: string): Promise<string | null> {
    return this.#ask((id) => ({ type: "icon", id, url, topLevelOrigin })) as Promise<string | null>;
  }

  /** @returns true when the edge has forgotten all cookies. */
  async clearSiteData(): Promise<boolean> {
    return (await this.#ask((id) => ({ type: "clear-site-data", id }))) === true;
  }

  #ask(message: (id: number) => ShellToTunnel): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.#post(message(id));
    });
  }

  #post(message: ShellToTunnel, transfer: Transferable[] = []): void {
    this.#worker.postMessage(message, transfer);
  }
}
