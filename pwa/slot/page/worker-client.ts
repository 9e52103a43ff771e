/** The page's end of its conversation with the slot's service worker: cookies, port, keep-alive. */

import type { ScriptCookie } from "../../../shared/http/heads.ts";
import { ScriptCookies } from "../../../shared/web/cookie.ts";
import { MESSAGE_TAG } from "../../messages/page-messages.ts";
import type { PageSocketRequest } from "../../messages/socket-messages.ts";
import { isTagged, type PageToWorker, type WorkerToPage } from "../../messages/worker-messages.ts";
import { withRealDomain } from "../cookies/cookie-domain.ts";
import { TakenCookies } from "../cookies/taken-cookies.ts";
import { connectionOf } from "./identity.ts";
import type { PageContext } from "./page-context.ts";
import { patchAccessor } from "./patch.ts";
import { Pictures } from "./pictures/pictures.ts";

const tag = MESSAGE_TAG;

/** Milliseconds after which the service worker is taken not to answer. */
const TAKEN_TIMEOUT = 1_000;

export class WorkerClient {
  readonly cookies = new TakenCookies();
  /** By number: who wants to be told how many bytes are sent, of how many. */
  readonly uploads = new Map<number, (loaded: number, total: number) => void>();
  readonly #context: PageContext;
  readonly #container: ServiceWorkerContainer;
  readonly #cookies = new ScriptCookies(Date.now);
  /** Who asked for a port last; a restarted service worker may not be the controller's latest. */
  #asker: MessageEventSource | null = null;
  #pictures: Pictures | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(context: PageContext, container: ServiceWorkerContainer) {
    this.#context = context;
    this.#container = container;
    this.#cookies.apply(context.config.cookies);
    container.addEventListener("message", (event) => this.#receive(event));
    container.startMessages();
  }

  #post(message: PageToWorker, to: MessageEventSource | null, transfer: Transferable[] = []): void {
    (to ?? this.#container.controller)?.postMessage(message, { transfer });
  }

  #receive(event: MessageEvent<unknown>): void {
    if (!isTagged(event.data)) return;
    const message = event.data as WorkerToPage;
    switch (message.type) {
      case "cookies":
        this.#cookies.apply(message.cookies);
        this.#post({ tag, type: "cookies-applied", id: message.id }, event.source);
        break;
      case "cookie-taken":
        this.cookies.taken(message.number);
        break;
      case "upload":
        this.uploads.get(message.number)?.(message.loaded, message.total);
        break;
      case "picture":
        this.#pictures ??= new Pictures();
        this.#pictures.add(message.url, message);
        break;
      case "saves-data":
        if (this.#context.savesData === message.isOn) break;
        this.#context.savesData = message.isOn;
        connectionOf(window)?.dispatchEvent(new Event("change"));
        break;
      case "port-wanted":
        this.#asker = event.source;
        this.#context.toShell({ tag, type: "port-wanted" });
        break;
      case "keep-alive":
        clearInterval(this.#timer);
        if (message.interval > 0)
          this.#timer = setInterval(() => this.#post({ tag, type: "keep-alive" }, null), message.interval);
        break;
    }
  }

  /** Pictures of this page's origin have to be their origin's, since scripts may read them. */
  readsPixels(): void {
    this.#post({ tag, type: "reads-pixels" }, null);
  }

  /** Leads a page's end of a socket to the tunnel. */
  openSocket(request: Omit<PageSocketRequest, "type">, port: MessagePort): void {
    const message: PageToWorker = { tag, type: "socket", ...request };
    if (this.#container.controller !== null) return this.#post(message, null, [port]);
    void this.#container.ready.then(({ active }) => active?.postMessage(message, [port]));
  }

  /** Scripts of the page read them from now on. */
  showCookies(cookies: readonly ScriptCookie[]): void {
    this.#cookies.apply(cookies);
  }

  /** Hands a port from the shell on to whoever asked for it. */
  passPort(port: MessagePort): void {
    this.#post({ tag, type: "port" }, this.#asker, [port]);
    this.#asker = null;
  }

  /** `document.cookie` reads and writes the mirror, in this realm or a blank frame's. */
  patchCookie(prototype: object): void {
    patchAccessor(prototype, "cookie", {
      get: () => this.#cookies.read(this.#context.realUrl()),
      set: (_native, _self, text) => {
        const value = withRealDomain(String(text), this.#context.config);
        const url = this.#context.realUrl();
        if (!this.#cookies.write(value, url)) return;
        const number = this.cookies.begin();
        this.#post({ tag, type: "cookie-set", number, value, url }, null);
        setTimeout(() => this.cookies.taken(number), TAKEN_TIMEOUT);
      },
    });
  }
}
