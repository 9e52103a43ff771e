/** Which of a deployment's hosts a request came to, and the headers that keep them apart in the browser. */

import { RESERVED_PATH } from "../../shared/subprotocol.ts";

export type HostKind = "base" | "slot" | "other";

export interface ClassifiedHost {
  readonly kind: HostKind;
  /** Origin of the shell. */
  readonly baseOrigin: string;
  /** Host and port below which slots live, or null where there is only one host. */
  readonly slotHost: string | null;
}

const SLOT_LABEL = /^[a-z0-9]{4,32}$/;

/** @param baseHost ROPEWAY_HOST: a host name without port, or undefined where there is only one host. */
export function classifyHost(url: URL, baseHost: string | undefined): ClassifiedHost {
  if (!baseHost) return { kind: "base", baseOrigin: url.origin, slotHost: null };
  const port = url.port === "" ? "" : `:${url.port}`;
  const base = baseHost.toLowerCase();
  const hosts = { baseOrigin: `${url.protocol}//${base}${port}`, slotHost: `${base}${port}` };
  if (url.hostname === base) return { kind: "base", ...hosts };
  const label = url.hostname.endsWith(`.${base}`) ? url.hostname.slice(0, -base.length - 1) : "";
  return { kind: SLOT_LABEL.test(label) ? "slot" : "other", ...hosts };
}

/** Response headers for the app's own files, by the kind of host they are served on. */
export function securityHeaders(url: URL, kind: HostKind, baseHost: string | undefined): Record<string, string> {
  const { baseOrigin, slotHost } = classifyHost(url, baseHost);
  const slots = slotHost === null ? "" : ` ${url.protocol}//*.${slotHost}`;
  const socket = baseOrigin.replace(/^http/, "ws");
  // The tunnel's worker decodes by wasm; no window does.
  const wasm = url.pathname === `${RESERVED_PATH}tunnel.js` ? " 'wasm-unsafe-eval'" : "";
  const common = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "origin-agent-cluster": "?1",
    "cross-origin-resource-policy": kind === "slot" ? "same-origin" : "same-site",
  };
  const policy =
    kind === "slot"
      ? `default-src 'none'; script-src 'self' ${baseOrigin}${RESERVED_PATH}; style-src 'self' 'unsafe-inline'; worker-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors ${baseOrigin}${slots}`
      : `default-src 'self'; script-src 'self'${wasm}; style-src 'self'; img-src 'self' data: blob:; connect-src 'self' ${socket}; worker-src 'self'; frame-src 'self'${slots}; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`;
  // No page that opens the app gets a handle on its window.
  const opener: Record<string, string> = kind === "slot" ? {} : { "cross-origin-opener-policy": "same-origin" };
  const scope: Record<string, string> = url.pathname.endsWith("/sw.js") ? { "service-worker-allowed": "/" } : {};
  return { ...common, ...opener, ...scope, "content-security-policy": policy };
}
