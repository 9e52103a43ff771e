/** Fields that the edge adds to a response for the phone's store, and for no page: PROTOCOL.md section 5.2. */
import type { HeaderField } from "./heads.ts";

/** Seconds that the response was old when the edge got it, where its own fields do not say so. */
export const HIDDEN_AGE = "ropeway-age";
/** The validators of a response of another origin, where its page is not shown them. */
export const HIDDEN_ETAG = "ropeway-etag";
export const HIDDEN_LAST_MODIFIED = "ropeway-last-modified";
/** Serialized origins whose responses in the exchange, of redirects too, said to empty their cache. */
export const CLEARED_ORIGINS = "ropeway-cleared";
/** "hit" where the edge's shared cache had the response, or a part of getting it. */
export const SHARED_CACHE = "ropeway-shared-cache";

export function clearedField(origins: ReadonlySet<string>): HeaderField[] {
  return origins.size === 0 ? [] : [[CLEARED_ORIGINS, [...origins].join(" ")]];
}

export function isStoreNote([name]: HeaderField): boolean {
  return name.startsWith("ropeway-");
}
