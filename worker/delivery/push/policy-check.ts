/**
 * Whether a document's Content Security Policies let it load a resource. Where they do not, markup that somebody smuggled
 * into the document must not make the edge ask for it either: the address alone could carry a secret away.
 */
import { type Policy, parseHostSource, sourceMatchesOrigin } from "../../../shared/web/csp-source.ts";
import type { NamedResource } from "./document-scanner.ts";

/** CSP Level 3 section 6.8.1, the first that is there decides. */
const DIRECTIVES: Readonly<Record<string, readonly string[]>> = {
  "": ["connect-src", "default-src"],
  font: ["font-src", "default-src"],
  image: ["img-src", "default-src"],
  script: ["script-src-elem", "script-src", "default-src"],
  style: ["style-src-elem", "style-src", "default-src"],
};

/** Sources that make a browser pass over 'unsafe-inline'. */
const EXACT = /^'(?:nonce|sha256|sha384|sha512)-/;

export function isAllowed(
  policies: readonly Policy[],
  resource: Pick<NamedResource, "destination" | "nonce">,
  url: URL,
  documentOrigin: string,
): boolean {
  return policies.every((policy) => {
    const name = DIRECTIVES[resource.destination]?.find((directive) => policy.has(directive));
    return name === undefined || sourcesAllow(policy.get(name) ?? [], resource, url, documentOrigin);
  });
}

/** Whether what `style` attributes say holds (CSP Level 3 sections 6.8.1 and 6.7.3.2). Hashes of them are not looked up. */
export function allowsStyleAttributes(policies: readonly Policy[]): boolean {
  return allowsInline(policies, "style-src-attr", "");
}

/** Whether a `<style>` holds. Hashes of it are not looked up. */
export function allowsStyle(policies: readonly Policy[], nonce: string): boolean {
  return allowsInline(policies, "style-src-elem", nonce);
}

function allowsInline(policies: readonly Policy[], directive: string, nonce: string): boolean {
  return policies.every((policy) => {
    const sources = [directive, "style-src", "default-src"].map((name) => policy.get(name)).find(Boolean);
    if (nonce !== "" && sources?.includes(`'nonce-${nonce}'`)) return true;
    const lower = sources?.map((source) => source.toLowerCase());
    return lower === undefined || (lower.includes("'unsafe-inline'") && !lower.some((source) => EXACT.test(source)));
  });
}

/** Whether relative addresses may be resolved against `base` (CSP Level 3 section 6.3.1). */
export function isAllowedBase(policies: readonly Policy[], base: URL, documentOrigin: string): boolean {
  return policies.every(
    (policy) => policy.get("base-uri")?.some((source) => covers(source, base, documentOrigin)) ?? true,
  );
}

/** Whether the document is shown with an origin of its own, so that its requests go where ours would. */
export function isOpaque(policies: readonly Policy[]): boolean {
  return policies.some((policy) => {
    const sandbox = policy.get("sandbox");
    return sandbox !== undefined && !sandbox.some((token) => token.toLowerCase() === "allow-same-origin");
  });
}

function sourcesAllow(
  sources: readonly string[],
  { destination, nonce }: Pick<NamedResource, "destination" | "nonce">,
  url: URL,
  documentOrigin: string,
): boolean {
  const takesNonces = destination === "script" || destination === "style";
  if (takesNonces && nonce !== "" && sources.includes(`'nonce-${nonce}'`)) return true;
  const isStrict = sources.some((source) => source.toLowerCase() === "'strict-dynamic'");
  if (destination === "script" && isStrict) return false;
  return sources.some((source) => covers(source, url, documentOrigin));
}

function covers(source: string, url: URL, documentOrigin: string): boolean {
  return sourceMatchesOrigin(source, url.origin, documentOrigin) && pathMatches(source, url.pathname);
}

/** CSP Level 3 section 6.7.2.11. */
function pathMatches(source: string, pathname: string): boolean {
  const path = parseHostSource(source)?.path ?? "/";
  return path === "/" || (path.endsWith("/") ? pathname.startsWith(path) : pathname === path);
}
