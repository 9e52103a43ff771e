import type { RequestHead } from "../../../../shared/http/heads.ts";
import type { PartitionIndex } from "../database/partition-index.ts";
import { siblingOf } from "../dictionary/sibling-of.ts";
import { isBasic, type StoredExchange } from "./stored-exchange.ts";
import { type Variant, variantsOf } from "./variants-of.ts";

/** What is stored that an answer may be like. */
export interface Alike {
  /** "version": it may be the same body. "sibling": it is another, most of which may be the same. */
  readonly kind: "version" | "sibling";
  readonly variant: Variant;
}

/** What sites give new names with each release, though most of it stays as it was. */
const VERSIONED: ReadonlySet<string> = new Set(["font", "script", "style"]);
/** In `app.4f5e6a.js` or `app-123.js`; it has a digit. */
const VERSION = /[.\-_](?=[^.\-_/]*\d)[^.\-_/]+(?=\.\w+$)/;

/**
 * What is stored that the answer to a request may be like, of its own origin. Of other origins nothing: what they send is
 * not the page's to compare. Null where there is none.
 */
export function alikeOf(index: PartitionIndex<StoredExchange>, head: RequestHead, context: string): Alike | null {
  if (!isBasic(head)) return null;
  const version = versionOf(index, head, context);
  if (version !== null) return { kind: "version", variant: version };
  const sibling = siblingOf(index, head, context);
  return sibling && { kind: "sibling", variant: sibling };
}

/** An earlier version of a URL that names it so: `app.456.js` may be `app.123.js` still. Null, too, if there are several. */
function versionOf(index: PartitionIndex<StoredExchange>, head: RequestHead, context: string): Variant | null {
  if (!VERSIONED.has(head.destination)) return null;
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
