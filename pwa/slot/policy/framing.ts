/** Whether a document may be shown in a frame. The browser sees slots, so this is decided here, with real origins. */

import { headerValues } from "../../../shared/http/head-fields.ts";
import type { HeaderList } from "../../../shared/http/heads.ts";
import { parsePolicies, sourceMatchesOrigin } from "../../../shared/web/policies.ts";

/**
 * `frame-ancestors` (CSP Level 3, section 6.4.2), or X-Frame-Options where no policy has it (HTML section 7.7).
 * `ancestors`: real origins from the parent up to the page on top. Not for the page itself, which always may.
 */
export function framingAllowed(headers: HeaderList, ancestors: readonly string[], ownOrigin: string): boolean {
  const policies = headerValues(headers, "content-security-policy")
    .flatMap(parsePolicies)
    .filter((policy) => policy.has("frame-ancestors"));
  if (policies.length > 0) {
    return policies.every((policy) => {
      const sources = policy.get("frame-ancestors") ?? [];
      return ancestors.every((origin) => sources.some((source) => sourceMatchesOrigin(source, origin, ownOrigin)));
    });
  }
  const options = new Set(
    headerValues(headers, "x-frame-options")
      .flatMap((value) => value.split(","))
      .map((value) => value.trim().toLowerCase())
      .filter((value) => value !== ""),
  );
  if (options.size > 1) return !["deny", "allowall", "sameorigin"].some((value) => options.has(value));
  if (options.has("deny")) return false;
  return !options.has("sameorigin") || ancestors.every((origin) => origin === ownOrigin);
}
