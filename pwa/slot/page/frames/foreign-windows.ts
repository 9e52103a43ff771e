/**
 * Windows that pages get a proxy of. The `postMessage` of a window of another origin belongs to the browser and cannot be
 * replaced (HTML section 7.2.1.3), nor can any window's `location`. So a window of another slot has one, and a window of
 * the first blank document of a frame, whose navigations are no events (HTML section 7.2.6.5). The page gets it wherever
 * a window can be handed out: `contentWindow`, `parent`, `frames`, `event.source`; it is the same each time. By
 * `window[0]`, `top` and `defaultView` it gets the window itself.
 */
import { ropewayPath } from "../../slot-url.ts";

export interface WindowActs {
  /** What `postMessage` of such a window does. */
  readonly post: (target: Window, args: readonly unknown[]) => void;
  /** What its `location` does with an address. */
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

export class ForeignWindows {
  readonly #acts: WindowActs;
  readonly #proxies = new WeakMap<Window, Window>();
  readonly #natives = new WeakMap<object, Window>();

  constructor(acts: WindowActs) {
    this.#acts = acts;
  }

  /** What the page is shown in place of a window; everything else as it is. */
  show<T>(value: T): T {
    // The shell is nobody whom pages write to.
    if (!isWindow(value) || [window, window.top].includes(value)) return value;
    const known = this.#proxies.get(value);
    if (known !== undefined) return known as T & Window;
    return isForeign(value) ? (this.#createProxy(value) as T & Window) : value;
  }

  /** The window in a frame; it is the same before the frame's document has left for its slot. */
  showContent(frame: unknown, content: unknown): unknown {
    const isSettingOut = frame instanceof Element && getAttribute.call(frame, "src")?.includes(`${ropewayPath.frame}?`);
    if (isSettingOut && isWindow(content) && !this.#proxies.has(content)) return this.#createProxy(content);
    return this.show(content);
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

  #createProxy(target: Window): Window {
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
    this.#proxies.set(target, proxy);
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
