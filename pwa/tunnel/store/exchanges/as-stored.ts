import { type CacheRequest, decide, type StoredResponse } from "../../../../shared/http-cache/cache-rules.ts";

/** Which of the stored responses a request gets however old they are, unless it wants none that is stored. */
export function asStored<S extends StoredResponse>(head: CacheRequest, variants: readonly S[], now: number): S | null {
  const { cacheMode } = head;
  const mode = cacheMode === "default" || cacheMode === "no-cache" ? "force-cache" : cacheMode;
  const decision = decide({ ...head, cacheMode: mode }, variants, now);
  return decision.kind === "answer" ? decision.stored : null;
}
