/** How much is stored. */
import type { StoreBounds } from "./store-changes.ts";

export interface StoreOptions extends StoreBounds {
  /** Largest body, and what of one may wait to be written. */
  readonly bodyBytes: number;
  readonly blockBytes: number;
}

/** Bytes of bodies: a fifth of what browsers keep, and little of a phone's disk. */
const STORE_BYTES = 200 * 1000 * 1000;

export const STORE_OPTIONS: StoreOptions = {
  bytes: STORE_BYTES,
  // About 1 KB each; a hundred sites of eighty resources.
  entries: 8192,
  bodyBytes: STORE_BYTES / 8,
  blockBytes: 256 * 1024,
};
