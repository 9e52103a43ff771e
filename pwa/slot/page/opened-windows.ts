/**
 * Windows that this document opens, and the one that has opened the page. They are frames of the shell, beside the page's
 * own, which no script can reach from another one; so a script gets an object in place of each, and the shell carries their
 * messages. The object has the members of a window of another origin (HTML section 7.2.1.3.1), and those of the window itself
 * while both show documents of one origin: these find each other in a third one (`ropewayPath.meeting`).
 */
import { later } from "../../../shared/errors.ts";
import { parseUrl } from "../../../shared/web/origin.ts";
import { READ_HOOK } from "../../../shared/web/read-marks.ts";
import { MESSAGE_TAG, type OpensWindow, type WindowNews, type WindowOrder } from "../../messages/page-messages.ts";
import { frameNameOf, removeNetworkFeatures } from "../documents/this-document.ts";
import { ropewayPath, toReal, toSlot } from "../slot-url.ts";
import { isBlobUrl } from "./blob-documents.ts";
import { showInFrame } from "./elements.ts";
import { htmlElement, referrerFor } from "./navigation-rules.ts";
import { isOpen, type PageContext, type Realm, windowsBelow } from "./page-context.ts";
import { patchMethod, removeProperties } from "./patch.ts";

type Act = WindowOrder["act"];
type Go = (url: unknown, replace: boolean) => void;

/** The window on the other side, as far as the shell has told. */
interface Other {
  isClosed: boolean;
  /** The window has no opener any more. */
  readonly discard: () => void;
  readonly name: string;
  readonly blank: BlankWindow | null;
  /** What scripts do to it until its document has a page script; null: that has come, or is of another origin. */
  early: EarlyWindow | null;
  meeting: Meeting | null;
  /** The window itself, once it was met. */
  itself: Window | null;
  /** Real URL of its page, where that is of this origin. */
  url: string | null;
  readonly shown: Window;
}

/** A document in which two windows find each other: each tells the other there. */
interface Meeting {
  readonly id: string;
  readonly place: { ropewayOpener?: Window; ropewayOpened?: Window };
}

/** Event of an opener's window: one that it has opened has come to the meeting whose id is its detail. */
const MET = "ropeway-met";
/** Event of a window that the other one's script sends elsewhere: its own script may do so. The detail is a `Way`. */
const GO = "ropeway-go";
const { dispatchEvent } = EventTarget.prototype;

interface Way {
  /** Real. */
  readonly url: string;
  readonly replace: boolean;
}

const send = (to: Window, way: Way) => void dispatchEvent.call(to, new CustomEvent(GO, { detail: way }));

function absolute(url: unknown): string {
  const parsed = parseUrl(String(url), document.baseURI);
  if (parsed === null) throw new DOMException(`Cannot open: invalid URL ${url}`, "SyntaxError");
  return parsed.href;
}

/** @returns null where there is none, or none of this origin. */
function findMeeting(id: string): Meeting | null {
  const { top } = window;
  for (let at = 0; id !== "" && top !== null && at < top.length; at++) {
    try {
      const place = top[at] as Realm;
      if (place.location.pathname !== ropewayPath.meeting || place.location.search !== `?${id}`) continue;
      removeNetworkFeatures(place);
      removeProperties(place.Navigator.prototype, ["serviceWorker"]);
      return { id, place: place as Meeting["place"] };
    } catch {
      // Of another origin.
    }
  }
  return null;
}

const shownWindows = new WeakSet<object>();

/** Whether it stands for a window of the shell's. */
export const isOpened = (value: object): boolean => shownWindows.has(value);

export class OpenedWindows {
  readonly #context: PageContext;
  readonly #opened = new Map<string, Other>();
  readonly #opener: Other | null = null;
  /** Steps of the history that wait for the shell's answer, which come in their order. */
  readonly #steps = new Set<(isYours: boolean) => void>();

