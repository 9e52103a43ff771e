/** The base host's service worker: the app's own files, precached, so that it opens without a network. */
import { matchPrecache, precacheAndRoute } from "workbox-precaching";
import { ownAccept } from "../../../shared/http/phone-fields.ts";
import { ACCEPT_PATH } from "../../../shared/subprotocol.ts";
import { LITE_WORKER_QUERY, type OwnWorkerToShell } from "../../messages/lite-messages.ts";
import { takeOver } from "../take-over.ts";
import { keepCookiesAway } from "./shell-cookies.ts";

declare const self: ServiceWorkerGlobalScope & {
  /** Put in by the build: every file of the shell with its revision. */
  readonly __WB_MANIFEST: readonly { url: string; revision: string | null }[];
  /** Put in by the build: the path of the script that all slots have from here. */
  readonly __SLOT_WORKER: string;
  /** Put before this by the edge, where slots have a list of hosts: differs where that does, which the page's policy names. */
  readonly ropewayList?: string;
  /** Path of the window's script for such a list. */
  readonly __LISTED: string;
  /** Paths of the scripts for pages without scripts, of the window and of this worker. */
  readonly __LITE: string;
  readonly __LITE_WORKER: string;
  /** Exports of the worker's script for pages without scripts. */
  readonly ropewayLite?: { serveLitePages(answerApp: (request: Request) => Promise<Response>): void };
};

// Read once: the build puts the list in where it stands.
const files: readonly { readonly url: string; readonly revision: string | null }[] = self.__WB_MANIFEST;
const isLite = self.location.search === LITE_WORKER_QUERY;
if (isLite) {
  self.importScripts(self.__LITE_WORKER);
  self.ropewayLite?.serveLitePages(async (request) => {
    // A script that is asked for again has a number behind its name.
    return (await matchPrecache(request.url.replace(/\?\d+$/, ""))) ?? fetch(request);
  });
}
const list = self.ropewayList ?? null;
const told = files.map(({ url, revision }) => ({ url, revision: url === "/" ? `${revision}${list ?? ""}` : revision }));
// Their names tell their content.
const late = [...(isLite ? [self.__LITE] : []), ...(list === null ? [] : [self.__LISTED])];
precacheAndRoute([...told, ...late.map((url) => ({ url, revision: null }))], {
  directoryIndex: "index.html",
  ignoreURLParametersMatching: [/./],
});

takeOver();
keepCookiesAway([...files.map(({ url }) => url), self.__SLOT_WORKER, self.__LISTED, self.__LITE, self.__LITE_WORKER]);
tellAccept();

const seen = new Map<string, string>();

/** Tells the app what its browser sends as `accept`, which nothing but a service worker is shown. */
function tellAccept(): void {
  self.addEventListener("fetch", (event) => {
    const { url, destination, headers } = event.request;
    if (new URL(url).pathname !== ACCEPT_PATH) return;
    event.respondWith(new Response(null, { status: 204 }));
    seen.set(destination, headers.get("accept") ?? "");
    const accept = ownAccept(seen);
    if (accept === null) return;
    const told: OwnWorkerToShell = { type: "accept", accept };
    event.waitUntil(self.clients.get(event.clientId).then((client) => client?.postMessage(told)));
  });
}
