/**
 * Policies of a slot's documents. The origin's own policies are rewritten so that they mean on the slot what they meant on
 * the real origin; policies of ours are sent beside them (policies intersect).
 */
import {
  isNone,
  type Policy,
  parseHostSource,
  parsePolicies,
  serializePolicy,
  sourceMatchesOrigin,
} from "../../shared/web/policies.ts";
import { ropewayPath, type SlotIdentity } from "./slot-url.ts";

export interface PolicyContext extends SlotIdentity {
  /** Sources of all slots: `http://*.localhost:8787`. */
  readonly slotSources: string;
  /** The page script element's nonce, without quotes; fresh for every document. */
  readonly nonce: string;
}

interface TransformedPolicies {
  /** A value for each policy, to be sent as fields of their own. */
  readonly policies: readonly string[];
  /** `upgrade-insecure-requests` was asked for but cannot be left to the browser: the slot itself is http:. */
  readonly upgradesInsecureRequests: boolean;
  /**
   * The document is sandboxed into an opaque origin with scripts. No service worker controls such a document
   * (Chromium 156), so it needs `opaqueDocumentPolicy`, and the page script is of no use in it.
   */
  readonly opaque: boolean;
  /** Sandboxed so that the page script cannot run: the document cannot say itself that it is there. */
  readonly silent: boolean;
}

/** Name of the page script's Trusted Types policy; a page's `trusted-types` directive is made to admit it. */
export const TRUSTED_TYPES_POLICY = "ropeway";

/** The reports would name slots; frame-ancestors is enforced by `framingAllowed`, with real origins. */
const DROPPED = ["report-uri", "report-to", "frame-ancestors", "block-all-mixed-content"];
const NO_SOURCE_LIST = new Set(["sandbox", "plugin-types", "require-sri-for", "require-trusted-types-for"]);
const FRAME_DIRECTIVES = ["frame-src", "child-src", "default-src"];
const SCRIPT_DIRECTIVES = ["script-src-elem", "script-src", "default-src"];

/** Wherever the real origin is allowed, the slot is too, and the other way round. */
function withBothOrigins(sources: readonly string[], slot: SlotIdentity): string[] {
  const result = [...sources];
  for (const expression of sources) {
    const path = parseHostSource(expression)?.path ?? "";
    if (expression.toLowerCase() === "'self'") result.push(slot.realOrigin);
    else if (expression !== "*" && sourceMatchesOrigin(expression, slot.realOrigin, slot.realOrigin))
      result.push(slot.slotOrigin + path);
  }
  return [...new Set(result)];
}

function governing(policy: Policy, names: readonly string[]): readonly string[] | undefined {
  for (const name of names) {
    const sources = policy.get(name);
    if (sources !== undefined) return sources;
  }
  return undefined;
}

/** Whether each policy has a fitting source in the first of these directives that it names, if it names any. */
function covers(policies: readonly Policy[], names: readonly string[], isFor: (source: string) => boolean): boolean {
  return policies.every((policy) => governing(policy, names)?.some(isFor) ?? true);
}

/** Frames of other origins load a placeholder from the slot, then go to a slot of their own. */
function allowFrames(policy: Policy, context: PolicyContext): void {
  const sources = governing(policy, FRAME_DIRECTIVES);
  if (sources === undefined || isNone(sources)) return;
  policy.set("frame-src", [...new Set([...sources, "'self'", context.slotSources])]);
}

/** Forms that lead frames to other origins go by way of the placeholder. */
function allowForms(policy: Policy, { slotOrigin }: PolicyContext): void {
  const targets = policy.get("form-action");
  if (targets !== undefined && !isNone(targets))
    policy.set("form-action", [...targets, slotOrigin + ropewayPath.frame]);
}

/**
 * Lets the page script's element through, and the map of imports that it makes. A nonce only where it does not switch
 * 'unsafe-inline' off. A directive of its own keeps eval, event handlers, workers and styles as they were.
 */
