/**
 * `Connection-Allowlist` (WICG; Chromium 152): what the browser lets a document connect to, whatever its scripts do, and
 * all that inherits from it: blank, `srcdoc`, `javascript:` and `blob:` frames, and the first document of any frame.
 * Chromium 156 ends the process of a frame that tries all the same; the shell is in another one. Scripts take the
 * features away too (`removeNetworkFeatures`), so that pages find none, and for other engines.
 */
const RULES = "redirects=allow;webrtc=block";

/**
 * For a page: no WebRTC. It may connect to all addresses, since Chromium checks before the service worker, which
 * answers for every origin.
 */
export const pageConnections = `("*://*:*/*");${RULES}`;

/**
 * For a document of Ropeway's own, which has no page script: it may connect to slots only, its own included. @param
 * slotSources as in a policy.
 */
export function ownConnections(slotSources: string): string {
  const patterns = slotSources.split(" ").map((source) => `"${source}/*"`);
  return `(${patterns.join(" ")});${RULES}`;
}
