/** Replaces built-ins of a window. Pages may change the same built-ins later; ours were taken first. */

const { apply, construct, getOwnPropertyDescriptor, defineProperty, deleteProperty } = Reflect;

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
  defineProperty(target, name, { ...descriptor, value });
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
    patched.get = function (this: unknown) {
      return get(() => apply(nativeGet, this, []), this);
    };
  }
  if (set !== undefined && nativeSet !== undefined) {
    patched.set = function (this: unknown, value: unknown) {
      set((mapped) => apply(nativeSet, this, [mapped]), this, value);
    };
  }
  defineProperty(target, name, patched);
}

/** Takes properties away, so that `in` and typeof say the feature is missing. */
export function removeProperties(target: object, names: readonly string[]): void {
  for (const name of names) deleteProperty(target, name);
}
