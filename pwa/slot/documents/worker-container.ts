/**
 * `navigator.serviceWorker` of this document. A frame's first document has the window that its blank document had, and
 * there the page around it has taken the property away (`page/frames/child-windows.ts`): a frame of our own has it still.
 */
export function workerContainer(): ServiceWorkerContainer {
  if ("serviceWorker" in navigator) return navigator.serviceWorker;
  const fresh = document.createElement("iframe");
  fresh.hidden = true;
  document.documentElement.append(fresh);
  const realm = fresh.contentWindow as (Window & typeof globalThis) | null;
  const property = Object.getOwnPropertyDescriptor(realm?.Navigator.prototype ?? {}, "serviceWorker");
  fresh.remove();
  const container = property?.get?.call(navigator) as ServiceWorkerContainer | undefined;
  if (container === undefined) throw new Error("Cannot boot slot: the browser has no service workers here");
  return container;
}