  /** Before the name of the page's window is shown otherwise. */
  constructor(context: PageContext) {
    this.#context = context;
    window.addEventListener(MET, (event) => {
      event.stopImmediatePropagation();
      for (const other of this.#opened.values())
        if (other.meeting?.id === (event as CustomEvent<unknown>).detail) this.#itself(other);
    });
    window.addEventListener(GO, (event) => {
      event.stopImmediatePropagation();
      const { url, replace } = (event as CustomEvent<Way>).detail;
      const isSame = url === context.realUrl();
      location[replace || isSame ? "replace" : "assign"](toSlot(url, context.config));
    });
    if (!context.config.topLevel) return;
    patchMethod(window, "close", () => this.#order(undefined, { kind: "close" }));
    this.#keepSteps(context.navigation);
    const { isApart = false, referrer, realOrigin } = context.config;
    const { opened, meeting } = frameNameOf(window.name);
    const isOpened = opened !== null;
    // An opener of another origin is not known here by its name: one that does not say that it is of this one is none.
    if (isOpened && isApart && parseUrl(referrer)?.origin !== realOrigin) {
      this.#order(undefined, { kind: "disown" });
      return;
    }
    if (!isOpened) return;
    // A page of this origin may have come before it, which another one has opened.
    if (isApart) this.#order(undefined, { kind: "disown", isApart: true });
    const opener = this.#createOther(undefined);
    this.#opener = opener;
    this.#meet(opener, meeting);
    let shown: unknown = opener.shown;
    Object.defineProperty(window, "opener", {
      get: () => (opener.isClosed ? null : shown),
      set: (value: unknown) => {
        if (value === null) this.#order(undefined, { kind: "disown" });
        shown = value;
      },
      enumerable: true,
      configurable: true,
    });
  }

  /**
   * A window that is about to open, or one that this document has opened by that name.
   *
   * @param url null: it is blank, and filled by the script, or with what is at `local`.
   * @param hasOpener its scripts see who has opened it.
   * @returns `opens` for the shell; null where that has heard of it.
   */
  open(
    name: string,
    url: string | null,
    local = "",
    hasOpener = true,
  ): { readonly opens: OpensWindow | null; readonly shown: Window } {
    const known = [...this.#opened].find(([, each]) => name !== "" && each.name === name && !each.isClosed);
    const seen = url === null && { opener: hasOpener ? window : null };
    const id = known?.[0] ?? crypto.randomUUID();
    const isOwn = url !== null && parseUrl(url)?.origin === this.#context.config.realOrigin;
    const other = known?.[1] ?? this.#createOther(id, name, seen, isOwn);
    this.#opened.set(id, other);
    if (local !== "") other.blank?.fill(local);
    if (url !== null) other.blank?.leave();
    else if (known !== undefined) return { opens: null, shown: other.shown };
    const { isApart, realOrigin } = this.#context.config;
    if (isApart === true && url !== null && parseUrl(url)?.origin !== realOrigin) {
      other.isClosed = true;
      return { opens: { id: null, name: "" }, shown: other.shown };
    }
    return { opens: { id, name, ...(isApart === true && { isApart }) }, shown: other.shown };
  }

  /**
   * The browser has one list for all windows of the app, and lets a frame step through entries of its own alone. So where this
   * window is behind another the shell goes to the page.
   */
  #keepSteps(navigation: Navigation | undefined): void {
    for (const [name, step] of Object.entries({ back: -1, forward: 1, go: 0 }))
      patchMethod(History.prototype, name, (native, self, args) => {
        const delta = step || ~~(args[0] as number);
        const isHere = navigation?.entries()[(navigation.currentEntry?.index ?? 0) + delta]?.sameDocument;
        if (!delta || isHere || !(this.#opener || this.#opened.size)) return native(self, args);
        const end = (isYours: boolean) => {
          clearTimeout(patience);
          this.#steps.delete(end);
          if (isYours) native(self, args);
        };
        const patience = setTimeout(end, 1_000, true);
        this.#steps.add(end);
        this.#order(undefined, { kind: "step", delta });
      });
  }

  /** The shell has news of a window, of which a message brings its ports. */
  hear({ id, news }: WindowNews, ports: readonly MessagePort[]): void {
    const [oldest] = this.#steps;
    if (news.kind === "step") return oldest?.(news.isYours);
    const other = id === undefined ? this.#opener : (this.#opened.get(id) ?? this.#remember(id));
    if (other === null) return;
    if (news.kind === "closed") {
      other.isClosed = true;
      other.discard();
      if (other.blank?.isUnasked === true) other.blank.leave();
    } else if (news.kind === "at") {
      other.url = news.url;
      if (news.url === null) other.early = null;
    } else if (news.kind === "meeting") this.#meet(other, news.meeting);
    else {
      const event = new MessageEvent("message", { data: news.data, origin: news.origin, ports: [...ports] });
      Object.defineProperty(event, "source", { value: other.shown });
      window.dispatchEvent(event);
    }
  }

  /** Of a document that was here before. */
  #remember(id: string): Other {
    const other = this.#createOther(id);
    this.#opened.set(id, other);
    return other;
  }

  /** @param id "" for none. */
  #meet(other: Other, id: string): void {
    const meeting = findMeeting(id);
    if (meeting === null) return;
    other.meeting = meeting;
    if (other !== this.#opener) {
      meeting.place.ropewayOpener = window;
      this.#itself(other);
      return;
    }
    meeting.place.ropewayOpened = window;
    // The page script is through then, and none of the page's has begun.
    queueMicrotask(() => {
      const opener = this.#itself(other);
      if (opener !== null) dispatchEvent.call(opener, new CustomEvent(MET, { detail: id }));
    });
  }

  /** What scripts see in place of another window, or of its location or that of a frame there, that they have got by its objects. */
  standIn(value: object): object | undefined {
    const tag: unknown = Reflect.get(value, Symbol.toStringTag);
    if (tag !== "Window" && tag !== "Location") return undefined;
    for (const other of [this.#opener, ...this.#opened.values()]) {
      const itself = other && this.#itself(other);
      if (value === itself) return other?.shown;
      if (value === itself?.location) return other?.shown.location;
      const page = itself && (read(itself, "top") as Window);
      const frame = page && windowsBelow(page).find((each) => isOpen(each) && each.location === value);
      if (frame) return this.#locationOf(frame);
    }
    return undefined;
  }

  #locationOf(frame: Window): object {
    const { config } = this.#context;
    const go: Go = (url, replace) => send(frame, { url: toReal(absolute(url), config), replace });
    return createLocation(
      () => toReal(frame.location.href, config),
      go,
      () => frame,
    );
  }

  /** The window itself, if it has a document of this origin now, with a page script; or had one when it was closed. */
  #itself(other: Other): Realm | null {
    if (other.isClosed && other.itself?.closed !== true) return null;
    try {
      const { place } = other.meeting ?? {};
      other.itself ??= (other === this.#opener ? place?.ropewayOpener : place?.ropewayOpened) ?? null;
      if (other.itself === null) return null;
      if (!Object.hasOwn(other.itself, READ_HOOK)) {
        // The next document is there, and its page script is to come.
        if (!other.isClosed) other.early ??= new EarlyWindow(other.name);
        return null;
      }
    } catch {
      other.early = null;
      return null;
    }
    const itself = other.itself as Realm;
    other.early?.bringTo(itself);
    other.early = null;
    if (other.blank?.isGone === false) other.blank.leave();
    return itself;
  }

  #order(id: string | undefined, act: Act, transfer: Transferable[] = []): void {
    this.#context.toShell({ tag: MESSAGE_TAG, type: "window", ...(id !== undefined && { id }), act }, transfer);
  }

  /** @param isOwn its first document will be of this origin. */
  #createOther(id: string | undefined, name = "", seen: Seen | false = false, isOwn = false): Other {
    const { config } = this.#context;
    const close = () => {
      if (id === undefined) return;
      other.isClosed = true;
      queueMicrotask(other.discard);
      blank?.leave();
      this.#order(id, { kind: "close" });
    };
    const blank = seen === false ? null : new BlankWindow({ ...seen, close }, this.#context);
    const go: Go = (url, replace) => {
      const way: Way = { url: toReal(absolute(url), config), replace };
      blank?.leave();
      const itself = near();
      if (itself?.navigation !== undefined) send(itself, way);
      else this.#order(id, { kind: "go", ...way, referrer: referrerFor(way.url, this.#context) });
    };
    const near = () => this.#itself(other);
    const address = () => {
      const itself = near();
      if (itself !== null) return toReal(itself.location.href, config);
      const isBlank = other.early !== null || blank?.isGone === false;
      return other.url ?? (isBlank ? "about:blank" : null);
    };
    const location = createLocation(address, go, near);
    const members: Record<string, unknown> = {
      location,
      postMessage: (...args: unknown[]) => {
        if (args.length === 0) throw new TypeError("Cannot post message: 1 argument required");
        const { message: data, targetOrigin, transfer } = envelopeOf(args);
        const real = targetOrigin === "/" ? config.realOrigin : originOf(targetOrigin);
        if (real === null) throw new DOMException(`Cannot post message: invalid origin ${targetOrigin}`, "SyntaxError");
        this.#order(id, { kind: "post", data, targetOrigin: real }, transfer);
      },
      close,
      focus: () => this.#order(id, { kind: "focus" }),
      blur() {},
      length: 0,
      opener: id === undefined ? null : window,
    };
    const discard = () => {
      members.opener = null;
    };
    const early = isOwn && id !== undefined ? new EarlyWindow(name) : null;
    const shown = this.#show(members, go, () => other);
    const other: Other = {
      isClosed: false,
      discard,
      name,
      blank,
      early,
      meeting: null,
      itself: null,
      url: null,
      shown,
    };
    return other;
  }

  /** A member of a window that this one cannot reach. */
  #readApart({ shown, blank, early, url }: Other, members: Record<string, unknown>, name: string | symbol): unknown {
    const key = String(name);
    if (ITSELF.includes(key)) return shown;
    const isOwn = blank?.content != null && OF_CONTENT.includes(key);
    if (key in members && !isOwn) return members[key];
    // Promises, `toString` and others ask for these of whatever they get.
    if (name === "then" || typeof name === "symbol") return undefined;
    if (blank !== null && !blank.isGone) return blank.read(name);
    if (early !== null) return early.read(name);
    if (name === "origin" && url !== null) return this.#context.config.realOrigin;
    throw refused();
  }

