/**
 * Blank, `srcdoc` and `blob:` frames, whose documents have no page script of their own. No service worker controls a blank
 * document, nor what is written into it (Chromium 156; a `srcdoc` document has this window's), so its network is closed by
 * a policy. Its scripts get the functions of this window, which are controlled, and its elements what they load
 * (`written-documents.ts`).
 */
import { askAround, removeNetworkFeatures } from "../documents/this-document.ts";
import { ropewayPath } from "../slot-url.ts";
import { isBlobUrl } from "./blob-documents.ts";
import { patchElements, showInFrame } from "./elements.ts";
import { patchConnection } from "./identity.ts";
import { watchFrameNavigations, windowIn } from "./navigations.ts";
import { furnish } from "./opened-windows.ts";
import type { PageContext, Realm } from "./page-context.ts";
import { patchAccessor, patchMethod, RESTORE, removeProperties } from "./patch.ts";
import type { WorkerClient } from "./worker-client.ts";
import type { Told, WrittenDocument } from "./written-documents.ts";

const CLOSED = "default-src data: blob: 'unsafe-inline' 'unsafe-eval'; frame-src 'self' ";
const BORROWED = ["fetch", "XMLHttpRequest", "EventSource", "Worker", "SharedWorker", "open", "Image"];

/** Of before pages may put another one in its place. */
const { fetch: ask } = window;

/** Where a parser waits for a file. */
const SCRIPT = /<script\b[^>]*\ssrc\b/i;
/** Elements that may want a file. */
const WANTS = "[src],[style],link,style";

const getCurrentScript = Object.getOwnPropertyDescriptor(Document.prototype, "currentScript")?.get;
const { getAttribute } = Element.prototype;

/** A `srcdoc` document is there: asks the next page script around it to adopt it. */
const ADOPT = "ropeway-adopt";

/** Parts of the page that its frames' windows get, too. */
interface Shared {
  /** Gives a window classes of its own. */
  readonly setSockets: (child: Realm) => void;
  /** As of `patchAskers`. */
  readonly patchAskers: (child: Realm) => void;
  /** As of `PageMessages`. */
  readonly patchFrames: (child: Realm) => () => void;
}

export class ChildWindows {
  readonly #context: PageContext;
  readonly #worker: WorkerClient | null;
  readonly #seen = new WeakSet<Document>();
  readonly #realms = new WeakSet<object>();

  readonly #shared: Shared;

  constructor(context: PageContext, worker: WorkerClient | null, shared: Shared) {
    this.#context = context;
    this.#worker = worker;
    this.#shared = shared;
    window.addEventListener(ADOPT, (event) => {
      event.preventDefault();
      this.#adoptWindow((event as CustomEvent<Realm>).detail);
    });
  }

  /**
   * Adopts the windows of frames in the realm's document as they come, before scripts get them from their elements.
   *
   * @returns as of `watchFrameNavigations`.
   */
  watchFrames(realm: Realm): () => void {
    const { document } = realm;
    for (const { prototype } of [realm.HTMLIFrameElement, realm.HTMLFrameElement])
      for (const name of ["contentWindow", "contentDocument"])
        patchAccessor(prototype, name, {
          get: (native, self) => {
            if (realm.document === document) this.#adopt(self as Element);
            return native();
          },
        });
    const lists = ["iframe", "frame"].map((name) => document.getElementsByTagName(name));
    new MutationObserver(() => {
      for (const frames of lists) for (const frame of frames) this.#adopt(frame);
    }).observe(document, { childList: true, subtree: true });
    // A frame's next document may have no page script: one of Ropeway's own, or one whose scripts are off.
    const loaded = ({ target }: Event) =>
      /^i?frame$/.test((target as Element).localName) && this.#adopt(target as Element);
    const listen = () => document.addEventListener("load", loaded, true);
    listen();
    return listen;
  }

