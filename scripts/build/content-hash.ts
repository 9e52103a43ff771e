import { createHash } from "node:crypto";

/** Short enough for an ETag, long enough to never collide here. */
export function contentHash(contents: Uint8Array): string {
  return createHash("sha256").update(contents).digest("hex").slice(0, 20);
}

/** Stands for the hash in the names of scripts that name each other, until all of them are built. As long as one. */
export const UNKNOWN_HASH = "content-hash-unknown";

/** The path of a file without the hash that its name may have: `a/b.js` of `a/b-<hash>.js`. */
export function withoutContentHash(path: string): string {
  return path.replace(/-[0-9a-f]{20}(?=\.(?:js|css|json)$)/, "");
}
