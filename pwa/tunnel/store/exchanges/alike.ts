import type { RequestHead } from "../../../../shared/http/heads.ts";
import type { PartitionIndex } from "../database/partition-index.ts";
import { siblingOf } from "../dictionary/sibling-of.ts";
import { type ExchangeEntry, isBasic, type StoredExchange } from "./stored-exchange.ts";
import { type Variant, variantsOf } from "./variants-of.ts";

/** What is stored that an answer may be like. */
export interface Alike {
  /** "version": it may be the same body. "sibling": it is another, most of which may be the same. */
  readonly kind: "version" | "sibling";
  readonly variant: Variant;
}

/** What sites give new names with each release, though most of it stays as it was. */
const VERSIONED: ReadonlySet<string> = new Set(["font", "image", "script", "style"]);
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

/** The newest version of a URL that names it so: `app.456.js` may be `app.123.js` still. */
function versionOf(index: PartitionIndex<StoredExchange>, head: RequestHead, context: string): Variant | null {
  if (!VERSIONED.has(head.destination)) return null;
  const [before, after] = aroundVersion(head.url);
  const isVersion = ({ url, meta }: ExchangeEntry): boolean => {
    if (!url.startsWith(before) || url === head.url || meta.context !== context) return false;
    const [start, end] = aroundVersion(url);
    return start === before && end === after;
  };
  const newestFirst = (a: ExchangeEntry, b: ExchangeEntry) => b.meta.responseTime - a.meta.responseTime;
  const [newest, former = newest] = index.all().filter(isVersion).sort(newestFirst);
  if (newest === undefined) return null;
  // Pictures of a series (`photo-1.jpg`) are named so, too, and a picture is of no use for another.
  if (head.destination === "image" && newest.body.hash !== former?.body.hash) return null;
  return variantsOf(index, { ...head, url: newest.url }, context)[0] ?? null;
}

function aroundVersion(url: string): readonly [before: string, after: string] {
  const [path = ""] = url.split("?", 1);
  const version = VERSION.exec(path);
  return version === null ? [path, ""] : [path.slice(0, version.index), path.slice(version.index + version[0].length)];
}
