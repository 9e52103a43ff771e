/** Which referrer a request carries, with real URLs. Referrer Policy, section 8.3. */
import { parseUrl } from "../slot-url.ts";

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

/** Potentially trustworthy in the sense of Secure Contexts section 3.1, for http(s) and ws(s) URLs. */
export function isTrustworthy(url: URL): boolean {
  if (url.protocol === "https:" || url.protocol === "wss:") return true;
  const host = url.hostname;
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/**
 * The policy that a `Referrer-Policy` field value, a `referrerpolicy` attribute or `<meta name=referrer>` sets: the
 * last token known, or "" when there is none.
 */
export function parseReferrerPolicy(value: string): ReferrerPolicy | "" {
  const known = value.split(/[\s,]+/).filter((token) => POLICIES.has(token.toLowerCase()));
  return (known.at(-1)?.toLowerCase() ?? "") as ReferrerPolicy | "";
}

export interface ReferrerInput {
  /** "" stands for the default. */
  readonly policy: ReferrerPolicy | "";
  /** Real URL of the document that asks. */
  readonly referrerSource: string;
  /** Real URL asked for. */
  readonly targetUrl: string;
}

/** The value of `Referer`, or "" for none: also when either side is no http(s) URL. */
export function computeReferrer({ policy, referrerSource, targetUrl }: ReferrerInput): string {
  const source = parseUrl(referrerSource);
  const target = parseUrl(targetUrl);
  if (source === null || target === null || !/^https?:$/.test(source.protocol)) return "";
  source.username = "";
  source.password = "";
  source.hash = "";
  const origin = `${source.origin}/`;
  const full = source.href.length > REFERRER_LENGTH_MAX ? origin : source.href;
  const sameOrigin = source.origin === target.origin;
  const downgrade = isTrustworthy(source) && !isTrustworthy(target);
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
