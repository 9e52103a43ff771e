/** The page's conversation with the slot's service worker: cookies, sockets, uploads, pictures, port, keep-alive. */
import { MESSAGE_TAG } from "../../messages/page-messages.ts";
import type { PageSocketRequest } from "../../messages/socket-messages.ts";
import {
  type AppScript,
  isTagged,
  type PageToWorker,
  UPLOAD_NUMBER,
  type WorkerToPage,
} from "../../messages/worker-messages.ts";
import { type CookieSet, PageCookies } from "./cookies.ts";
import { connectionOf } from "./identity.ts";
import { pageAround } from "./navigations.ts";
import { isOpen, type PageContext, windowsBelow } from "./page-context.ts";
import { patchAccessor, patchMethod } from "./patch.ts";
import { Pictures } from "./pictures.ts";

const tag = MESSAGE_TAG;

/** Event of the page's other windows of this origin: a script has set a cookie. */
const COOKIE = "ropeway-cookie";
const { dispatchEvent } = EventTarget.prototype;
function tellOthers(detail: CookieSet): void {
  for (const each of windowsBelow(pageAround()))
    if (each !== window && isOpen(each)) dispatchEvent.call(each, new CustomEvent(COOKIE, { detail }));
}

export class WorkerClient {
  readonly cookies: PageCookies;
  /** By number: is told how many bytes are sent, of how many. */
  readonly uploads = new Map<number, (loaded: number, total: number) => void>();
  readonly #context: PageContext;
  readonly #container: ServiceWorkerContainer;
  /** The worker that asked for a port last; a restarted service worker may not be the controller's latest. */
  #asker: MessageEventSource | null = null;
  #pictures: Pictures | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(context: PageContext, container: ServiceWorkerContainer) {
    this.#context = context;
    this.#container = container;
    this.cookies = new PageCookies(context, (cookie) => {
      this.#post({ tag, type: "cookie-set", ...cookie }, null);
      tellOthers(cookie);
    });
    window.addEventListener(COOKIE, (event) => this.cookies.hear((event as CustomEvent<CookieSet>).detail));
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
        this.cookies.show(message.cookies);
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

  /** As of "find-script". */
  passScript(script: string, name: AppScript): void {
    this.#post({ tag, type: "find-script", script, name }, null);
  }

  /** @param ports as of `PageSocketRequest`. */
  openSocket(request: Omit<PageSocketRequest, "type">, ports: MessagePort[]): void {
    const message: PageToWorker = { tag, type: "socket", ...request };
    if (this.#container.controller !== null) return this.#post(message, null, ports);
    void this.#container.ready.then(({ active }) => active?.postMessage(message, ports));
  }

  /** Hands a port from the shell on to the worker that asked for it. */
  passPort(port: MessagePort): void {
    this.#post({ tag, type: "port" }, this.#asker, [port]);
    this.#asker = null;
  }
}

const { setRequestHeader } = XMLHttpRequest.prototype;
const { addEventListener } = EventTarget.prototype;

let lastNumber = 0;

/** The uploads of one XMLHttpRequest, one after the other. */
class Uploads {
  readonly #request: XMLHttpRequest;
  readonly #target: XMLHttpRequestUpload;
  readonly #worker: WorkerClient;
  #number = 0;
  /** Bytes of the upload that is under way. */
  #total: number | null = null;
  /** Those of them that the page was told of. */
  #loaded = 0;

  constructor(request: XMLHttpRequest, target: XMLHttpRequestUpload, worker: WorkerClient) {
    this.#request = request;
    this.#target = target;
    this.#worker = worker;
    addEventListener.call(target, "loadstart", (event) => {
      if (event.isTrusted) this.#total = (event as ProgressEvent).total;
    });
    for (const name of ["progress", "load", "abort", "error", "timeout", "loadend"])
      addEventListener.call(target, name, (event) => this.#filter(event));
    addEventListener.call(request, "readystatechange", () => {
      // The answer may overtake the last messages.
      if (request.readyState === XMLHttpRequest.HEADERS_RECEIVED && this.#total !== null) this.#tell(this.#total);
    });
  }

  /** A body is about to be sent. */
  begin(): void {
    this.#end();
    this.#loaded = 0;
    lastNumber += 1;
    this.#number = lastNumber;
    setRequestHeader.call(this.#request, UPLOAD_NUMBER, String(lastNumber));
    this.#worker.uploads.set(lastNumber, (loaded, total) => {
      if (this.#total === null) return;
      this.#total = total;
      this.#tell(loaded);
    });
  }

  /**
   * The browser's own events go to the page up to the end of an upload. The browser may not know that end, nor how far an
   * upload was that ended early.
   */
  #filter(event: Event): void {
    if (!event.isTrusted) return;
    const { type } = event;
    if (this.#total === null || this.#loaded > 0) event.stopImmediatePropagation();
    if (this.#total !== null && this.#loaded > 0) this.#dispatch(type);
    if (type === "loadend") this.#end();
  }

  #tell(loaded: number): void {
    this.#loaded = loaded;
    const isOver = loaded >= (this.#total ?? loaded);
    for (const name of isOver ? ["progress", "load", "loadend"] : ["progress"]) this.#dispatch(name);
    if (isOver) this.#end();
  }

  #dispatch(name: string): void {
    const loaded = this.#loaded;
    const total = this.#total ?? loaded;
    dispatchEvent.call(this.#target, new ProgressEvent(name, { lengthComputable: true, loaded, total }));
  }

  #end(): void {
    this.#total = null;
    this.#worker.uploads.delete(this.#number);
  }
}

/**
 * Progress of XHR uploads. Of a request that a service worker answers, the browser tells that its upload began or failed,
 * and no more: the rest comes from the service worker, for a request whose `upload` the page has asked for.
 *
 * @param onRefused the page has asked for an answer that it does not go on without, which no browser lets past a policy.
 */
export function patchUploads(worker: WorkerClient, onRefused: () => void): void {
  const known = new WeakMap<object, Uploads>();
  patchAccessor(XMLHttpRequest.prototype, "upload", {
    get(native, self) {
      const target = native() as XMLHttpRequestUpload;
      const request = self as XMLHttpRequest;
      if (!known.has(request)) known.set(request, new Uploads(request, target, worker));
      return target;
    },
  });
  patchMethod(XMLHttpRequest.prototype, "send", (native, self, args) => {
    if (args[0] !== undefined && args[0] !== null) known.get(self as object)?.begin();
    try {
      return native(self, args);
    } catch (error) {
      // Only such a request fails at once in this way.
      if (error instanceof DOMException && error.name === "NetworkError") onRefused();
      throw error;
    }
  });
}
