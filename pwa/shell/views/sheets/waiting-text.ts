import type { PageWaiting } from "../../../messages/tunnel-messages.ts";
import { formatBytes } from "../parts/format.ts";

/** How much of the page waits for a tap. Null where nothing does. */
export function waitingText({ pictures, films, bytes }: PageWaiting): string | null {
  if (pictures + films === 0) return null;
  const what = [countOf(pictures, "picture"), countOf(films, "film")].filter((each) => each !== "").join(" and ");
  const size = bytes > 0 ? `, ${formatBytes(bytes)}` : "";
  return `${what} ${pictures + films === 1 ? "waits" : "wait"}${size}. The page loads again with all of it.`;
}

function countOf(count: number, name: string): string {
  return count === 0 ? "" : `${count} ${name}${count === 1 ? "" : "s"}`;
}
