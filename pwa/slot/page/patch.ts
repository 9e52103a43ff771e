/** Replaces built-ins of a page's window. Pages may change the same built-ins later; ours were taken first. */

const { apply, construct, getOwnPropertyDescriptor, defineProperty, deleteProperty } = Reflect;

/** The page script begins: whoever has replaced built-ins of the window, for a document before, puts them back. */
export const RESTORE = "ropeway-restore";
// Tests of single rules have no window.
globalThis.dispatchEvent?.(new Event(RESTORE));

export type NativeCall = (self: unknown, args: readonly unknown[]) => unknown;

type Native = (...args: unknown[]) => unknown;

/** Puts a proxy in place of a constructor, or of a function that is seldom called: it takes three times as long, but its source is native, too. */
export function wrap(target: object, name: string, handler: ProxyHandler<Native>): void {
  const descriptor = getOwnPropertyDescriptor(target, name);
  const native: unknown = descriptor?.value;
  if (typeof native !== "function") return;
  const value = new Proxy(native as Native, handler);
  defineProperty(target, name, { ...descriptor, value });
  // Objects that a constructor has made name their constructor.
  if (native.prototype) defineProperty(native.prototype, "constructor", { value });
}

/** Puts a function in place of a method, a getter or a setter: with the native one's name and length, but its own source. */
function replace(
  target: object,
  name: string,
  key: "get" | "set" | "value",
  replacement: (call: NativeCall, self: unknown, args: unknown[]) => unknown,
): void {
  const descriptor = getOwnPropertyDescriptor(target, name);
  const native: unknown = descriptor?.[key];
  if (typeof native !== "function") return;
  const call: NativeCall = (self, args) => apply(native, self, args);
  const { patched } = {
    patched(this: unknown, ...args: unknown[]) {
      return replacement(call, this, args);
    },
  };
  for (const each of ["name", "length"])
    defineProperty(patched, each, getOwnPropertyDescriptor(native, each) as PropertyDescriptor);
  defineProperty(target, name, { ...descriptor, [key]: patched });
}

/** A method's replacement gets the native one, `this` and the arguments. Does nothing where there is no such method. */
export function patchMethod(
  target: object,
  name: string,
  replacement: (native: NativeCall, self: unknown, args: unknown[]) => unknown,
): void {
  replace(target, name, "value", replacement);
}

/** Like `patchMethod`, for `new realm[name](…)`. */
export function patchConstructor(
  realm: object,
  name: string,
  replacement: (construct: (args: readonly unknown[]) => object, args: unknown[]) => object,
): void {
  wrap(realm, name, {
    construct: (native, args, newTarget) => replacement((mapped) => construct(native, mapped, newTarget), args),
  });
}

interface AccessorPatch {
  readonly get?: (native: () => unknown, self: unknown) => unknown;
  readonly set?: (native: (value: unknown) => void, self: unknown, value: unknown) => void;
}

/** Like `patchMethod`, for a getter, a setter, or both. */
export function patchAccessor(target: object, name: string, { get, set }: AccessorPatch): void {
  if (get) replace(target, name, "get", (call, self) => get(() => call(self, []), self));
  if (set) replace(target, name, "set", (call, self, [value]) => set((mapped) => call(self, [mapped]), self, value));
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