  /**
   * @param members that it has whatever it shows.
   * @param go sends it to an address.
   */
  #show(members: Record<string, unknown>, go: Go, otherNow: () => Other): Window {
    const near = () => this.#itself(otherNow());
    const shown: Window = new Proxy(Object.create(null) as Window, {
      ...mirror(near),
      get: (_target, name) => {
        const other = otherNow();
        if (name === "closed") return other.isClosed;
        const itself = near();
        const isByShell = BY_SHELL.includes(String(name)) && !(name === "opener" && other === this.#opener);
        const value = itself === null || isByShell ? this.#readApart(other, members, name) : read(itself, name);
        return itself !== null && value === itself ? shown : value;
      },
      set: (_target, name, value) => {
        const { blank, early } = otherNow();
        const itself = near();
        if (name === "location") go(value, false);
        // Its own script alone parts it from its opener.
        else if (name === "opener") return true;
        else if (itself !== null) Reflect.set(itself, name, value, itself);
        else if (early !== null) early.write(name, value);
        else if (blank !== null && !blank.isGone) blank.write(name, value);
        else throw refused();
        return true;
      },
      has: (_target, name) =>
        Reflect.has(near() ?? members, name) || name === "closed" || otherNow().early?.has(name) === true,
    });
    shownWindows.add(shown);
    return shown;
  }
}

