/** What a page is told of an opaque response (Fetch section 2.2.6): what rendering and the browser's cache need of it. */
import type { Destination, HeaderField, RequestHead } from "../../../shared/http/heads.ts";

const FIELDS = new Set([
  "accept-ranges",
  "age",
  "cache-control",
  "content-length",
  "content-range",
  "content-type",
  "date",
  "expires",
  "vary",
  "x-content-type-options",
]);

/** What a document can use of another origin without its consent. */
const USABLE: ReadonlySet<Destination> = new Set<Destination>(["audio", "image", "script", "style", "video"]);

/** Whether a document does more with the response than to know that it came. Elements ask by GET. */
export function isUsable({ method, destination }: Pick<RequestHead, "method" | "destination">): boolean {
  return method === "GET" && USABLE.has(destination);
}

/** Whether what it loads is relative to its own URL, which so has to be known. */
export function isBase(destination: Destination): boolean {
  return destination === "script" || destination === "style";
}

/** @param destination style sheets say what the referrers are of what they load. */
export function opaqueFields(fields: readonly HeaderField[], destination: Destination): HeaderField[] {
  return fields.filter(([name]) => FIELDS.has(name) || (name === "referrer-policy" && destination === "style"));
}

/**
 * One status for all that browsers treat alike: media players tell ranges apart, all else only whether it went well.
 */
export function opaqueStatus(status: number): number {
  if (status === 206 || status === 416) return status;
  return status >= 200 && status <= 299 ? 200 : 404;
}
