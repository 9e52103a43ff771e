/** Messages between windows name real origins, between page, frames, and frames of frames. */
import { parseUrl } from "../../../shared/web/origin.ts";
import { MESSAGE_TAG, type ShellToPage } from "../../messages/page-messages.ts";
import { ropewayPath } from "../slot-url.ts";
import { pageAround, send } from "./navigations.ts";
import { type Envelope, envelopeOf, isOpened } from "./opened-windows.ts";
import { OriginNames } from "./origin-names.ts";
import { isOpen, type PageContext, type Realm, windowsBelow } from "./page-context.ts";
import { patchAccessor, patchConstructor, patchMethod } from "./patch.ts";

export interface PageMessages {
  /** Real origins by slot, which the shell's word on origins adds to. */
  readonly names: OriginNames;
  /** As of `ForeignWindows`. */
  readonly steered: (value: object) => object;
  /** In place of a value that a script is about to post a message to: a window gets it in this window's name. */
  readonly addressee: (value: unknown) => unknown;
  /**
   * Has messages, and elements of frames, tell of windows as the page is to see them.
   *
   * @returns listens to the window: for one whose document was written anew, and has lost its listeners.
   */
  readonly patchFrames: (realm: Realm) => () => void;
}

export function patchMessages(context: PageContext): PageMessages {
  const { config } = context;
  const names = new OriginNames(config, (origins) =>
    context.toShell({ tag: MESSAGE_TAG, type: "origins-wanted", origins }),
  );
  const sender = new Sender(names);
  const foreign = new ForeignWindows({
    post: (target, args) => sender.post(target, args),
    go: (target, url, replaces) => send(target, url, replaces, context, names),
  });
  window.addEventListener(POSTER, (event) => {
    event.stopImmediatePropagation();
    lent = (event as CustomEvent<Post>).detail;
    queueMicrotask(() => lend(window));
  });
  // The first message to the page around, and from it, need not wait then.
  for (const origin of location.ancestorOrigins ?? []) if (names.real(origin) === null) void names.learn(origin);

  // The page is on top of all that it knows of.
  patchAccessor(window, "parent", { get: (native) => (native() === window.top ? window : foreign.show(native())) });
  // A page may put something else in its place.
  patchAccessor(window, "frames", { get: (native) => (native() === window ? foreign.frames : native()) });
  const patchFrames = (realm: Realm) => {
    patchContentWindow(realm, foreign);
    return patchEvents(realm, context, names, foreign);
  };
  patchFrames(window);
  patchMethod(window, "postMessage", (_native, self, args) => {
    if (foreign.isProxy(self)) return sender.post(foreign.native(self) as Window, args);
    const { message, targetOrigin, transfer } = envelopeOf(args);
    const isNamed = namedOrigin(targetOrigin) === config.realOrigin;
    // A text may stand in place of options; it has none of their members.
    const mapped = isNamed ? [message, { ...(args[1] as object), targetOrigin: config.slotOrigin, transfer }] : args;
    return (lent ?? own)(postMessage, self, mapped);
  });
  return {
    names,
    patchFrames,
    steered: (value) => foreign.steered(value),
    addressee: (value) => foreign.show(foreign.native(value)),
  };
}

/** A frame's next document, which may be one of Ropeway's own, has the realm's window, too. */
function patchContentWindow(realm: Realm, foreign: ForeignWindows): void {
  const { document } = realm;
  for (const { prototype } of [realm.HTMLIFrameElement, realm.HTMLFrameElement])
    patchAccessor(prototype, "contentWindow", {
      get: (native, self) => (realm.document === document ? foreign.showContent(self as Element, native()) : native()),
    });
}

/** As it is now: a message that is sent later must not change meanwhile, and its ports are gone at once. */
function frozen({ message, targetOrigin, transfer }: Envelope): Envelope {
  return { ...structuredClone({ message, transfer }, { transfer }), targetOrigin };
}

/** Whether the browser takes it for a target at all. */
function isTarget(targetOrigin: string): boolean {
  return targetOrigin === "*" || targetOrigin === "/" || parseUrl(targetOrigin) !== null;
}

/** The real origin that the target must have, or null where the browser's own check will do. */
function namedOrigin(targetOrigin: string): string | null {
  if (targetOrigin === "*" || targetOrigin === "/") return null;
  const origin = parseUrl(targetOrigin)?.origin ?? "null";
  return origin === "null" ? null : origin;
}

type Post = (native: Window["postMessage"], target: unknown, args: readonly unknown[]) => void;

/** Event of a window that is lent the function of another one of its origin. */
const POSTER = "ropeway-poster";
const { dispatchEvent } = EventTarget.prototype;

/**
 * By which messages go to this window. To the browser, the window whose script calls is the one that posts, and the
 * function that sees to the target's name is a script of the window that is called. So a window that is handed out is
 * lent a function of the one that takes it, for the rest of the turn.
 */