/** Names by which a window gives itself where no other is around it. */
const ITSELF = ["window", "self", "frames", "parent", "top", "globalThis"];

/** What the shell does for such a window, of whatever origin it is: messages that it carries come in their order. */
const BY_SHELL = ["location", "postMessage", "close", "focus", "blur", "opener"];

/** What else is done to a window is done to the window itself, once it is there. */
function mirror(near: () => Realm | null): ProxyHandler<Window> {
  return {
    getPrototypeOf: () => Reflect.getPrototypeOf(near() ?? Object.create(null)),
    ownKeys: () => Reflect.ownKeys(near() ?? {}),
    deleteProperty: (_target, name) => Reflect.deleteProperty(near() ?? {}, name),
    defineProperty: (_target, name, descriptor) => Reflect.defineProperty(near() ?? {}, name, descriptor),
    getOwnPropertyDescriptor(_target, name) {
      const descriptor = Reflect.getOwnPropertyDescriptor(near() ?? {}, name);
      // The proxy's target does not have it.
      return descriptor && { ...descriptor, configurable: true };
    },
  };
}

const bound = new WeakMap<object, unknown>();

/** A member of a window of this origin. */
function read(itself: Window, name: string | symbol): unknown {
  // Its native one is the app.
  if (name === "top") return itself.parent === itself ? itself : read(itself.parent, name);
  const value: unknown = Reflect.get(itself, name, itself);
  // The browser's functions want to be called on the window.
  if (typeof value !== "function" || value.prototype !== undefined || !(name in window)) return value;
  if (!bound.has(value)) bound.set(value, value.bind(itself));
  return bound.get(value);
}

