/**
 * Referrer policy (W3C Referrer Policy section 8.3) for the hops of a redirect. The phone has applied the page's own
 * policy to the first request; a hop may only ever tell less than that.
 */
import type { RequestHead } from "../../../shared/http/heads.ts";
import { isSameOrigin } from "./site.ts";
import { bareUrl } from "./url-credentials.ts";

const POLICIES = [
  "no-referrer",
  "no-referrer-when-downgrade",
  "same-origin",
  "origin",
  "strict-origin",
  "origin-when-cross-origin",
  "strict-origin-when-cross-origin",
  "unsafe-url",
] as const;

export type ReferrerPolicy = (typeof POLICIES)[number];

export const DEFAULT_REFERRER_POLICY: ReferrerPolicy = "strict-origin-when-cross-origin";

/** The last token of a Referrer-Policy field that is known (section 8.1), or null. */
export function parseReferrerPolicy(field: string | null): ReferrerPolicy | null {
  const tokens = (field ?? "").toLowerCase().split(",");
  return (
    tokens.map((token) => POLICIES.find((policy) => policy === token.trim())).findLast((p) => p !== undefined) ?? null
  );
}

/** The referrer that a request may begin with: of who asks, or none. What loads from elsewhere refers to nothing. */
export function ownReferrer({ referrer, origin }: Pick<RequestHead, "referrer" | "origin">): string {
  return isSameOrigin(referrer, origin) ? bareUrl(new URL(referrer)).href : "";
}

/** What remains of `referrer` in a request for `url`; "" for none. */
export function applyReferrerPolicy(policy: ReferrerPolicy, referrer: string, url: URL): string {
  if (!URL.canParse(referrer)) return "";
  const from = new URL(referrer);
  const origin = `${from.origin}/`;
  const sameOrigin = from.origin === url.origin;
  const downgrade = from.protocol === "https:" && url.protocol !== "https:";
  switch (policy) {
    case "no-referrer":
      return "";
    case "no-referrer-when-downgrade":
      return downgrade ? "" : referrer;
    case "same-origin":
      return sameOrigin ? referrer : "";
    case "origin":
      return origin;
    case "strict-origin":
      return downgrade ? "" : origin;
    case "origin-when-cross-origin":
      return sameOrigin ? referrer : origin;
    case "strict-origin-when-cross-origin":
      if (sameOrigin) return referrer;
      return downgrade ? "" : origin;
    case "unsafe-url":
      return referrer;
  }
}
