/**
 * Blank and blob: frames. No service worker controls a blank document, nor what is written into it (Chromium 156; a
 * `srcdoc` document has this window's), so its network is closed by a policy, and its scripts get the functions of this
 * window, which are controlled.
 */
import { isPage, removeNetworkFeatures } from "../documents/this-document.ts";
import { isBlobUrl } from "./blob-documents.ts";
import { showInFrame } from "./elements.ts";
import { patchConnection } from "./identity.ts";
import { watchFrameNavigations } from "./navigations.ts";
import type { PageContext, Realm } from "./page-context.ts";
import { patchAccessor, patchMethod, removeProperties } from "./patch.ts";
import type { WorkerClient } from "./worker-client.ts";

const CLOSED = "default-src data: blob: 'unsafe-inline' 'unsafe-eval'";
const BORROWED = ["fetch", "XMLHttpRequest", "EventSource", "Worker", "SharedWorker", "open", "Image"];

const getContentWindow = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, "contentWindow")?.get;

/** A `srcdoc` document is there: asks the next page script around it to adopt it. */
const ADOPT = "ropeway-adopt";

export class ChildWindows {
  readonly #context: PageContext;
  readonly #worker: WorkerClient | null;
  readonly #seen = new WeakSet<Document>();
  readonly #realms = new WeakSet<object>();

  readonly #setSockets: (child: Realm) => void;

  /** @param setSockets gives a window classes of its own. */
  constructor(context: PageContext, worker: WorkerClient | null, setSockets: (child: Realm) => void) {
    this.#context = context;
    this.#worker = worker;
    this.#setSockets = setSockets;
  }

  /** As `adoptWindow`, of the window in a frame. */
  adopt(frame: unknown): void {
    const child = getContentWindow?.call(frame) as Realm | null | undefined;
    if (child) this.adoptWindow(child);
  }

  /**
   * Sees to the navigations of the document in the window if it is a blank or `srcdoc` one of this origin, and closes a
   * blank one; others look after themselves.
   */
  adoptWindow(child: Realm): void {
    let seen: Document;
    try {
      seen = child.document;
    } catch {
      return;
    }
    if (this.#seen.has(seen)) return;
    this.#seen.add(seen);
    if (!this.#realms.has(child.Document.prototype)) {
      this.#realms.add(child.Document.prototype);
      removeNetworkFeatures(child);
      patchConnection(child, this.#context);
      removeProperties(child.Navigator.prototype, ["serviceWorker"]);
    }
    this.#watchBlobs(child);
    const { href } = child.location;
    if (href === "about:blank" || href === "about:srcdoc") {
      this.#watchLinks(child);
      this.#setSockets(child);
    }
    if (href !== "about:blank") return;
    const meta = seen.createElement("meta");
    meta.httpEquiv = "Content-Security-Policy";
    meta.content = CLOSED;
    seen.head?.append(meta);
    meta.remove();
    this.#lend(child);
  }

  /** In any document of the window: a blob's is shown in its place. */
  #watchBlobs(child: Realm): void {
    child.navigation?.addEventListener("navigate", (event) => {
      const { cancelable, defaultPrevented, destination, downloadRequest } = event;
      const { frameElement } = child;
      if (!cancelable || defaultPrevented || destination.sameDocument || downloadRequest !== null) return;
      if (!isBlobUrl(destination.url) || frameElement === null) return;
      event.preventDefault();
      showInFrame(frameElement, destination.url, this.#context);
    });
  }

  #watchLinks(child: Realm): void {
    const config = { ...this.#context.config, topLevel: false };
    const context = { ...this.#context, realm: child, config };
    const listen = watchFrameNavigations(context);
    const { Document, HTMLElement, HTMLFormElement } = child;
    // To write a document anew takes the listeners off, and what is written may act at once.
    for (const [{ prototype }, names] of [
      [Document, ["open", "write", "writeln"]],
      [HTMLElement, ["click"]],
      [HTMLFormElement, ["requestSubmit"]],
    ] as const)
      for (const name of names)
        patchMethod(prototype, name, (native, self, args) => {
          listen();
          const result = native(self, args);
          listen();
          return result;
        });
  }

  #lend(child: Realm): void {
    for (const name of BORROWED) {
      const value: unknown = Reflect.get(window, name);
      const lent = typeof value === "function" && value.prototype === undefined ? value.bind(window) : value;
      Object.defineProperty(child, name, { value: lent, configurable: true, writable: true });
    }
    const { navigator } = window;
    patchMethod(child.Navigator.prototype, "sendBeacon", (_native, _self, [url, data]) =>
      navigator.sendBeacon(String(url), data as BodyInit),
    );
    this.#worker?.cookies.patchCookie(child.Document.prototype);
  }
}

export function patchChildWindows(children: ChildWindows): void {
  for (const name of ["contentWindow", "contentDocument"]) {
    for (const prototype of [HTMLIFrameElement.prototype, HTMLFrameElement.prototype])
      patchAccessor(prototype, name, {
        get(native, self) {
          children.adopt(self);
          return native();
        },
      });
  }
  window.addEventListener(ADOPT, (event) => {
    event.preventDefault();
    children.adoptWindow((event as CustomEvent<Realm>).detail);
  });
  // A frame's next document may have no page script: one of Ropeway's own, or one whose scripts are off.
  document.addEventListener(
    "load",
    ({ target }) => void (target instanceof HTMLIFrameElement && children.adopt(target)),
    true,
  );
  const frames = document.getElementsByTagName("iframe");
  new MutationObserver(() => {
    for (const frame of frames) children.adopt(frame);
  }).observe(document, { childList: true, subtree: true });
}

/** In a document that has not got a page script's configuration. */
export function askToBeAdopted(): void {
  const asked = new CustomEvent(ADOPT, { detail: window, cancelable: true });
  try {
    for (let each: Window = window, isHeard = false; !isHeard && !isPage(each); ) {
      each = each.parent;
      isHeard = !each.dispatchEvent(asked);
    }
  } catch {
    // A document of another origin.
  }
}
