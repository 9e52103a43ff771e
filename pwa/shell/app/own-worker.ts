/** The app's own service worker: is registered, and told and asked what only it can see. */
import { ACCEPT_PATH } from "../../../shared/subprotocol.ts";
import { LITE_WORKER_QUERY, type OwnWorkerToShell } from "../../messages/lite-messages.ts";
import { storeAccept, storedAccept } from "../link/remembered.ts";
import type { KeyValueStorage } from "./settings.ts";

/** Of the version that the app was opened with; null before there was one. */
let first = navigator.serviceWorker?.controller;

/** A newer version has taken its place meanwhile: it shows when the app is opened anew. */
export function hasUpdate(): boolean {
  const now = navigator.serviceWorker?.controller;
  return first !== now && first?.scriptURL === now?.scriptURL;
}

/**
 * @param hasScripts no page is shown without scripts.
 * @param onAccept what this browser asks for by itself is known, and stored.
 * @param onUpdate hears that there may be a newer version.
 */
export async function startOwnWorker(
  storage: KeyValueStorage,
  hasScripts: boolean,
  onAccept: () => void,
  onUpdate: () => void,
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
  const begin = () => {
    if (workers.controller === null) return;
    first ??= workers.controller;
    showAccept(storage);
  };
  workers.addEventListener("controllerchange", () => {
    begin();
    onUpdate();
  });
  // The cache may answer for a while after the last look, which would take its share of the link from a page.
  await workers
    .register(`/sw.js${hasScripts ? "" : LITE_WORKER_QUERY}`, { scope: "/", updateViaCache: "all" })
    .catch(() => {});
  begin();
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
