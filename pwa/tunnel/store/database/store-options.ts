/** How much is stored. */
import { DEFAULT_STORE_BYTES } from "../../../messages/tunnel-messages.ts";
import type { StoreBounds } from "./store-changes.ts";

export interface StoreOptions extends StoreBounds {
  /** Largest body, and what of one may wait to be written. */
  readonly bodyBytes: number;
  readonly blockBytes: number;
}

/** @param bytes of bodies, as of now. */
export function storeOptions(bytes: () => number): StoreOptions {
  return {
    get bytes() {
      return bytes();
    },
    get bodyBytes() {
      return bytes() / 8;
    },
    // About 1 KB each; a hundred sites of eighty resources.
    entries: 8192,
    blockBytes: 256 * 1024,
  };
}

export const STORE_OPTIONS = storeOptions(() => DEFAULT_STORE_BYTES);
