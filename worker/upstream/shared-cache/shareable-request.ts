/**
 * Which requests a shared cache may answer, and under which key. What a phone's request carries and an origin gets is in
 * the key, or the cache has no part in it: so no phone, and no page on one, can have an origin make an answer for others
 * by a field that those do not send (cache poisoning by unkeyed fields).
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { toHex } from "../../../shared/base-encodings.ts";
import type { CacheRequest } from "../../../shared/http-cache/cache-rules.ts";
import { siteOf } from "../fetch-rules/site.ts";

/**
 * A response is selected by all of these fields, as though its `Vary` named them. What its `Vary` does name adds
 * nothing to that.
 */
const SELECTING = [
  "accept",
  "accept-encoding",
  "accept-language",
  "origin",
  "referer",
  "save-data",
  "sec-ch-ua",
  "sec-ch-ua-mobile",
  "sec-ch-ua-platform",
  "sec-fetch-dest",
  "sec-fetch-mode",
  "sec-fetch-site",
  "sec-fetch-user",
  "upgrade-insecure-requests",
  "user-agent",
];

/** What browsers say to caches when a person reloads. It goes to origins, too. Any other value was set by a page. */
const DIRECTIVES: Readonly<Record<string, readonly string[]>> = {
  "cache-control": ["no-cache", "max-age=0"],
  pragma: ["no-cache"],
};

/** Of the hash of a site: two of them would share what they have, and no more. */
const SITE_BYTES = 8;

/** Count: of responses stored for one URL, by hash of what selects them: a new one takes the place of another. */
export const MOST_VARIANTS = 8;

export interface ShareableRequest {
  /** For the rules of caching, with all fields as they go to the origin. */
  readonly asked: CacheRequest;
  /** The same for all requests that one stored response answers. */
  readonly selector: string;
  /** The same for all requests that one fetch answers. */
  readonly identity: string;
  /** Whose page asks: a name of its top-level site that tells nobody which. What it brings counts as that site's. */
  readonly site: string;
}

/** @returns null where there are credentials, conditions, a range, a body, or any field that is not known to be of no use. */
export function shareable(
  { method, url, headers }: Request,
  topLevelOrigin: string | null = null,
): ShareableRequest | null {
  const fields = [...headers];
  const isKnown = ([name, value]: readonly [string, string]) =>
    SELECTING.includes(name) || DIRECTIVES[name]?.includes(value) === true;
  if (method !== "GET" || !fields.every(isKnown)) return null;
  const asked: CacheRequest = {
    method,
    url,
    headers: fields,
    cacheMode: "default",
    // Only what the fields say counts.
    destination: "",
    mode: "same-origin",
    origin: null,
    referrer: "",
  };
  const selector = JSON.stringify([url, ...SELECTING.map((name) => headers.get(name))]);
  const directives = Object.keys(DIRECTIVES).map((name) => headers.get(name));
  const site = toHex(digestOf(siteOf(topLevelOrigin) ?? "").subarray(0, SITE_BYTES));
  return { asked, selector, identity: JSON.stringify([selector, ...directives]), site };
}

/** The URL as its hash: stores limit the length of keys, and need not know where people were. */
export function keyOf({ asked, selector }: ShareableRequest): string {
  const [slot = 0] = digestOf(selector);
  return `https://shared-cache.ropeway.invalid/${toHex(digestOf(asked.url))}/${slot % MOST_VARIANTS}`;
}

function digestOf(text: string): Uint8Array {
  return sha256(new TextEncoder().encode(text));
}
