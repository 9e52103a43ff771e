/** The WebSocket handshake's part of the protocol: PROTOCOL.md section 1. */
import { fromBase64Url, toBase64Url } from "./base-encodings.ts";
import { ErrorCode, RopewayError } from "./errors.ts";
import * as limits from "./limits.ts";

/** Version 2, as a WebSocket subprotocol (RFC 6455 section 1.9). */
export const SUBPROTOCOL = "ropeway.2";

/** Before the token in the second subprotocol value, so that the token is never in a URL. */
export const TOKEN_PREFIX = "ropeway.token.";

/** Before the link's first frames, in base64url, in a third subprotocol value. */
export const OPENING_PREFIX = "ropeway.opening.";

/** Where the tunnel, pairing, and the app's own files live on every host of a deployment. */
export const RESERVED_PATH = "/.ropeway/";
/** Begins the paths of the base host at which pages without scripts live: decision 28. */
export const LITE_PATH = "/~";
export const TUNNEL_PATH = "/.ropeway/tunnel";
export const PAIR_PATH = "/.ropeway/pair";
/** POST: a new token in place of the one shown. An edge of before 2026-12 does not know it, nor the next. */
export const TOKEN_PATH = "/.ropeway/token";
/** And below it: the paired devices. */
export const DEVICES_PATH = "/.ropeway/devices";
export const CONFIG_PATH = "/.ropeway/config.json";
/** Answered by the app's own service worker, which tells what the request said. */
export const ACCEPT_PATH = "/.ropeway/accept";
export const HEALTH_PATH = "/.ropeway/health";

/** Text message that keeps NATs open; the edge answers it with itself, without waking a hibernated object. */
export const KEEP_ALIVE = "ropeway.keep-alive";

/** Text message: the phone sends nothing more on this link; the edge sends what it has left, then closes it. */
export const END_OF_LINK = "ropeway.end";

/** Close codes of ours are this plus an ErrorCode (RFC 6455 section 7.4.2: 4000 to 4999 are private). */
export const CLOSE_CODE_BASE = 4000;

/** Whether a close with that code ends the session, and not the link alone. */
export function endsSession(code: number): boolean {
  return code >= CLOSE_CODE_BASE && code < CLOSE_CODE_BASE + 1000;
}

/** RFC 6455 section 7.4.1: all is said. */
export const CLOSED_NORMALLY = 1000;

/** Facts of the edge that the app is told. */
export interface EdgeConfig {
  readonly version: string;
  /** Host (and port, unless the scheme's own) below which slots live, or null when there is only this one host. */
  readonly slotHost: string | null;
  /** The demo site, when the edge runs locally and serves one. */
  readonly demoUrl: string | null;
  /** Whether it stops requests for trackers where a phone wants that. An edge of before 2026-12 does not say. */
  readonly blocksTrackers?: boolean;
  /**
   * Whether it acts once on what a link of the fetch road begins with, however often that comes, so that the first frames
   * may take that road at once (PROTOCOL.md section 1.4). An edge of before 2026-12 does not say.
   */
  readonly takesLinksOnce?: boolean;
}

/** Paths of messages from the phone to the edge itself (PROTOCOL.md section 5.4). */
export const EdgeRequest = {
  /** PUT: `document.cookie = …`; fields `document-url` and `cookie-string`. */
  SCRIPT_COOKIE: "ropeway:///script-cookie",
  /**
   * GET: the cookies that scripts of a site's own page may read; field `document-url`. An edge of before 2026-12 does not
   * know it.
   */
  SCRIPT_COOKIES: "ropeway:///script-cookies",
  /** DELETE: forgets all cookies of this phone. */
  SITE_DATA: "ropeway:///site-data",
  /** DELETE: forgets the site that a host belongs to; field `host-name`. An edge of before 2026-12 does not know it. */
  SITE: "ropeway:///site",
  /** GET: a page that a link leads to; field `document-url`. An edge of before 2026-12 does not know it. */
  WARMED_PAGE: "ropeway:///warmed-page",
} as const;

/** The phone's offer in the handshake. */
export interface TunnelOffer {
  readonly speaksVersion: boolean;
  /** "" where there is none. */
  readonly token: string;
  /** The link's first message, or null when it comes on the open link as all others do. */
  readonly opening: Uint8Array | null;
}

/** The subprotocol values of a handshake: tokens of RFC 9110 section 5.6.2, each once. */
export function offeredProtocols(token: string, opening: Uint8Array | null): string[] {
  const protocols = [SUBPROTOCOL, TOKEN_PREFIX + token];
  if (opening !== null) protocols.push(OPENING_PREFIX + toBase64Url(opening));
  return protocols;
}

/**
 * Reads the field Sec-WebSocket-Protocol of a handshake.
 *
 * @throws RopewayError PROTOCOL_ERROR of scope "session" when the opening is too long or not base64url.
 */
export function parseOffer(field: string): TunnelOffer {
  const values = field.split(",").map((value) => value.trim());
  const after = (prefix: string): string | null =>
    values.find((value) => value.startsWith(prefix))?.slice(prefix.length) ?? null;
  const opening = after(OPENING_PREFIX);
  return {
    speaksVersion: values.includes(SUBPROTOCOL),
    token: after(TOKEN_PREFIX) ?? "",
    opening: opening === null ? null : readOpening(opening),
  };
}

function readOpening(text: string): Uint8Array {
  const isTooLong = text.length > Math.ceil((limits.openingBytes * 4) / 3);
  const opening = isTooLong ? null : fromBase64Url(text);
  if (opening !== null) return opening;
  const message = `Cannot read the opening: it is not base64url of at most ${limits.openingBytes} bytes`;
  throw new RopewayError(ErrorCode.PROTOCOL_ERROR, "session", "peer", message);
}
