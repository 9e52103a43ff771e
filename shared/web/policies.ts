/** Policies that a document brings: what it may load, and what it says of itself as a referrer. */
import { REFERRER_POLICIES, type ReferrerPolicy } from "../http/heads.ts";
import { bareUrl, isPotentiallyTrustworthy, parseUrl } from "./origin.ts";

// The referrer that a request carries, with real URLs. Referrer Policy, section 8.3.

export const DEFAULT_POLICY: ReferrerPolicy = "strict-origin-when-cross-origin";

const POLICIES: ReadonlySet<string> = new Set(REFERRER_POLICIES);

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

/** Older words of `<meta name=referrer>` (HTML section 4.2.5.1). */
const OLD_POLICIES: Readonly<Record<string, ReferrerPolicy>> = {
  never: "no-referrer",
  default: DEFAULT_POLICY,
  always: "unsafe-url",
  "origin-when-crossorigin": "origin-when-cross-origin",
};

/** As `parseReferrerPolicy`, for the content of `<meta name=referrer>`. */
export function parseMetaReferrer(content: string): ReferrerPolicy | "" {
  return OLD_POLICIES[content.trim().toLowerCase()] ?? parseReferrerPolicy(content);
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

// Content Security Policies: parsing of values, and matching of source expressions. CSP Level 3, section 6.7.2.

/** Directives of one policy in order: lower-case name, source list as written. The first of a name counts. */
export type Policy = Map<string, string[]>;

/** Policies of one field or `<meta>` value: commas part policies, semicolons part directives. */
export function parsePolicies(value: string): Policy[] {
  const policies: Policy[] = [];
  for (const text of value.split(",")) {
    const policy: Policy = new Map();
    for (const directive of text.split(";")) {
      const [name, ...sources] = directive.trim().split(/[\t\n\f\r ]+/);
      const key = name?.toLowerCase() ?? "";
      if (key !== "" && !policy.has(key)) policy.set(key, sources);
    }
    if (policy.size > 0) policies.push(policy);
  }
  return policies;
}

export function serializePolicy(policy: Policy): string {
  return [...policy].map(([name, sources]) => [name, ...sources].join(" ")).join("; ");
}

export function isNone(sources: readonly string[]): boolean {
  return sources.length === 0 || (sources.length === 1 && sources[0]?.toLowerCase() === "'none'");
}

const HOST_SOURCE =
  /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::(\d+|\*))?(\/.*)?$/i;

export interface HostSource {
  readonly scheme: string | undefined;
  readonly host: string;
  readonly port: string | undefined;
  readonly path: string | undefined;
}

export function parseHostSource(expression: string): HostSource | null {
  const match = HOST_SOURCE.exec(expression);
  if (match === null) return null;
  const [, scheme, host = "", port, path] = match;
  return { scheme: scheme?.toLowerCase(), host: host.toLowerCase(), port, path };
}

export function schemeMatches(allowed: string, actual: string): boolean {
  return allowed === actual || (allowed === "http" && actual === "https") || (allowed === "ws" && actual === "wss");
}

/** Whether scheme and port of a source cover those of an `http:` or `https:` URL. */
export function portMatches(source: HostSource, url: URL, selfScheme: string): boolean {
  const scheme = url.protocol.slice(0, -1);
  if (!schemeMatches(source.scheme ?? selfScheme, scheme)) return false;
  const port = url.port === "" ? (scheme === "https" ? "443" : "80") : url.port;
  if (source.port === "*" || source.port === port) return true;
  if (source.port === undefined) return url.port === "";
  return source.port === "80" && port === "443" && scheme === "https";
}

/**
 * Whether a source expression covers an origin, paths aside; `'self'` stands for `selfOrigin`. Origins are
 * serialized http(s) ones; anything else (`null`) matches nothing.
 */
export function sourceMatchesOrigin(expression: string, origin: string, selfOrigin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const url = new URL(origin);
  const scheme = url.protocol.slice(0, -1);
  const selfScheme = selfOrigin.slice(0, selfOrigin.indexOf(":"));
  const lower = expression.toLowerCase();
  if (lower === "'self'") return url.origin === selfOrigin;
  if (lower === "*") return schemeMatches("http", scheme) || scheme === selfScheme;
  if (/^[a-z][a-z0-9+.-]*:$/.test(lower)) return schemeMatches(lower.slice(0, -1), scheme);
  const source = parseHostSource(expression);
  if (source === null) return false;
  if (source.host.startsWith("*")) {
    if (source.host !== "*" && !url.hostname.endsWith(source.host.slice(1))) return false;
  } else if (source.host !== url.hostname) return false;
  return portMatches(source, url, selfScheme);
}
