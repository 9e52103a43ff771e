/** The base host's service worker: the app's own files, precached, so that it opens without a network. */
import { precacheAndRoute } from "workbox-precaching";
import { RESERVED_PATH } from "../../../shared/subprotocol.ts";
import { LITE_WORKER_QUERY } from "../../messages/lite-messages.ts";
import { tellAccept } from "./seen-accept.ts";
import { keepCookiesAway } from "./shell-cookies.ts";

declare const self: ServiceWorkerGlobalScope & {
  /** Put in by the build: every file of the shell with its revision. */
  readonly __WB_MANIFEST: readonly { url: string; revision: string | null }[];
  /** Put in by the build: the path of the script that all slots have from here. */
  readonly __SLOT_WORKER: string;
  /** Paths of the scripts for pages without scripts, of the window and of this worker. */
  readonly __LITE: string;
  readonly __LITE_WORKER: string;
  /** Of the latter. */
  readonly ropewayLite?: { serveLitePages(isOfApp: (path: string) => boolean): void };
};

// Read once: the build puts the list in where it stands.
const files: readonly { readonly url: string; readonly revision: string | null }[] = self.__WB_MANIFEST;
const isLite = self.location.search === LITE_WORKER_QUERY;
if (isLite) {
  const paths = new Set(files.map(({ url }) => url));
  self.importScripts(self.__LITE_WORKER);
  self.ropewayLite?.serveLitePages((path) => paths.has(path) || path.startsWith(RESERVED_PATH));
}
// Their names tell their content.
const late = isLite ? [{ url: self.__LITE, revision: null }] : [];
precacheAndRoute([...files, ...late], { directoryIndex: "index.html", ignoreURLParametersMatching: [/./] });

self.addEventListener("install", () => void self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
keepCookiesAway([...files.map(({ url }) => url), self.__SLOT_WORKER, self.__LITE, self.__LITE_WORKER]);
tellAccept();