/** Members that a window without a document has as this one has them. Nothing moves a frame. */
const AS_HERE =
  /^(?:(?:move|resize)(?:To|By)|(?:set|clear)(?:Timeout|Interval)|(?:inner|outer)(?:Width|Height)|screen|console|navigator|(?:local|session)Storage)$/;

type Heard = readonly [type: string, listener: unknown, act: (itself: Window) => void, capture?: boolean];

const captures = (options: boolean | EventListenerOptions | undefined): boolean =>
  typeof options === "object" ? options.capture === true : options === true;

/**
 * A window of this origin that has no document, or one whose page script is to come. In a browser it has a blank document
 * first, whose window the next one keeps, with all that scripts have put there (HTML section 7.4.5, "is initial
 * about:blank").
 */
class EarlyWindow {
  readonly #name: string;
  readonly #set = new Map<string | symbol, unknown>();
  /** In the order of the script's. */
  #heard: Heard[] = [];
  #document: Document | null = null;

  constructor(name: string) {
    this.#name = name;
  }

  read(name: string): unknown {
    if (name === "addEventListener")
      return (...listener: Parameters<Window["addEventListener"]>) => {
        // Throws where it is none.
        new EventTarget().addEventListener(...listener);
        const [type, by, options] = listener;
        this.#heard.push([type, by, (itself) => itself.addEventListener(...listener), captures(options)]);
      };
    if (name === "removeEventListener")
      return (...[type, listener, options]: Parameters<Window["removeEventListener"]>) => {
        const isIt = ({ 0: heard, 1: by, 3: capture }: Heard) =>
          heard === type && by === listener && capture === captures(options);
        this.#heard = this.#heard.filter((each) => !isIt(each));
      };
    if (name === "document") {
      if (this.#document === null) {
        this.#document = document.implementation.createHTMLDocument("");
        Object.defineProperty(this.#document, "readyState", { value: "loading" });
      }
      return this.#document;
    }
    if (name === "name" && !this.#set.has(name)) return this.#name;
    return AS_HERE.test(name) ? read(window, name) : this.#set.get(name);
  }

  write(name: string | symbol, value: unknown): void {
    // A handler keeps its place among the listeners.
    if (!this.#set.has(name))
      this.#heard.push([String(name), null, (itself) => Reflect.set(itself, name, this.#set.get(name), itself)]);
    this.#set.set(name, value);
  }

  has(name: string | symbol): boolean {
    return this.#set.has(name);
  }

  bringTo(itself: Window): void {
    for (const [, , act] of this.#heard) act(itself);
  }
}

/** To whom a message goes; null: nobody could be meant. */
const originOf = (target: string): string | null => (target === "*" ? target : (parseUrl(target)?.origin ?? null));

function refused(): DOMException {
  return new DOMException("Cannot read the window: it is of another site, or shown apart", "SecurityError");
}

/**
 * @param address null: of another origin.
 * @param near the window, where it can be reached.
 */
function createLocation(address: () => string | null, go: Go, near: () => Window | null): object {
  return new Proxy(Object.create(null) as object, {
    get: (_target, name) => {
      if (name === "replace") return (url: unknown) => go(url, true);
      if (name === "then" || (typeof name === "symbol" && name !== Symbol.toPrimitive)) return undefined;
      const url = parseUrl(address() ?? "");
      if (url === null) throw refused();
      if (name === "assign") return (to: unknown) => go(to, false);
      if (name === "reload") return () => (near()?.location ?? { reload: () => go(url.href, true) }).reload();
      if (name === "toString" || name === Symbol.toPrimitive) return () => url.href;
      return Reflect.get(url, name, url) as unknown;
    },
    set: (_target, name, value) => {
      const url = parseUrl(address() ?? "");
      if (name === "href") go(value, false);
      else if (url === null) throw refused();
      else if (Reflect.set(url, name, value, url)) go(url.href, false);
      return true;
    },
  });
}

const STYLE =
  ":host{position:fixed;inset:0;z-index:2147483647;display:flex;flex-direction:column;background:Canvas;color:CanvasText}" +
  "button{padding:12px;font:16px system-ui;text-align:start}";

/** In a blank window that a page has come to, these members act on the page. */
const OF_CONTENT = ["focus", "postMessage", "length"];

/** By scripts in a blank window. */
interface Seen {
  readonly opener: Window | null;
}

const blankIn = new WeakMap<Element, BlankWindow>();

/** A document has come into the frame of a blank window. */
export function furnish(content: Realm): void {
  if (content.frameElement) blankIn.get(content.frameElement)?.furnish(content);
}

/** A window without an address: a frame over the whole page, which scripts of the page can fill. */
class BlankWindow {
  readonly #own: Seen & { readonly close: () => void };
  readonly #context: PageContext;
  /** What scripts do to it until the blob's document is there: the browser gives that a window of its own. */
  #early: EarlyWindow | null = null;
  #host: HTMLElement | null = null;
  /** As scripts of the page are to see it. */
  content: Realm | null = null;
  isGone = false;
  /** No tap has led to it. */
  readonly isUnasked = navigator.userActivation?.isActive === false;

  /** @param own properties of its window; the person closes it, too. */
  constructor(own: Seen & { readonly close: () => void }, context: PageContext) {
    this.#own = own;
    this.#context = context;
  }

  /** A script uses the window as one of its own. */
  read(name: string | symbol): unknown {
    const content = this.#show();
    if (this.#early !== null && /^(?:add|remove)EventListener$/.test(String(name)))
      return this.#early.read(String(name));
    const value: unknown = Reflect.get(content, name, content);
    return typeof value === "function" && value.prototype === undefined ? value.bind(content) : value;
  }

  write(name: string | symbol, value: unknown): void {
    const content = this.#show();
    Reflect.set(content, name, value, content);
    this.#early?.write(name, value);
  }

  /** @param url of a blob, or a script's. */
  fill(url: string): void {
    this.#show();
    const frame = this.#host?.firstElementChild as HTMLIFrameElement;
    if (!isBlobUrl(url)) frame.src = url;
    else {
      this.#early = new EarlyWindow("");
      showInFrame(frame, url, this.#context);
    }
  }

  /** A document has come: it finds its opener there, and can close itself. */
  furnish(content: Realm): void {
    for (const [name, value] of Object.entries(this.#own))
      Object.defineProperty(content, name, { value, configurable: true, writable: true });
    if (content.location.href === "about:blank") return;
    this.#early?.bringTo(content);
    this.#early = null;
  }

  leave(): void {
    this.isGone = true;
    this.#host?.remove();
  }

  #show(): Realm {
    if (this.content !== null) return this.content;
    const host = htmlElement(document, "div");
    const root = host.attachShadow({ mode: "closed" });
    const style = new CSSStyleSheet();
    const close = document.createElement("button");
    style.replaceSync(STYLE);
    root.adoptedStyleSheets = [style];
    const words = later("Close this window");
    close.textContent = words;
    void this.#context.late<typeof import("../words.ts")>("words").then(
      (it) => it.translate(close, words),
      () => {},
    );
    close.addEventListener("click", this.#own.close);
    root.append(close, document.createElement("slot"));
    const frame = document.createElement("iframe");
    // A policy of the page keeps style attributes out, and lets scripts set this.
    frame.style.cssText = "flex:1;border:0;width:100%;background:#fff";
    frame.ariaLabel = document.title || this.#context.config.realOrigin;
    blankIn.set(frame, this);
    host.append(frame);
    // Its first document is there at once.
    document.documentElement.append(host);
    this.#host = host;
    this.content = frame.contentWindow as Realm;
    return this.content;
  }
}

/** Arguments of `postMessage` in the form that names all. */
export interface Envelope {
  readonly message: unknown;
  readonly targetOrigin: string;
  readonly transfer: Transferable[];
}

export function envelopeOf([message, given, transfer]: readonly unknown[]): Envelope {
  const options = (typeof given === "object" && given !== null ? given : {}) as StructuredSerializeOptions & {
    readonly targetOrigin?: unknown;
  };
  const named = typeof given === "object" || given === undefined ? (options.targetOrigin ?? "/") : given;
  const list = (typeof given === "object" && given !== null ? options.transfer : transfer) as
    | Transferable[]
    | undefined;
  return { message, targetOrigin: String(named), transfer: [...(list ?? [])] };
}
