/** Replaces built-ins of a page's window. Pages may change the same built-ins later; ours were taken first. */

import { parseUrl } from "../../../shared/web/origin.ts";

const { apply, construct, getOwnPropertyDescriptor, defineProperty, deleteProperty } = Reflect;

/** The page script begins: whoever has replaced built-ins of the window, for a document before, puts them back. */
export const RESTORE = "ropeway-restore";
// Tests of single rules have no window.
globalThis.dispatchEvent?.(new Event(RESTORE));

export type NativeCall = (self: unknown, args: readonly unknown[]) => unknown;

/** A method's replacement gets the native one, `this` and the arguments. Does nothing where there is no such method. */
export function patchMethod(
  target: object,
  name: string,
  replacement: (native: NativeCall, self: unknown, args: unknown[]) => unknown,
): void {
  const descriptor = getOwnPropertyDescriptor(target, name);
  const native: unknown = descriptor?.value;
  if (typeof native !== "function") return;
  const call: NativeCall = (self, args) => apply(native, self, args);
  const { [name]: value } = {
    [name](this: unknown, ...args: unknown[]) {
      return replacement(call, this, args);
    },
  };
  defineProperty(target, name, { ...descriptor, value: shapedAs(native, value as object) });
}

/** Says of itself what the native function says, but for its source. */
function shapedAs<Patched extends object>(native: object, patched: Patched): Patched {
  for (const key of ["name", "length"])
    defineProperty(patched, key, getOwnPropertyDescriptor(native, key) as PropertyDescriptor);
  return patched;
}

/** Like `patchMethod`, for `new window[name](…)`. */
export function patchConstructor(
  name: string,
  replacement: (construct: (args: readonly unknown[]) => object, args: unknown[]) => object,
): void {
  const descriptor = getOwnPropertyDescriptor(window, name);
  const native: unknown = descriptor?.value;
  if (typeof native !== "function") return;
  const value = new Proxy(native, {
    construct: (target, args, newTarget) =>
      replacement((mapped) => construct(target, mapped as unknown[], newTarget), args),
  });
  defineProperty(window, name, { ...descriptor, value });
}

interface AccessorPatch {
  readonly get?: (native: () => unknown, self: unknown) => unknown;
  readonly set?: (native: (value: unknown) => void, self: unknown, value: unknown) => void;
}

/** Like `patchMethod`, for a getter, a setter, or both. */
export function patchAccessor(target: object, name: string, { get, set }: AccessorPatch): void {
  const descriptor = getOwnPropertyDescriptor(target, name);
  const { get: nativeGet, set: nativeSet } = descriptor ?? {};
  if (descriptor === undefined || nativeGet === undefined) return;
  const patched: PropertyDescriptor = { ...descriptor };
  if (get !== undefined) {
    const { call } = {
      call(this: unknown) {
        return get(() => apply(nativeGet, this, []), this);
      },
    };
    patched.get = shapedAs(nativeGet, call);
  }
  if (set !== undefined && nativeSet !== undefined) {
    const { call } = {
      call(this: unknown, value: unknown) {
        set((mapped) => apply(nativeSet, this, [mapped]), this, value);
      },
    };
    patched.set = shapedAs(nativeSet, call);
  }
  defineProperty(target, name, patched);
}

/** To the browser, all that a service worker answers is of the page's own origin. @param own origins that are. */
export function patchResponseType(own: readonly string[]): void {
  const url = getOwnPropertyDescriptor(Response.prototype, "url")?.get as () => string;
  patchAccessor(Response.prototype, "type", {
    get(native, self) {
      const type = native();
      const { origin = "null" } = parseUrl(apply(url, self, [])) ?? {};
      return type === "basic" && origin !== "null" && !own.includes(origin) ? "cors" : type;
    },
  });
}

/**
 * Takes down what listens to this window and its document, from now until the returned function is called. To write the
 * document anew takes all listeners off (HTML section 8.4.1); from then on these come back.
 */
export function keepListeners(): () => void {
  const targets: EventTarget[] = [window, document];
  const kept: (() => void)[] = [];
  const { addEventListener } = EventTarget.prototype;
  for (const target of targets)
    target.addEventListener = (...listener) => {
      const listen = () => apply(addEventListener, target, listener);
      listen();
      kept.push(listen);
    };
  return () => {
    for (const target of targets) deleteProperty(target, "addEventListener");
    for (const name of ["open", "write", "writeln"])
      patchMethod(Document.prototype, name, (native, self, args) => {
        const result = native(self, args);
        if (self === document) for (const listen of kept) listen();
        return result;
      });
  };
}

/** Takes properties away, so that `in` and typeof say the feature is missing. */
export function removeProperties(target: object, names: readonly string[]): void {
  for (const name of names) deleteProperty(target, name);
}
