/**
 * Windows of other slots as the page sees them. The `postMessage` of a window of another origin belongs to the browser
 * and cannot be replaced (HTML section 7.2.1.3), so the page gets a proxy of such a window wherever one can be handed out:
 * `contentWindow`, `parent`, `event.source`. It is the same each time. By `window[0]` and `top` it gets the window itself.
 */
import { ropewayPath } from "../../slot-url.ts";

/** What `postMessage` of such a window does. */
export type Post = (target: Window, args: readonly unknown[]) => void;

const { getAttribute } = Element.prototype;

function isWindow(value: unknown): value is Window {
  try {
    return typeof value === "object" && value !== null && (value as Window).window === value;
  } catch {
    return false;
  }
}

/** Whether the window is of another origin, or about to be: then the placeholder is in it. */
function isForeign(target: Window): boolean {
  try {
    return target.location.pathname === ropewayPath.frame;
  } catch {
    return true;
  }
}

export class ForeignWindows {
  readonly #post: Post;
  readonly #proxies = new WeakMap<Window, Window>();
  readonly #natives = new WeakMap<object, Window>();

  constructor(post: Post) {
    this.#post = post;
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

  /** The window that a proxy stands for, or what was given. */
  native(value: unknown): unknown {
    return (typeof value === "object" && value !== null && this.#natives.get(value)) || value;
  }

  isProxy(value: unknown): value is object {
    return typeof value === "object" && value !== null && this.#natives.has(value);
  }

  #createProxy(target: Window): Window {
    const postMessage = (...args: unknown[]) => this.#post(target, args);
    const proxy = new Proxy(target, {
      get: (_target, name) => {
        if (name === "postMessage") return postMessage;
        const value: unknown = Reflect.get(target, name);
        // Functions of a window want to be called on it.
        if (typeof value === "function" && value.prototype === undefined) return value.bind(target);
        return this.show(value);
      },
      set: (_target, name, value) => Reflect.set(target, name, value),
    });
    this.#proxies.set(target, proxy);
    this.#natives.set(proxy, target);
    return proxy;
  }
}