let lent: Post | null = null;
const own: Post = (native, target, args) => Reflect.apply(native, target, args);
const { postMessage } = window;

/** @param target of this origin. This window has its own function again. */
function lend(target: Window): void {
  if (target === window) lent = null;
  else dispatchEvent.call(target, new CustomEvent(POSTER, { detail: own }));
}

class Sender {
  readonly #names: OriginNames;
  /** Messages that wait until the target's slot is known, and those that were sent after them. */
  readonly #waiting = new WeakMap<Window, Promise<void>>();

  constructor(names: OriginNames) {
    this.#names = names;
  }

  post(target: Window, args: readonly unknown[]): void {
    const waiting = this.#waiting.get(target);
    const envelope = envelopeOf(args);
    const origin = namedOrigin(envelope.targetOrigin);
    const isKnown = origin === null || this.#names.slots(origin).length > 0;
    // Without arguments, or with one that names no origin, the browser says so.
    const isWrong = args.length === 0 || !isTarget(envelope.targetOrigin);
    if (isWrong || (waiting === undefined && isKnown)) return this.#send(target, envelope, args);
    const later = frozen(envelope);
    const learned = isKnown ? undefined : this.#names.learn(origin);
    const sent = Promise.all([waiting, learned])
      .then(() => this.#send(target, later, null))
      .finally(() => {
        if (this.#waiting.get(target) === sent) this.#waiting.delete(target);
      });
    this.#waiting.set(target, sent);
  }

  /** The browser compares the target's slot with the ones named, as it does with origins. */
  #send(target: Window, { message, targetOrigin, transfer }: Envelope, args: readonly unknown[] | null): void {
    const origin = namedOrigin(targetOrigin);
    if (!isForeign(target)) lend(target);
    if (origin === null && args !== null) return void Reflect.apply(target.postMessage, target, args);
    const slots = origin === null ? [targetOrigin] : this.#names.slots(origin);
    // Ports can be sent once.
    for (const slot of transfer.length > 0 ? slots.slice(0, 1) : slots) target.postMessage(message, slot, transfer);
  }
}

/**
 * Messages to the realm's window name real origins. Those of slots whose origin is not known yet wait, in order; the shell's,
 * to a document without a page script, are none of the page's.
 *
 * @returns as of `PageMessages`.
 */
function patchEvents(realm: Realm, { config }: PageContext, names: OriginNames, foreign: ForeignWindows): () => void {
  const { document, MessageEvent: NativeEvent } = realm;
  const { prototype } = NativeEvent;
  // A frame's first document leaves its window to the next one.
  const isThere = () => realm.document === document;
  const [data, origin, source] = ["data", "origin", "source"].map((name) => {
    const { get } = Object.getOwnPropertyDescriptor(prototype, name) ?? {};
    return (event: Event): unknown => get && Reflect.apply(get, event, []);
  }) as [(event: Event) => unknown, (event: Event) => string, (event: Event) => MessageEventSource | null];
  patchAccessor(prototype, "origin", {
    get: (native) => {
      const told = String(native());
      return (isThere() && names.real(told)) || told;
    },
  });
  patchAccessor(prototype, "source", { get: (native) => (isThere() ? foreign.show(native()) : native()) });
  patchConstructor(realm, "MessageEvent", (construct, args) => {
    const init = args[1] as MessageEventInit | undefined;
    return construct(
      foreign.isProxy(init?.source) ? [args[0], { ...init, source: foreign.native(init.source) }] : args,
    );
  });
  const hear = (event: MessageEvent<unknown>): void => {
    if (!isThere()) return;
    const slot = origin(event);
    if (realm !== window && slot === config.shellOrigin) {
      event.stopImmediatePropagation();
      const said = data(event) as Partial<ShellToPage & { type: "origins" }> | null;
      if (said?.type === "origins" && said.origins) names.take(said.origins, said.asked);
      return;
    }
    if (names.real(slot) !== null) return;
    event.stopImmediatePropagation();
    const { lastEventId, ports } = event;
    const init = { data: data(event), lastEventId, source: source(event), ports: [...ports] };
    void names.learn(slot).then(() => {
      realm.dispatchEvent(new NativeEvent("message", { ...init, origin: names.real(slot) ?? slot }));
    });
  };
  const listen = () => realm.addEventListener("message", hear, true);
  listen();
  return listen;
}

interface WindowActs {
  /** `postMessage` of such a window. */
  readonly post: (target: Window, args: readonly unknown[]) => void;
  /** Sends the window to an address, as its `location` does. */
  readonly go: (target: Window, url: string, replaces: boolean) => void;
}

const { getAttribute } = Element.prototype;

function isWindow(value: unknown): value is Window {
  try {
    return typeof value === "object" && value !== null && (value as Window).window === value;
  } catch {
    return false;
  }
}

/** Whether the frame has its first document, which stays for now. */
function isBlank(target: Window & { readonly navigation?: Navigation }): boolean {
  if (target.location.href !== "about:blank" || target.navigation?.entries().length !== 0) return false;
  const { frameElement } = target;
  if (frameElement === null || frameElement.hasAttribute("srcdoc")) return false;
  return ["", "about:blank", null].includes(getAttribute.call(frameElement, "src"));
}

/** Whether the window is of another origin, or about to be: then the placeholder is in it. */
function isForeign(target: Window): boolean {
  try {
    return target.location.pathname === ropewayPath.frame || isBlank(target);
  } catch {
    return true;
  }
}

/** A property of a window or a location, as it is to be used on a proxy of it. */
function read(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name);
  // Functions of a window want to be called on it.
  return typeof value === "function" && value.prototype === undefined ? value.bind(target) : value;
}

