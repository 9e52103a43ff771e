/** Heads of responses on a slot: the origin's fields that the page gets to see, as they read there, and rules of framing. */
import { headerValues } from "../../../shared/http/head-fields.ts";
import type { HeaderField, HeaderList, ReferrerPolicy } from "../../../shared/http/heads.ts";
import { SUFFIX_NOTE } from "../../../shared/web/cookie.ts";
import { DOCUMENT_NOTE } from "../../../shared/web/documents.ts";
import { parseUrl } from "../../../shared/web/origin.ts";
import { parsePolicies, parseReferrerPolicy, sourceMatchesOrigin } from "../../../shared/web/policies.ts";
import {
  allowedConnections,
  heldPolicies,
  opaqueDocumentPolicy,
  type PolicyContext,
  slotPermissionsPolicy,
  slotPolicy,
  transformPolicies,
} from "../policy.ts";
import { ropewayPath, ropewayUrl, toSlot } from "../slot-url.ts";
import { NEUTRALISED_RELATIONS, rewriteRefresh } from "./html-rewriter.ts";

export interface HeaderContext extends PolicyContext {
  /** Use of the response: documents and workers carry policies, other resources do not, scripts only read. */
  readonly kind: "document" | "worker" | "resource" | "read";
  /** Real URL of the response: base of relative URLs in fields. */
  readonly url: string;
}

interface PageHeaders {
  readonly headers: HeaderList;
  /** See `TransformedPolicies`. */
  readonly upgradesInsecureRequests: boolean;
  readonly opaque: boolean;
  readonly silent: boolean;
  /** Of a document's or a worker's policies those that `heldPolicies` names. */
  readonly connect: readonly string[];
  /** Text of the field, "" for none: the page script needs it for navigations that it hands on. */
  readonly referrerPolicy: ReferrerPolicy | "";
}

const DROPPED: ReadonlySet<string> = new Set([
  // The jar is at the edge.
  "set-cookie",
  "set-cookie2",
  // About the connection, not about the content.
  "alt-svc",
  "connection",
  "content-encoding",
  "keep-alive",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "via",
  // Addressed to a host: the slot is not the origin's host, and is thrown away.
  "clear-site-data",
  "expect-ct",
  "origin-agent-cluster",
  "public-key-pins",
  "public-key-pins-report-only",
  "service-worker-allowed",
  "service-worker-navigation-preload",
  "strict-transport-security",
  // Would make the browser send reports or requests past the service worker.
  "content-security-policy-report-only",
  "document-policy-report-only",
  "nel",
  "permissions-policy-report-only",
  "report-to",
  "reporting-endpoints",
  "speculation-rules",
  "supports-loading-mode",
  "use-as-dictionary",
  DOCUMENT_NOTE,
  SUFFIX_NOTE,
  // Decided with real origins: framing by framingAllowed, the others at the edge. A slot is framed by the shell and
  // frames other slots, none of which answers with COEP or CORP.
  "cross-origin-embedder-policy",
  "cross-origin-embedder-policy-report-only",
  "cross-origin-opener-policy",
  "cross-origin-opener-policy-report-only",
  "cross-origin-resource-policy",
  "require-document-policy",
  "x-frame-options",
  // Would refuse the page script, which carries no integrity metadata.
  "integrity-policy",
  "integrity-policy-report-only",
  // Names real origins; replaced by ours.
  "connection-allowlist",
  "connection-allowlist-report-only",
  // Client hints are the edge's; trial tokens are bound to the real origin.
  "accept-ch",
  "critical-ch",
  "origin-trial",
  // Features of advertising and login that the browser itself acts on.
  "activate-storage-access",
  "observe-browsing-topics",
  "set-login",
  "shared-storage-write",
]);

/** Written by `policyFields`, from all lines together. */
const POLICY_FIELDS: ReadonlySet<string> = new Set(["content-security-policy", "permissions-policy"]);

/** Nothing acts on these where a script reads them. */
const READABLE: ReadonlySet<string> = new Set([
  // A coding that neither edge nor phone knows, and so did not undo.
  "content-encoding",
  "content-security-policy",
  "public-key-pins",
  "x-frame-options",
]);

const QUOTED = /"(?:\\.|[^"\\])*"/sy;