  #adopt(frame: Element): void {
    const child = windowIn(frame) as Realm | null | undefined;
    if (child) this.#adoptWindow(child);
  }

  /**
   * Sees to the frames, elements and navigations of the document in the window if it is a blank or `srcdoc` one of this
   * origin, and closes a blank one; others look after themselves.
   */
  #adoptWindow(child: Realm): void {
    let seen: Document;
    try {
      seen = child.document;
    } catch {
      return;
    }
    if (this.#seen.has(seen)) return;
    this.#seen.add(seen);
    furnish(child);
    if (!this.#realms.has(child.Document.prototype)) {
      this.#realms.add(child.Document.prototype);
      this.#keepNatives(child);
      removeNetworkFeatures(child);
      patchConnection(child, this.#context);
      removeProperties(child.Navigator.prototype, ["serviceWorker"]);
    }
    this.#watchBlobs(child);
    const { href } = child.location;
    if (href !== "about:blank" && href !== "about:srcdoc") return;
    const listeners = this.#watch(child);
    this.#shared.setSockets(child);
    if (href !== "about:blank") return this.#shared.patchAskers(child);
    const meta = seen.createElement("meta");
    meta.httpEquiv = "Content-Security-Policy";
    meta.content = CLOSED + this.#context.config.slotSources;
    seen.head?.append(meta);
    meta.remove();
    this.#lend(child);
    this.#fill(child, meta.content, listeners);
  }

  /**
   * Sees to what the document loads, and to its parser where that waits for a file.
   *
   * @param policy that stops it.
   */
  #fill(child: Realm, policy: string, listeners: (() => void)[]): void {
    const { document } = child;
    const { prototype } = child.Document;
    const { close, write } = prototype;
    const parse = (text: string | null) => (text === null ? close.call(document) : write.call(document, text));
    const tell = this.#teller(child, policy, parse);
    const stopped = (event: Event): void => {
      const { currentSrc, src, href } = event.target as HTMLImageElement & HTMLLinkElement;
      // A frame's first document leaves its window to the next one.
      if (!event.isTrusted || event.target === child || child.document !== document) return;
      if (event.type === "error") {
        if (/^(?:blob|data):/.test(currentSrc || src || href)) return;
        event.stopImmediatePropagation();
      }
      tell(event);
    };
    listeners.push(() => {
      for (const type of ["error", "securitypolicyviolation"]) child.addEventListener(type, stopped, true);
    });
    listeners.at(-1)?.();
    holdParser(child, tell);
  }

  /** Of what comes of a document to `written-documents.ts`, which may not be there yet. @param parse as `WrittenContext` says. */
  #teller(child: Realm, policy: string, parse: (text: string | null) => void): WrittenDocument {
    const { slotOrigin } = this.#context.config;
    let waiting: Told[] = [];
    let written: WrittenDocument | undefined;
    return (told) => {
      if (told === undefined) waiting = [];
      if (written !== undefined) return written(told);
      if (told === undefined || waiting.push(told) > 1) return;
      void this.#context
        .late<typeof import("./written-documents.ts")>("written")
        .then(
          ({ writtenDocument }) => writtenDocument(child, { parse, slotOrigin, policy, ask }),
          () => (lost: Told) => void ((lost === null || typeof lost === "string") && parse(lost)),
        )
        .then((late) => {
          written ??= late;
          for (const each of waiting.splice(0)) written(each);
        });
    };
  }

  /** Chromium keeps a blank frame's window for the document that comes next: to that they come back. */
  #keepNatives(child: Realm): void {
    const { document, Document, Navigator } = child;
    const had = (holder: object, names: readonly string[]) =>
      names.map((name) => [holder, name, Object.getOwnPropertyDescriptor(holder, name)] as const);
    const taken = [
      ...had(child, BORROWED),
      ...had(Navigator.prototype, ["serviceWorker", "sendBeacon"]),
      ...had(Document.prototype, ["cookie"]),
    ];
    const restore = () => {
      // A page may say so, too, but not in the next document before its page script, nor while that runs.
      const script = child.document === document ? null : (getCurrentScript?.call(child.document) as Element | null);
      if (script === null || !getAttribute.call(script, "src")?.endsWith(ropewayPath.pageScript)) return;
      this.#realms.delete(Document.prototype);
      for (const [holder, name, descriptor] of taken) if (descriptor) Object.defineProperty(holder, name, descriptor);
    };
    child.addEventListener(RESTORE, restore, { once: true });
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

  /** @returns put up what listens to the window again. */
  #watch(child: Realm): (() => void)[] {
    const config = { ...this.#context.config, topLevel: false };
    const context = { ...this.#context, realm: child, document: child.document, config };
    const listeners = [watchFrameNavigations(context), this.watchFrames(child), this.#shared.patchFrames(child)];
    patchElements(context);
    const { Document, HTMLElement, HTMLFormElement } = child;
    // To write a document anew takes the listeners off, and the scripts that are written may act at once.
    for (const [{ prototype }, names] of [
      [Document, ["open", "write", "writeln"]],
      [HTMLElement, ["click"]],
      [HTMLFormElement, ["requestSubmit"]],
    ] as const)
      for (const name of names)
        patchMethod(prototype, name, (native, self, args) => {
          for (const listen of listeners) listen();
          const result = native(self, args);
          for (const listen of listeners) listen();
          return result;
        });
    return listeners;
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

/** From the first script with an address on, and at the end where something may load, the document's parser waits. */
function holdParser(child: Realm, tell: WrittenDocument): void {
  const { document } = child;
  let isHeld = false;
  const placeIn = (text: string | null): number =>
    text === null ? Number(document.querySelector(WANTS) !== null) - 1 : text.search(SCRIPT);
  for (const name of ["open", "write", "writeln", "close"])
    patchMethod(child.Document.prototype, name, (native, self, args) => {
      if (child.document !== document) return native(self, args);
      if (name === "open") {
        isHeld = false;
        tell(undefined);
        return native(self, args);
      }
      const text = name === "close" ? null : args.join("") + (name === "writeln" ? "\n" : "");
      const from = isHeld ? 0 : placeIn(text);
      if (from < 0) return native(self, args);
      isHeld = true;
      if (from > 0) native(self, [text?.slice(0, from)]);
      return tell(text === null ? null : text.slice(from));
    });
}

/** In a document that has not got a page script's configuration. */
export function askToBeAdopted(): void {
  askAround(new CustomEvent(ADOPT, { detail: window, cancelable: true }));
}
