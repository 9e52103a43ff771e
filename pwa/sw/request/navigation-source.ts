/** Who sends a frame to a slot: in a top-level slot that must not be another site, since the page's cookies go along. */
import { RESERVED_PATH } from "../../../shared/subprotocol.ts";

declare const self: ServiceWorkerGlobalScope;

declare global {
  interface Request {
    /** In the standard, and in Chromium; not in the types. */
    readonly isHistoryNavigation?: boolean;
  }
}

/**
 * Whether a navigation is known to be of the slot's own pages or the shell. Of others it need not be: the frame may be
 * one in a page without referrers, but also in a page of another site that learnt the slot's host.
 */
export async function isFromOwn({ request, clientId }: FetchEvent, shellOrigin: string): Promise<boolean> {
  // Entries of the history were let through before.
  if (request.isHistoryNavigation === true) return true;
  const source = URL.parse(request.referrer)?.origin;
  if (source !== undefined) return source === self.location.origin || source === shellOrigin;
  // Forms do not leave their slot: no document of one is without `form-action`.
  if (request.method !== "GET") return true;
  // In Chromium the client is the document that the frame has so far. Other sites frame reserved pages at most.
  const replaced = clientId === "" ? undefined : await self.clients.get(clientId);
  return replaced !== undefined && !replaced.url.startsWith(self.location.origin + RESERVED_PATH);
}
