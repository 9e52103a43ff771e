import type { RequestHead } from "../../../shared/http/heads.ts";
import { bareUrl, isSameOrigin } from "../../../shared/web/origin.ts";

/** The referrer that a request may begin with: of who asks, or none. What loads from elsewhere refers to nothing. */
export function ownReferrer({ referrer, origin }: Pick<RequestHead, "referrer" | "origin">): string {
  return isSameOrigin(referrer, origin) ? bareUrl(new URL(referrer)).href : "";
}