/** Splits at commas outside of `<…>` and quotes (RFC 8288 section 3), in one pass. Brackets and quotes never closed are plain text. */
function splitLinks(value: string): string[] {
  const links: string[] = [];
  let [start, lastQuote] = [0, value.length];
  const lastClose = value.lastIndexOf(">");
  for (let at = 0; at < value.length; at++) {
    if (value[at] === "<" && at < lastClose) at = value.indexOf(">", at);
    else if (value[at] === '"' && at < lastQuote) {
      QUOTED.lastIndex = at;
      const quoted = QUOTED.exec(value)?.[0];
      if (quoted === undefined) lastQuote = at;
      else at += quoted.length - 1;
    } else if (value[at] === ",") {
      links.push(value.slice(start, at));
      start = at + 1;
    }
  }
  return [...links, value.slice(start)].filter((link) => link !== "");
}

function filterLink(value: string): string {
  return splitLinks(value)
    .filter((link) => {
      const [, quoted, plain] =
        /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]*))/i.exec(link.replace(/^[^<]*<[^>]*>/, "")) ?? [];
      const relations = (quoted ?? plain ?? "").toLowerCase().split(/\s+/);
      return !relations.some((relation) => NEUTRALISED_RELATIONS.has(relation));
    })
    .map((link) => link.trim())
    .join(", ");
}

/** Slot URL for the real origin, `/.ropeway/go` for others; null for URLs that are neither http: nor https:. */
function refreshTarget(url: string, context: HeaderContext): string | null {
  const target = parseUrl(url, context.url);
  if (target === null || !/^https?:$/.test(target.protocol)) return null;
  if (target.origin === context.realOrigin) return toSlot(target.href, context);
  return ropewayUrl(ropewayPath.go, target.href);
}

function rewriteField([name, value]: HeaderField, context: HeaderContext): HeaderField | null {
  if (context.kind === "read" && READABLE.has(name)) return [name, value];
  if (DROPPED.has(name) || POLICY_FIELDS.has(name) || name.startsWith("attribution-reporting-")) return null;
  if (name === "link") {
    const kept = filterLink(value);
    return kept === "" ? null : [name, kept];
  }
  if (name === "refresh") return [name, rewriteRefresh(value, (url) => refreshTarget(url, context)) ?? value];
  if (name === "location") {
    // An empty Location leads nowhere, but the browser would take it for this address.
    if (value === "") return context.kind === "read" ? [name, value] : null;
    const target = parseUrl(value, context.url);
    // A script compares the field with the text that its server writes.
    const isRelative = !/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(value);
    return [name, target === null || (context.kind === "read" && isRelative) ? value : toSlot(target.href, context)];
  }
  return [name, value];
}

/** Names are lower case, as everywhere in heads. The caller sets content-type and content-length to what it sends. */
export function pageHeaders(headers: HeaderList, context: HeaderContext): PageHeaders {
  const kept: HeaderField[] = [];
  for (const field of headers) {
    const rewritten = rewriteField(field, context);
    if (rewritten !== null) kept.push(rewritten);
  }
  const referrerPolicy = parseReferrerPolicy(headerValues(headers, "referrer-policy").join(","));
  if (context.kind === "resource" || context.kind === "read") {
    return {
      headers: kept,
      upgradesInsecureRequests: false,
      opaque: false,
      silent: false,
      connect: [],
      referrerPolicy,
    };
  }
  const own = headerValues(headers, "content-security-policy");
  const { policies, ...result } = transformPolicies(own, context);
  for (const policy of policies) kept.push(["content-security-policy", policy]);
  kept.push(["content-security-policy", slotPolicy(context)]);
  if (context.kind === "document") {
    if (result.opaque) kept.push(["content-security-policy", opaqueDocumentPolicy]);
    const permissions = [...headerValues(headers, "permissions-policy"), slotPermissionsPolicy].join(", ");
    kept.push(["permissions-policy", permissions], ["connection-allowlist", allowedConnections()]);
    // Chromium resolves the hosts of links ahead on http: pages; nothing may ask a resolver here.
    kept.push(["x-dns-prefetch-control", "off"]);
  }
  return { headers: kept, ...result, connect: heldPolicies(own), referrerPolicy };
}

/**
 * Whether a document may be shown in a frame. The browser sees slots, so this is decided here, with real origins:
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
