/** What origins name as a dictionary: `Use-As-Dictionary` (RFC 9842 section 2). */
import { headerValue } from "../../../../shared/http/head-fields.ts";
import type { HeaderList, RequestHead } from "../../../../shared/http/heads.ts";

/** A browser's own, where it has one (https://urlpattern.spec.whatwg.org/). */
type Pattern = new (match: string, base: string) => { readonly hasRegExpGroups: boolean; test(url: string): boolean };

/** Members of a dictionary of RFC 9651: a string, or a list of strings. */
const MATCH = /(?:^|[,\s])match="((?:[^"\\]|\\["\\])*)"/;
const DESTINATIONS = /(?:^|[,\s])match-dest=\(([^)]*)\)/;
const TYPE = /(?:^|[,\s])type=([\w.-]+)/;

/**
 * How narrowly the response at `url` says that it is for a request of its origin: the length of what it says, 0 where it is
 * not.
 */
export function namesForUse(url: string, headers: HeaderList, head: Pick<RequestHead, "url" | "destination">): number {
  const value = headerValue(headers, "use-as-dictionary");
  if (value === null || (TYPE.exec(value)?.[1] ?? "raw") !== "raw") return 0;
  const match = MATCH.exec(value)?.[1]?.replace(/\\(.)/g, "$1");
  const destinations: readonly string[] = DESTINATIONS.exec(value)?.[1]?.match(/"[^"]*"/g) ?? [];
  if (match === undefined || (destinations.length > 0 && !destinations.includes(`"${head.destination}"`))) return 0;
  return matches(match, url, head.url) ? match.length : 0;
}

/** Without a browser's own, nothing does. */
function matches(match: string, base: string, url: string): boolean {
  const { URLPattern } = globalThis as { readonly URLPattern?: Pattern };
  if (URLPattern === undefined) return false;
  try {
    const pattern = new URLPattern(match, base);
    return !pattern.hasRegExpGroups && pattern.test(url);
  } catch {
    return false;
  }
}
