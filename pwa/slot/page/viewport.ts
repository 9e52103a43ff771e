/**
 * Intersection observers without a root. In a frame of another origin than the top-level document's, the browser ignores
 * their margin and tells no root bounds (Intersection Observer section 2.2.1). The shell is one, so the page's own
 * viewport, which is what pages mean, is named as the root, and not told.
 */
import { patchAccessor, patchConstructor } from "./patch.ts";

export function patchViewport(): void {
  const implicit = new WeakSet<object>();
  patchConstructor("IntersectionObserver", (construct, [callback, options, ...rest]) => {
    const given = options as IntersectionObserverInit | null | undefined;
    if ((given?.root ?? null) !== null) return construct([callback, options, ...rest]);
    // Object.create throws for what is no object, as the observer's own constructor does.
    const observer = construct([callback, Object.create(given ?? null, { root: { value: document } }), ...rest]);
    implicit.add(observer);
    return observer;
  });
  patchAccessor(IntersectionObserver.prototype, "root", {
    get: (native, self) => (implicit.has(self as object) ? null : native()),
  });
}
