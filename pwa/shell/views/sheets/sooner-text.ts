import type { BrowserState } from "../browser-state.ts";
import { formatTime } from "./format-time.ts";

/** Milliseconds below which nobody sees a difference. */
const SEEN = 100;

/**
 * What a page of few bytes gains by a link that is open: a browser looks up the name, connects and encrypts first, each in
 * a round trip as long as the link's, it may be taken.
 *
 * @returns null where that is not much.
 */
export function soonerText({ url, cost }: Pick<BrowserState, "url" | "cost">) {
  const isEncrypted = url.startsWith("https:");
  const time = (isEncrypted ? 3 : 2) * cost.roundTrip;
  if (time < SEEN || cost.linkBytesDown === 0) return null;
  const first = isEncrypted
    ? "looked up the site’s name, connected and encrypted"
    : "looked up the site’s name and connected";
  return { heading: `About ${formatTime(time)} sooner`, reason: `A browser would have ${first} first.` };
}
