/** How long browsers may keep a file of the app without a look at the edge. */
import { RESERVED_PATH } from "../../shared/subprotocol.ts";

/** Browsers look for new ones whenever a page is opened, mostly over a slow link; at least every day whatever we say. */
const SERVICE_WORKERS: ReadonlySet<string> = new Set(["/sw.js", `${RESERVED_PATH}sw.js`]);

/** Files whose name has their content's hash, below which there is never anything else. */
const NAMED_BY_CONTENT = /-[0-9a-f]{20}\.(?:js|css)$/;

/** Cache-Control of a file of the app; null where the platform's own is right. */
export function freshnessOf(path: string): string | null {
  if (SERVICE_WORKERS.has(path)) return "public, max-age=3600";
  return NAMED_BY_CONTENT.test(path) ? "public, max-age=31536000, immutable" : null;
}
