/** The fields of a document without scripts. None of the origin's but those that are named here. */
import { headerValues } from "../../../shared/http/head-fields.ts";
import type { HeaderList } from "../../../shared/http/heads.ts";
import { parsePolicies, serializePolicy } from "../../../shared/web/policies.ts";
import { pageConnections } from "../../slot/policy/connection-allowlist.ts";
import {
  type PolicyContext,
  slotPermissionsPolicy,
  transformPolicies,
} from "../../slot/policy/content-security-policy.ts";

/** Nothing in them acts for the whole origin, which is the app's. */
const KEPT_FIELDS: ReadonlySet<string> = new Set(["content-language", "referrer-policy"]);

/** What an origin's policy may say: where pictures, styles, fonts and films come from. */
const KEPT_DIRECTIVES: ReadonlySet<string> = new Set([
  "default-src",
  "font-src",
  "img-src",
  "media-src",
  "style-src",
  "style-src-attr",
  "style-src-elem",
]);

/**
 * Whatever a frame around it may. The sandbox holds for the document itself, so that the one frame of a tab can show
 * pages with scripts and without.
 */
const POLICY = [
  "sandbox allow-same-origin allow-forms",
  "default-src http: https: data: blob:",
  "script-src 'none'",
  "style-src http: https: data: blob: 'unsafe-inline'",
  "connect-src 'none'",
  "object-src 'none'",
  "frame-src 'none'",
  "worker-src 'none'",
  "manifest-src 'none'",
  "form-action 'self'",
  "base-uri http: https:",
  "frame-ancestors 'self'",
].join("; ");

/** @param values field lines, or one `content` of `<meta http-equiv>`. @returns a value for each policy. */
export function keptPolicies(values: readonly string[], context: PolicyContext): string[] {
  const { policies } = transformPolicies(values, context);
  return policies.flatMap(parsePolicies).flatMap((policy) => {
    for (const [name, sources] of [...policy]) {
      if (!KEPT_DIRECTIVES.has(name)) policy.delete(name);
      // A path without a slash at its end is one file's.
      else
        policy.set(
          name,
          sources.map((source) => (source === context.slotOrigin ? `${source}/` : source)),
        );
    }
    return policy.size === 0 ? [] : [serializePolicy(policy)];
  });
}

/** @param headers of the origin's response; none for a document of the app's own. */
export function liteHeaders(headers: HeaderList, context: PolicyContext): Headers {
  const kept = new Headers({
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": POLICY,
    "connection-allowlist": pageConnections,
    "permissions-policy": slotPermissionsPolicy,
    "x-content-type-options": "nosniff",
    "x-dns-prefetch-control": "off",
    "cross-origin-resource-policy": "same-origin",
  });
  for (const [name, value] of headers) if (KEPT_FIELDS.has(name)) kept.append(name, value);
  for (const policy of keptPolicies(headerValues(headers, "content-security-policy"), context))
    kept.append("content-security-policy", policy);
  // http: addresses of a page whose place is https: would be blocked before the service worker sees them.
  if (context.slotOrigin.startsWith("https:") && context.realOrigin.startsWith("http:"))
    kept.append("content-security-policy", "upgrade-insecure-requests");
  return kept;
}
