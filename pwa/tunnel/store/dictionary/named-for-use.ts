/** What origins name as a dictionary: `Use-As-Dictionary` (RFC 9842 section 2). */
import { headerValue } from "../../../../shared/http/head-fields.ts";
import type { HeaderList, RequestHead } from "../../../../shared/http/heads.ts";

/** Characters of the field: more nobody needs. */
const LONGEST = 1024;

/** Of patterns (https://urlpattern.spec.whatwg.org/) those of a path with wildcards: no others are matched in linear time. The origin is that of the response. */
const PATH = /^(?!\/\/)[^:{}()\\+?#]*$/;

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
  if (value === null || value.length > LONGEST || (TYPE.exec(value)?.[1] ?? "raw") !== "raw") return 0;
  const match = MATCH.exec(value)?.[1]?.replace(/\\(.)/g, "$1");
  const destinations: readonly string[] = DESTINATIONS.exec(value)?.[1]?.match(/"[^"]*"/g) ?? [];
  if (match === undefined || (destinations.length > 0 && !destinations.includes(`"${head.destination}"`))) return 0;
  return matches(match, url, head.url) ? match.length : 0;
}

function matches(match: string, base: string, url: string): boolean {
  if (!PATH.test(match) || !URL.canParse(match, base)) return false;
  return matchesParts(new URL(match, base).pathname.split("*"), new URL(url).pathname);
}

/** Whether the path has these parts in their order, from its beginning to its end, and anything between them. */
function matchesParts([first = "", ...others]: readonly string[], path: string): boolean {
  const last = others.pop();
  if (last === undefined) return path === first;
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return path.length - last.length >= at && path.endsWith(last);
}
