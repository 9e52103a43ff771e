/** The WebSocket handshake's part of the protocol: PROTOCOL.md section 1. */

/** Version 1, as a WebSocket subprotocol (RFC 6455 section 1.9). */
export const SUBPROTOCOL = "ropeway.1";

/** Before the token in the second subprotocol value, so that the token is never in a URL. */
export const TOKEN_PREFIX = "ropeway.token.";

/** Where the tunnel, pairing, and the app's own files live on every host of a deployment. */
export const RESERVED_PATH = "/.ropeway/";
export const TUNNEL_PATH = "/.ropeway/tunnel";
export const PAIR_PATH = "/.ropeway/pair";
export const CONFIG_PATH = "/.ropeway/config.json";
export const HEALTH_PATH = "/.ropeway/health";

/** Text message that keeps NATs open; the edge answers it with itself, without waking a hibernated object. */
export const KEEP_ALIVE = "ropeway.keep-alive";

/** Close codes of ours are this plus an ErrorCode (RFC 6455 section 7.4.2: 4000 to 4999 are private). */
export const CLOSE_CODE_BASE = 4000;

/** What the app learns about its edge. */
export interface EdgeConfig {
  readonly version: string;
  /** Host (and port, unless the scheme's own) below which slots live, or null when there is only this one host. */
  readonly slotHost: string | null;
  /** The demo site, when the edge runs locally and serves one. */
  readonly demoUrl: string | null;
}

/** Paths of messages from the phone to the edge itself (PROTOCOL.md section 5.4). */
export const EdgeRequest = {
  /** PUT: `document.cookie = …`; fields `document-url` and `cookie-string`. */
  SCRIPT_COOKIE: "ropeway:///script-cookie",
  /** DELETE: forgets all cookies of this phone. */
  SITE_DATA: "ropeway:///site-data",
} as const;
