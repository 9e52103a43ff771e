/** Which referrer a request carries, with real URLs. Referrer Policy, section 8.3. */
import { bareUrl, isPotentiallyTrustworthy, parseUrl } from "./origin.ts";

export type ReferrerPolicy =
  | "no-referrer"
  | "no-referrer-when-downgrade"
  | "same-origin"
  | "origin"
  | "strict-origin"
  | "origin-when-cross-origin"
  | "strict-origin-when-cross-origin"
  | "unsafe-url";

const DEFAULT_POLICY: ReferrerPolicy = "strict-origin-when-cross-origin";

const POLICIES: ReadonlySet<string> = new Set<ReferrerPolicy>([
  "no-referrer",
  "no-referrer-when-downgrade",
  "same-origin",
  "origin",
  "strict-origin",
  "origin-when-cross-origin",
  DEFAULT_POLICY,
  "unsafe-url",
]);

/** Longest referrer in characters before it is cut to the origin (section 8.3 step 6). */
const REFERRER_LENGTH_MAX = 4096;

/**
 * The policy that a `Referrer-Policy` field value, a `referrerpolicy` attribute or `<meta name=referrer>` sets: the
 * last token known, or "" when there is none.
 */
export function parseReferrerPolicy(value: string | null): ReferrerPolicy | "" {
  const known = (value ?? "").split(/[\s,]+/).filter((token) => POLICIES.has(token.toLowerCase()));
  return (known.at(-1)?.toLowerCase() ?? "") as ReferrerPolicy | "";
}

/**
 * The value of `Referer`, or "" for none: also when either side is no http(s) URL.
 *
 * @param policy "" stands for the default.
 * @param referrer real URL of who asks, or what is left of it.
 * @param url real URL asked for.
 */
export function applyReferrerPolicy(policy: ReferrerPolicy | "", referrer: string, url: string): string {
  const source = parseUrl(referrer);
  const target = parseUrl(url);
  if (source === null || target === null || !/^https?:$/.test(source.protocol)) return "";
  const origin = `${source.origin}/`;
  const { href } = bareUrl(source);
  const full = href.length > REFERRER_LENGTH_MAX ? origin : href;
  const sameOrigin = source.origin === target.origin;
  const downgrade = isPotentiallyTrustworthy(source) && !isPotentiallyTrustworthy(target);
  switch (policy === "" ? DEFAULT_POLICY : policy) {
    case "no-referrer":
      return "";
    case "origin":
      return origin;
    case "unsafe-url":
      return full;
    case "strict-origin":
      return downgrade ? "" : origin;
    case "strict-origin-when-cross-origin":
      if (sameOrigin) return full;
      return downgrade ? "" : origin;
    case "same-origin":
      return sameOrigin ? full : "";
    case "origin-when-cross-origin":
      return sameOrigin ? full : origin;
    case "no-referrer-when-downgrade":
      return downgrade ? "" : full;
  }
}