/**
 * Windows that pages get a proxy of. The `postMessage` of a window of another origin belongs to the browser and cannot be
 * replaced (HTML section 7.2.1.3), nor can any window's `location`. So a window of another slot has one, and a window of
 * the first blank document of a frame, whose navigations are no events (HTML section 7.2.6.5). The page gets it wherever
 * a window can be handed out: `contentWindow`, `parent`, `frames`, `event.source`; it is the same each time. By
 * `window[0]`, `top` and `defaultView` it gets the window itself.
 */
class ForeignWindows {
  readonly #acts: WindowActs;
  readonly #proxies = new WeakMap<Window, Window>();
  readonly #natives = new WeakMap<object, Window>();

  constructor(acts: WindowActs) {
    this.#acts = acts;
  }

  /** The page gets to see a proxy in place of a window; any other value as it is. */
  show<T>(value: T): T {
    // Pages do not write to the shell.
    if (!isWindow(value) || value === window.top || isOpened(value)) return value;
    const known = this.#proxies.get(value);
    if (known !== undefined) return known as T & Window;
    if (isForeign(value)) return this.#createProxy(value) as T & Window;
    lend(value);
    return value;
  }

  /** In place of another window of the page, or its `location`, that a script is about to send somewhere. */
  steered(value: object): object {
    if (isOpened(value)) return value;
    const tag = (value as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag];
    if (tag === "Location") {
      const target = windowsBelow(pageAround()).find((each) => isOpen(each) && each.location === value);
      return target === undefined ? value : this.#createLocation(target);
    }
    return tag === "Window" && value !== window && !this.isProxy(value)
      ? this.#createProxy(value as Window, false)
      : value;
  }

  /** The window in a frame; it is the same before the frame's document has left for its slot. */
  showContent(frame: Element, content: unknown): unknown {
    const isSettingOut = getAttribute.call(frame, "src")?.includes(`${ropewayPath.frame}?`);
    if (!isSettingOut || !isWindow(content) || this.#proxies.has(content)) return this.show(content);
    // A redirect may have led it back to this origin.
    return isForeign(content) || content.location.href === "about:blank"
      ? this.#createProxy(content)
      : this.show(content);
  }

  /** `window.frames`: the window itself, with its frames as they are shown. */
  readonly frames = new Proxy(window, {
    get: (_target, name) => this.show(read(window, name)),
    set: (_target, name, value) => Reflect.set(window, name, value),
  });

  /** The window that a proxy stands for, or what was given. */
  native(value: unknown): unknown {
    return (typeof value === "object" && value !== null && this.#natives.get(value)) || value;
  }

  isProxy(value: unknown): value is object {
    return typeof value === "object" && value !== null && this.#natives.has(value);
  }

  /** @param isKept for whenever the window is shown. */
  #createProxy(target: Window, isKept = true): Window {
    const postMessage = (...args: unknown[]) => this.#acts.post(target, args);
    const location = this.#createLocation(target);
    const proxy = new Proxy(target, {
      get: (_target, name) => {
        if (name === "postMessage") return postMessage;
        return name === "location" ? location : this.show(read(target, name));
      },
      set: (_target, name, value) => {
        if (name !== "location") return Reflect.set(target, name, value);
        this.#acts.go(target, String(value), false);
        return true;
      },
    });
    if (isKept) this.#proxies.set(target, proxy);
    this.#natives.set(proxy, target);
    return proxy;
  }

  /** In place of the window's own, whose methods nothing else may be shown for. */
  #createLocation(target: Window): Location {
    return new Proxy(Object.create(Location.prototype) as Location, {
      get: (_target, name) => {
        // Throws what belongs to another origin: all but `replace`.
        const value = read(target.location, name);
        if (name !== "replace" && name !== "assign") return value;
        return (url: unknown) => this.#acts.go(target, String(url), name === "replace");
      },
      set: (_target, name, value) => {
        if (name !== "href") return Reflect.set(target.location, name, value);
        this.#acts.go(target, String(value), false);
        return true;
      },
    });
  }
}
