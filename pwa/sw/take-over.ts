declare const self: ServiceWorkerGlobalScope;

/** The part of Service Workers (section 4.7, "InstallEvent") that TypeScript does not know. */
interface RoutedInstall extends ExtendableEvent {
  addRoutes?(rules: {
    readonly condition: { readonly urlPattern: object };
    readonly source: "fetch-event";
  }): Promise<void>;
}

declare const URLPattern: new (init: object) => object;

/** Milliseconds until a worker that still waits asks again. */
const ASK_AGAIN = 1_000;

/** The worker takes the place of the former one as soon as it is installed, and every request of its pages. */
export function takeOver(): void {
  let asking: ReturnType<typeof setInterval> | undefined;
  self.addEventListener("install", (event) => {
    takeEveryRequest(event);
    void self.skipWaiting();
    // Chromium (156) forgets a call that comes while the former worker is being started, and waits until that ends.
    asking = setInterval(() => void self.skipWaiting(), ASK_AGAIN);
  });
  self.addEventListener("activate", (event) => {
    clearInterval(asking);
    event.waitUntil(self.clients.claim());
  });
}

/**
 * Every request is the worker's alone. Without such a route Chromium may send a navigation to the network, too, while the
 * worker starts, and then whatever its page loads, of any host (ServiceWorkerAutoPreload).
 */
function takeEveryRequest(event: RoutedInstall): void {
  const routed = event.addRoutes?.({ condition: { urlPattern: new URLPattern({}) }, source: "fetch-event" });
  if (routed !== undefined) event.waitUntil(routed.catch(() => {}));
}