function allowPageScript(policy: Policy, context: PolicyContext): void {
  const sources = governing(policy, SCRIPT_DIRECTIVES);
  if (sources === undefined) return;
  const isStrict = sources.some((expression) => /^'(nonce-|sha\d|strict-dynamic)/i.test(expression));
  const isOpen = !isStrict && sources.some((expression) => /^'unsafe-inline'$/i.test(expression));
  const ours = isOpen ? context.slotOrigin + ropewayPath.pageScript : `'nonce-${context.nonce}'`;
  policy.set("script-src-elem", isNone(sources) ? [ours] : [...sources, ours]);
}

function allowTrustedTypesPolicy(policy: Policy): void {
  const names = policy.get("trusted-types");
  if (names === undefined) return;
  policy.set("trusted-types", isNone(names) ? [TRUSTED_TYPES_POLICY] : [...names, TRUSTED_TYPES_POLICY]);
}

/** Rewrites the origin's policies. `values`: field lines, or one `content` of `<meta http-equiv>`. */
export function transformPolicies(values: readonly string[], context: PolicyContext): TransformedPolicies {
  const policies: string[] = [];
  let upgradesInsecureRequests = false;
  let opaque = false;
  let silent = false;
  for (const policy of values.flatMap(parsePolicies)) {
    for (const name of DROPPED) policy.delete(name);
    if (context.slotOrigin.startsWith("http:") && policy.delete("upgrade-insecure-requests"))
      upgradesInsecureRequests = true;
    const sandbox = policy.get("sandbox")?.map((token) => token.toLowerCase());
    if (sandbox !== undefined && !(sandbox.includes("allow-scripts") && sandbox.includes("allow-same-origin")))
      silent = true;
    if (sandbox !== undefined && !sandbox.includes("allow-same-origin")) {
      if (sandbox.includes("allow-scripts")) opaque = true;
      // Without scripts nothing can use the origin, and the service worker answers the document's requests.
      else policy.set("sandbox", [...sandbox, "allow-same-origin"]);
    }
    for (const [name, sources] of policy)
      if (!NO_SOURCE_LIST.has(name) && name !== "trusted-types") policy.set(name, withBothOrigins(sources, context));
    allowFrames(policy, context);
    allowForms(policy, context);
    allowPageScript(policy, context);
    allowTrustedTypesPolicy(policy);
    if (policy.size > 0) policies.push(serializePolicy(policy));
  }
  return { policies, upgradesInsecureRequests, opaque, silent };
}

/** Directives of an origin's policies that the browser cannot judge, as the origin says them: on sockets, frames, objects. */
export function heldPolicies(values: readonly string[]): string[] {
  const policies = values.flatMap((value) => value.split(",").map((policy) => policy.trim()));
  return policies.filter((policy) => /(connect|frame|child|default|object)-src|upgrade-/i.test(policy));
}

/** @param policies as of `heldPolicies`. */
export function upgradesRequests(policies: readonly string[]): boolean {
  return policies.some((policy) => /(^|;)\s*upgrade-i/i.test(policy));
}

/**
 * Event by which the placeholder of a frame asks the page around it for its policies. A page that has any puts its real
 * origin and then the policies into `detail`, an array, and prevents the event.
 */
export const POLICIES_ASKED = "ropeway-policies";

/**
 * Whether policies let a page of `origin` show a frame of another. The browser cannot tell: it sees two hosts of slots.
 * Paths are left aside.
 *
 * @param url `http:` or `https:`.
 */
export function allowsFrame(policies: readonly string[], url: string, origin: string): boolean {
  const target = new URL(upgradesRequests(policies) ? url.replace(/^http:/, "https:") : url).origin;
  return covers(policies.flatMap(parsePolicies), FRAME_DIRECTIVES, (source) =>
    sourceMatchesOrigin(source, target, origin),
  );
}

/**
 * Whether a policy lets a page of `origin` open a socket. Without a scheme a source is for sockets as for requests; paths
 * are left aside.
 *
 * @param url `ws:` or `wss:`.
 */
export function allowsSocket(policy: string, url: string, origin: string): boolean {
  const target = new URL(url.replace(/^ws/, "http")).origin;
  return covers(parsePolicies(policy), ["connect-src", "default-src"], (source) => {
    return !/^https?:/i.test(source) && sourceMatchesOrigin(source.replace(/^ws(s?:)/i, "http$1"), target, origin);
  });
}

/** Whether requests of this slot's pages need an upgrade to get past the browser's mixed content check at all. */
function hasMixedContent(slot: SlotIdentity): boolean {
  return slot.slotOrigin.startsWith("https:") && slot.realOrigin.startsWith("http:");
}

/** Our policy begins so, and none of a page's own, which names the slot here, too (`withBothOrigins`). */
export const POLICY_START = "connect-src http: https: data: blob:; ";

/**
 * Our policy, for every document and every worker script of a slot. The policy closes the ways past a service worker;
 * each line was tried in Chromium 156. `slotPermissionsPolicy` and the page script close the ways that CSP cannot.
 */
export function slotPolicy(context: Omit<PolicyContext, "nonce">): string {
  const lines = [
    // Other origins only in slots of their own. No data: and no blob:, whose documents no service worker controls.
    `frame-src 'self' ${context.slotSources}`,
    // The requests of <object> and <embed> skip service workers, also those to the slot itself.
    "object-src 'none'",
    // No data:, whose workers are opaque origins without a service worker.
    "worker-src 'self' http: https: blob:",
    // Submissions to other origins are taken over before this check; those that are left must be the slot's.
    "form-action 'self'",
    // Manifests and their icons are fetched by the browser itself.
    "manifest-src 'none'",
  ];
  // http: URLs of a page on an https: slot would be blocked before the service worker sees them.
  if (hasMixedContent(context)) lines.push("upgrade-insecure-requests");
  // No ws: and wss:, since WebSockets never reach a service worker.
  return POLICY_START + lines.join("; ");
}

/**
 * For the page on top, and for frames of its own site in it where the document lets itself be framed there: whoever else
 * learnt the slot's host must not show it.
 */
export function topLevelFramingPolicy(
  { slotOrigin, shellOrigin }: SlotIdentity & { readonly shellOrigin: string },
  allowsOwnFrames: boolean,
): string {
  const shell = `frame-ancestors ${shellOrigin}`;
  return allowsOwnFrames ? `${shell} ${slotOrigin}` : shell;
}

/** For documents in opaque origins: their requests skip the service worker, so there may be none. */
export const opaqueDocumentPolicy = "default-src data: blob: 'unsafe-inline' 'unsafe-eval'; form-action 'none'";

/**
 * Appended to `Permissions-Policy` (the last member of a name counts, RFC 8941 section 3.2).
 * Synchronous XHR of documents and fetchLater skip service workers (Chromium 156).
 */
export const slotPermissionsPolicy = "sync-xhr=(), deferred-fetch=(), deferred-fetch-minimal=()";

/**
 * `Connection-Allowlist` (WICG; Chromium 152): the addresses that the browser lets a document connect to, whatever its
 * scripts do, and all that inherits from it: blank, `srcdoc`, `javascript:` and `blob:` frames, and the first document of
 * any frame. There is no WebRTC. Chromium 156 ends the process of a frame that tries all the same; the shell is in another
 * one. Scripts take the features away too (`removeNetworkFeatures`), so that pages find none, and for other engines.
 *
 * @param sources as in a policy: slots, for a document of Ropeway's own, which has no page script. A page may connect to
 * all addresses, since Chromium checks before the service worker, which answers for every origin.
 */
export function allowedConnections(sources = "*://*:*"): string {
  const patterns = sources.split(" ").map((source) => `"${source}/*"`);
  return `(${patterns.join(" ")});redirects=allow;webrtc=block`;
}
