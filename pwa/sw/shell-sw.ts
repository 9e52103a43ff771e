/** The base host's service worker: the app's own files, precached, so that it opens without a network. */
import { precacheAndRoute } from "workbox-precaching";
import { keepCookiesAway } from "./shell-cookies.ts";

declare const self: ServiceWorkerGlobalScope & {
  /** Put in by the build: every file of the shell with its revision. */
  readonly __WB_MANIFEST: readonly { url: string; revision: string | null }[];
};

precacheAndRoute([...self.__WB_MANIFEST], { directoryIndex: "index.html", ignoreURLParametersMatching: [/./] });

self.addEventListener("install", () => void self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
keepCookiesAway();
