/** The base host's service worker: the app's own files, precached, so that it opens without a network. */
import { precacheAndRoute } from "workbox-precaching";
import { tellAccept } from "./seen-accept.ts";
import { keepCookiesAway } from "./shell-cookies.ts";

declare const self: ServiceWorkerGlobalScope & {
  /** Put in by the build: every file of the shell with its revision. */
  readonly __WB_MANIFEST: readonly { url: string; revision: string | null }[];
};

// Read once: the build puts the list in where it stands.
const files: readonly { readonly url: string; readonly revision: string | null }[] = self.__WB_MANIFEST;
precacheAndRoute([...files], { directoryIndex: "index.html", ignoreURLParametersMatching: [/./] });

self.addEventListener("install", () => void self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
keepCookiesAway(files.map(({ url }) => url));
tellAccept();
