/** The app's own service worker: is registered, and told and asked what only it can see. */
import { ACCEPT_PATH } from "../../../shared/subprotocol.ts";
import { LITE_WORKER_QUERY, type OwnWorkerToShell } from "../../messages/lite-messages.ts";
import { storeAccept, storedAccept } from "../link/remembered.ts";
import type { KeyValueStorage } from "./settings.ts";

/**
 * @param hasScripts no page is shown without scripts.
 * @param onAccept what this browser asks for by itself is known, and stored.
 */
export async function startOwnWorker(
  storage: KeyValueStorage,
  hasScripts: boolean,
  onAccept: () => void,
): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const workers = navigator.serviceWorker;
  workers.addEventListener("message", ({ data }: MessageEvent<OwnWorkerToShell>) => {
    if (data.type === "accept") {
      storeAccept(storage, data.accept);
      onAccept();
    }
    // biome-ignore lint/suspicious/noDocumentCookie: Cookie Store adds a slash to paths.
    if (data.type === "expired-cookies") for (const cookie of data.cookies) document.cookie = cookie;
  });
  // Such cookies may have kept the browser from looking for a new version.
  const update = async () => (await workers.ready).update();
  workers.addEventListener("message", () => void update().catch(() => {}), { once: true });
  workers.startMessages();
  void workers.ready.then(({ active }) => active?.postMessage("opened"));
  // The cache may answer for a while after the last look, which would take its share of the link from a page.
  await workers
    .register(`/sw.js${hasScripts ? "" : LITE_WORKER_QUERY}`, { scope: "/", updateViaCache: "all" })
    .catch(() => {});
  if (workers.controller !== null) showAccept(storage);
  else workers.addEventListener("controllerchange", () => showAccept(storage), { once: true });
}

/** Has it delete what pages have set for the app's host: Firefox tells it of few cookies when they are set. */
export function lookForCookies(): void {
  navigator.serviceWorker?.controller?.postMessage("away");
}

/** Makes requests that the service worker answers by itself, and tells of. */
function showAccept(storage: KeyValueStorage): void {
  if (storedAccept(storage) !== null) return;
  for (const destination of ["font", "image", "script", "style"]) {
    const link = document.createElement("link");
    // Each of its own, as WebKit preloads an address once.
    Object.assign(link, { rel: "preload", as: destination, href: `${ACCEPT_PATH}?${destination}` });
    // Fonts are always asked for so.
    if (destination === "font") link.crossOrigin = "anonymous";
    document.head.append(link);
  }
}
