/** How much is stored. */
import { DEFAULT_STORE_BYTES } from "../../../messages/tunnel-messages.ts";
import type { StoreBounds } from "./store-changes.ts";

export interface StoreOptions extends StoreBounds {
  /** Largest body. */
  readonly bodyBytes: number;
  /** What of bodies may wait for the disk, all together; what does not find room is not stored. */
  readonly backlogBytes: number;
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
    // Several of the largest scripts that pages have, at once.
    backlogBytes: 8 * 1024 * 1024,
  };
}

export const STORE_OPTIONS = storeOptions(() => DEFAULT_STORE_BYTES);
