import { createHash } from "node:crypto";

/** Short enough for an ETag, long enough to never collide here. */
export function contentHash(contents: Uint8Array): string {
  return createHash("sha256").update(contents).digest("hex").slice(0, 20);
}
