import type { RequestHead } from "../../../../shared/http/heads.ts";
import type { PartitionIndex } from "../database/partition-index.ts";
import { isBasic, type StoredExchange } from "./stored-exchange.ts";
import { type Variant, variantsOf } from "./variants-of.ts";

/** What sites give new names with each release, though most of it stays as it was. */
const VERSIONED: ReadonlySet<string> = new Set(["font", "script", "style"]);
/** In `app.4f5e6a.js` or `app-123.js`; it has a digit. */
const VERSION = /[.\-_](?=[^.\-_/]*\d)[^.\-_/]+(?=\.\w+$)/;

/**
 * What is stored for an earlier version of a URL that the page's own origin names so: `app.456.js` may be `app.123.js`
 * still. Null where there is none, or more than one. Of other origins nothing: what they send is not the page's to compare.
 */
export function alikeOf(index: PartitionIndex<StoredExchange>, head: RequestHead, context: string): Variant | null {
  if (!VERSIONED.has(head.destination) || !isBasic(head)) return null;
  const [before, after] = aroundVersion(head.url);
  const urls = new Set<string>();
  for (const { url, meta } of index.all()) {
    if (!url.startsWith(before) || url === head.url || meta.context !== context) continue;
    const [start, end] = aroundVersion(url);
    if (start === before && end === after) urls.add(url);
  }
  const [url] = urls;
  if (url === undefined || urls.size > 1) return null;
  return variantsOf(index, { ...head, url }, context)[0] ?? null;
}

function aroundVersion(url: string): readonly [before: string, after: string] {
  const [path = ""] = url.split("?", 1);
  const version = VERSION.exec(path);
  return version === null ? [path, ""] : [path.slice(0, version.index), path.slice(version.index + version[0].length)];
}
