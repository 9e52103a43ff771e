import type { SlotBinding } from "../../messages/port-messages.ts";
import {
  type DownloadQuestion,
  EXPERIMENT_KEY,
  type NavigationRequest,
  type ShellToTunnel,
  type StoreAnswers,
  type StoreQuestion,
  type TunnelQuestion,
  type TunnelSettings,
  type TunnelStats,
  type TunnelToShell,
} from "../../messages/tunnel-messages.ts";
import { savesData } from "../app/settings.ts";
import type { Settings } from "../app/state.ts";

export type TunnelEvent = Exclude<TunnelToShell, { type: "answer" }>;

/** Messages that want an answer, or carry more than a message: the methods below send these. */
type Question = { readonly type: "ask" | "bind" } | { readonly type: "navigation"; readonly kind: "begin" };

declare global {
  interface Window {
    /** Path of the tunnel's script; the build puts it here. */
    readonly __TUNNEL: string;
    /** The worker, where it was started early. It says nothing before it is told something. */
    ropewayWorker?: Worker;
    /** The first frames go by a fetch, for which the connection is being made. */
    ropewayFlies?: boolean;
  }
}

/** @returns the one that was started early, if any, else a new one. */
export function tunnelWorker(): Worker {
  const name = localStorage.getItem(EXPERIMENT_KEY) ?? "";
  return self.ropewayWorker ?? new Worker(self.__TUNNEL, { type: "module", name });
}

/** The shell's handle on its tunnel worker. */
export class TunnelClient {
  readonly #worker: Worker;
  readonly #answers = new Map<number, (value: unknown) => void>();
  #nextId = 1;

  constructor(worker: Worker, onEvent: (event: TunnelEvent) => void) {
    this.#worker = worker;
    worker.onmessage = (event: MessageEvent<TunnelToShell>) => {
      const message = event.data;
      if (message.type !== "answer") return onEvent(message);
      this.#answers.get(message.id)?.(message.value);
      this.#answers.delete(message.id);
    };
  }

  tell(message: Exclude<ShellToTunnel, Question>): void {
    this.#worker.postMessage(message);
  }

  /** The tunnel is to work so from now on; the rest stays. */
  set(settings: Partial<TunnelSettings>): void {
    this.tell({ type: "settings", settings });
  }

  tellSettings(settings: Settings): void {
    const { waitTime, takesPushes, storeBytes, pictures, pageBudget, pixelReaders } = settings;
    const recoding = pictures === "off" ? "none" : pictures;
    const budget = pictures === "none" ? 0 : pageBudget;
    this.set({
      waitTime,
      takesPushes,
      storeBytes,
      pictures: { recoding, budget, readers: pixelReaders },
      trackers: { areBlocked: settings.blocksTrackers, exceptions: settings.trackerExceptions },
      savesData: savesData(settings),
    });
  }

  /** @returns the end of the port that goes to the slot's service worker. */
  bind(binding: SlotBinding): MessagePort {
    const { port1, port2 } = new MessageChannel();
    const message: ShellToTunnel = { type: "bind", binding };
    this.#worker.postMessage(message, [port1]);
    return port2;
  }

  /**
   * @param keepsPage as of the message.
   * @returns the id under which the tunnel reports on this navigation.
   */
  navigate(tab: number, request: NavigationRequest, keepsPage: boolean): number {
    const id = this.#nextId++;
    const message: ShellToTunnel = { type: "navigation", kind: "begin", tab, id, request, keepsPage };
    this.#worker.postMessage(message);
    return id;
  }

  stats(): Promise<TunnelStats> {
    return this.#ask({ kind: "stats" });
  }

  /** @returns a data: URL, or null. */
  icon(url: string, topLevelOrigin: string): Promise<string | null> {
    return this.#ask({ kind: "icon", url, topLevelOrigin });
  }

  /** @returns null when edge and phone have forgotten all, or why something is still there. */
  clearSiteData(): Promise<string | null> {
    return this.#ask({ kind: "site-data" });
  }

  /** The person has answered a "sign-in". */
  signIn(origin: string, name: string, password: string): Promise<void> {
    return this.#ask({ kind: "sign-in", origin, name, password });
  }

  /** @returns as of `StoreAnswers`. */
  askStore<Kind extends keyof StoreAnswers>(
    question: Extract<StoreQuestion | DownloadQuestion, { readonly kind: Kind }>,
  ): Promise<StoreAnswers[Kind] | null> {
    return this.#ask(question);
  }

  /** @typeParam Answer as the tunnel worker answers the question. */
  #ask<Answer>(question: TunnelQuestion): Promise<Answer> {
    const message: ShellToTunnel = { type: "ask", id: this.#nextId++, question };
    return new Promise((resolve) => {
      this.#answers.set(message.id, (value) => resolve(value as Answer));
      this.#worker.postMessage(message);
    });
  }
}

/** Network Information API; not in all browsers. */
interface NetworkInformation extends EventTarget {
  readonly type?: string;
}

/** News of the network from the browser, told to the tunnel, which makes sure of its link. */
export function watchNetwork(tunnel: Pick<TunnelClient, "tell" | "set">): void {
  window.addEventListener("online", () => tunnel.set({ isOnline: true }));
  window.addEventListener("offline", () => tunnel.set({ isOnline: false }));
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") tunnel.tell({ type: "link", kind: "hint", hint: "visible" });
  });
  // A page that comes out of the back/forward cache, or that was frozen.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) tunnel.tell({ type: "link", kind: "hint", hint: "visible" });
  });
  document.addEventListener("resume", () => tunnel.tell({ type: "link", kind: "hint", hint: "visible" }));
  const { connection } = navigator as Navigator & { readonly connection?: NetworkInformation };
  let type = connection?.type;
  connection?.addEventListener("change", () => {
    // The event also comes with each new estimate of the network's speed.
    if (connection.type === type) return;
    type = connection.type;
    tunnel.tell({ type: "link", kind: "hint", hint: "network" });
  });
}
