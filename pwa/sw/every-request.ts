/** What TypeScript does not know of Service Workers (section 4.7, "InstallEvent"). */
interface RoutedInstall extends ExtendableEvent {
  addRoutes?(rules: {
    readonly condition: { readonly urlPattern: object };
    readonly source: "fetch-event";
  }): Promise<void>;
}

declare const URLPattern: new (init: object) => object;

/**
 * Every request is the worker's alone. Without such a route Chromium may send a navigation to the network, too, while the
 * worker starts, and then whatever its page loads, of any host (ServiceWorkerAutoPreload).
 */
export function takeEveryRequest(event: RoutedInstall): void {
  const routed = event.addRoutes?.({ condition: { urlPattern: new URLPattern({}) }, source: "fetch-event" });
  if (routed !== undefined) event.waitUntil(routed.catch(() => {}));
}
