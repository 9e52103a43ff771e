import type { PageWaiting } from "../../../messages/tunnel-messages.ts";
import { formatBytes } from "../parts/format.ts";

/** How much of the page waits for a tap. Null where nothing does. */
export function waitingText({ pictures, bytes }: PageWaiting): string | null {
  if (pictures === 0) return null;
  const what = pictures === 1 ? "1 picture waits" : `${pictures} pictures wait`;
  return `${what}${bytes > 0 ? `, ${formatBytes(bytes)}` : ""}. The page loads again with all of it.`;
}
