/** Which of a deployment's hosts a request came to, and the headers that keep them apart in the browser. */

import { RESERVED_PATH } from "../../shared/subprotocol.ts";

export type HostKind = "base" | "slot" | "other";

/** Names without ports, as ROPEWAY_HOST and ROPEWAY_SLOT_HOSTS have them (`deploymentHosts`). */
export interface DeploymentHosts {
  /** Undefined or "" where there is only one host. */
  readonly base: string | undefined;
  /** Where slots live; empty where they do at any label below the base host. */
  readonly listed: readonly string[];
}

export interface ClassifiedHost {
  readonly kind: HostKind;
  /** Origin of the shell. */
  readonly baseOrigin: string;
  /** Host and port below which slots live, or null where there is only one host, or a list. */
  readonly slotHost: string | null;
  /** Origins of slots, where there is a list. */
  readonly slotOrigins: readonly string[];
}

const SLOT_LABEL = /^[a-z0-9]{4,32}$/;

/** Its name tells its content. */
const TUNNEL_SCRIPT = /^\/\.ropeway\/tunnel-[0-9a-f]{20}\.js$/;

/** What clears a slot's storage, but for cookies (`pwa/slot/documents/wipe.ts`). */
const CLEARED_PATH = `${RESERVED_PATH}cleared`;

export function classifyHost(url: URL, hosts: DeploymentHosts): ClassifiedHost {
  if (!hosts.base) return { kind: "base", baseOrigin: url.origin, slotHost: null, slotOrigins: [] };
  const port = url.port === "" ? "" : `:${url.port}`;
  const base = hosts.base.toLowerCase();
  const isListed = hosts.listed.length > 0;
  const known = {
    baseOrigin: `${url.protocol}//${base}${port}`,
    slotHost: isListed ? null : `${base}${port}`,
    slotOrigins: hosts.listed.map((host) => `${url.protocol}//${host}${port}`),
  };
  if (url.hostname === base) return { kind: "base", ...known };
  if (isListed) return { kind: hosts.listed.includes(url.hostname) ? "slot" : "other", ...known };
  const label = url.hostname.endsWith(`.${base}`) ? url.hostname.slice(0, -base.length - 1) : "";
  return { kind: SLOT_LABEL.test(label) ? "slot" : "other", ...known };
}

/** Sources of all slots, for a policy; "" for none. */
export function slotSources(url: URL, { slotHost, slotOrigins }: ClassifiedHost): string {
  return slotHost === null ? slotOrigins.join(" ") : `${url.protocol}//*.${slotHost}`;
}

/** Response headers for the app's own files, by the kind of host they are served on. */
export function securityHeaders(url: URL, kind: HostKind, hosts: DeploymentHosts): Record<string, string> {
  const classified = classifyHost(url, hosts);
  const { baseOrigin, slotOrigins } = classified;
  const slots = ` ${slotSources(url, classified)}`.trimEnd();
  const socket = baseOrigin.replace(/^http/, "ws");
  // The tunnel's worker decodes by wasm; no window does.
  const wasm = TUNNEL_SCRIPT.test(url.pathname) ? " 'wasm-unsafe-eval'" : "";
  const common = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "origin-agent-cluster": "?1",
    "cross-origin-resource-policy": kind === "slot" ? "same-origin" : "same-site",
  };
  // The app has no form. The way back to what a page's form led to is one of the app's, as browsers count.
  const policy =
    kind === "slot"
      ? `default-src 'none'; script-src 'self' ${baseOrigin}${RESERVED_PATH}; style-src 'self' 'unsafe-inline'; worker-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors ${baseOrigin}${slots}`
      : `default-src 'self'; script-src 'self'${wasm}; style-src 'self'; img-src 'self' data: blob:; connect-src 'self' ${socket}; worker-src 'self'; frame-src 'self'${slots}; object-src 'none'; base-uri 'none'; form-action${slots || " 'self'"}; frame-ancestors 'self'`;
  // No page that opens the app gets a handle on its window.
  const opener: Record<string, string> = kind === "slot" ? {} : { "cross-origin-opener-policy": "same-origin" };
  const scope: Record<string, string> = url.pathname.endsWith("/sw.js") ? { "service-worker-allowed": "/" } : {};
  // No other value: "cookies" is for all hosts of the site, "cache" holds Chromium up.
  const clears = kind === "slot" && slotOrigins.length > 0 && url.pathname === CLEARED_PATH;
  const cleared: Record<string, string> = clears ? { "clear-site-data": '"storage"' } : {};
  return { ...common, ...opener, ...scope, ...cleared, "content-security-policy": policy };
}
