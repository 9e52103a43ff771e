/** Tells the app what its browser sends as `accept`, which nothing but a service worker is shown. */

import { ownAccept } from "../../../shared/http/phone-fields.ts";
import { ACCEPT_PATH } from "../../../shared/subprotocol.ts";
import type { OwnWorkerToShell } from "../../messages/own-worker-messages.ts";

declare const self: ServiceWorkerGlobalScope;

const seen = new Map<string, string>();

export function tellAccept(): void {
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
