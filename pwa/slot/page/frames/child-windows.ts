/**
 * Blank and blob: frames. No service worker controls a blank document, nor what is written into it (Chromium 156; a
 * `srcdoc` document has this window's), so its network is closed by a policy, and its scripts get the functions of this
 * window, which are controlled.
 */
import { showInFrame } from "../elements.ts";
import { send } from "../links/leave.ts";
import { navigationGoal } from "../links/navigation-goal.ts";
import { removeNetworkFeatures } from "../network-features.ts";
import type { PageContext } from "../page-context.ts";
import { patchAccessor, patchMethod, removeProperties } from "../patch.ts";
import type { WorkerClient } from "../worker-client.ts";
import { isBlobUrl } from "./blob-documents.ts";

const CLOSED = "default-src data: blob: 'unsafe-inline' 'unsafe-eval'";
const BORROWED = ["fetch", "XMLHttpRequest", "EventSource", "WebSocket", "Worker", "SharedWorker", "open", "Image"];

const getContentWindow = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, "contentWindow")?.get;

type Realm = Window & typeof globalThis & { readonly navigation?: Navigation };

export class ChildWindows {
  readonly #context: PageContext;
  readonly #worker: WorkerClient | null;
  readonly #seen = new WeakSet<Document>();
  readonly #realms = new WeakSet<object>();

  constructor(context: PageContext, worker: WorkerClient | null) {
    this.#context = context;
    this.#worker = worker;
  }

  /** Closes the frame's document if it is a blank one of this origin; others look after themselves. */
  adopt(frame: unknown): void {
    const child = getContentWindow?.call(frame) as Realm | null;
    if (child === null || child === undefined) return;
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
      removeProperties(child.Navigator.prototype, ["serviceWorker"]);
    }
    this.#watch(child);
    if (child.location.href !== "about:blank") return;
    const meta = seen.createElement("meta");
    meta.httpEquiv = "Content-Security-Policy";
    meta.content = CLOSED;
    seen.head?.append(meta);
    meta.remove();
    this.#lend(child);
  }

  /** Navigations of a document without a page script, whoever begins them. The window may get one that has. */
  #watch(child: Realm): void {
    child.navigation?.addEventListener("navigate", (event) => {
      const { cancelable, defaultPrevented, destination, downloadRequest, formData, navigationType } = event;
      if (!cancelable || defaultPrevented || destination.sameDocument) return;
      if (downloadRequest !== null || formData !== null) return;
      const { frameElement } = child;
      if (isBlobUrl(destination.url) && frameElement !== null) {
        event.preventDefault();
        showInFrame(frameElement, destination.url, this.#context);
      }
      if (child.location.protocol !== "about:") return;
      const goal = navigationGoal(destination.url, "frame", this.#context.config);
      if (goal.kind === "native" || goal.url === destination.url) return;
      event.preventDefault();
      send(child, destination.url, navigationType === "replace", this.#context);
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
    this.#worker?.patchCookie(child.Document.prototype);
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
