/**
 * Every error that crosses a module border: a code, the scope it ends, and who caused it.
 * Codes 0x00-0x0f keep the names and numbers of RFC 9113 section 7 where they mean the same.
 * Normative list: PROTOCOL.md section 7.
 */
export const ErrorCode = {
  NO_ERROR: 0x00,
  PROTOCOL_ERROR: 0x01,
  INTERNAL_ERROR: 0x02,
  FLOW_CONTROL_ERROR: 0x03,
  STREAM_CLOSED: 0x05,
  FRAME_SIZE_ERROR: 0x06,
  REFUSED_STREAM: 0x07,
  CANCEL: 0x08,
  COMPRESSION_ERROR: 0x09,
  ENHANCE_YOUR_CALM: 0x0b,
  /** The link went away before the exchange ended. */
  LINK_LOST: 0x10,
  /** The edge did not accept the phone's token. */
  KEY_NOT_ACCEPTED: 0x11,
  /** The peers share no protocol version. */
  VERSION_NOT_SUPPORTED: 0x12,
  /** The device has no network at all. */
  OFFLINE: 0x13,
  /** The edge has one host only, and the browser no service worker to show pages without scripts there. */
  NO_SLOT_HOST: 0x14,
  /** The request was sent to its origin in a session that was lost; its answer is gone. */
  ALREADY_SENT: 0x15,
  /** The session was lost, and nobody knows whether the request had been sent to its origin. */
  OUTCOME_UNKNOWN: 0x16,
  /** Slots have a list of hosts, and each is in use. */
  NO_FREE_HOST: 0x17,
  /** The origin's name does not resolve. */
  NAME_NOT_RESOLVED: 0x20,
  /** The origin refused the connection. */
  CONNECTION_REFUSED: 0x21,
  /** The origin closed the connection before the response was whole. */
  CONNECTION_RESET: 0x22,
  /** The origin's certificate or TLS handshake failed. */
  TLS_FAILED: 0x23,
  /** The origin did not answer in time. */
  UPSTREAM_TIMEOUT: 0x24,
  /** The destination is private, loopback or link-local, and the edge does not allow those. */
  DESTINATION_FORBIDDEN: 0x25,
  /** More redirects than the limit, or a redirect that cannot be followed. */
  TOO_MANY_REDIRECTS: 0x26,
  /** The response failed the CORS check (Fetch section 4.10). */
  CORS_DENIED: 0x27,
  /** Neither http: nor https:. */
  UNSUPPORTED_SCHEME: 0x28,
  /** A redirect asked to send a request body again that was too large to keep. */
  BODY_NOT_REPLAYABLE: 0x29,
  /** The origin could not be reached, and the platform does not say why. */
  UPSTREAM_FAILED: 0x2a,
  /** The block list names it, and the person has trackers blocked. */
  BLOCKED: 0x2b,
  /** The origin answered a navigation with an error (status 400 and above) and no page. */
  NO_PAGE: 0x2d,
  /** Names that everybody has do not resolve at the edge either: it has no internet. */
  EDGE_OFFLINE: 0x2c,
  /** The origin's answer is not HTTP, or none that the edge can read. */
  NOT_HTTP: 0x2e,
} as const;

export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];

/** What the error ends: one stream, or the whole session. */
export type ErrorScope = "stream" | "session";

/** Who caused it: code on this side, this library, the peer across the link, or the origin. */
export type ErrorInitiator = "user" | "library" | "peer" | "origin";

/** The code's name, or `UNKNOWN_0x…` for a code that this version does not know. */
export function errorCodeName(code: number): string {
  return Object.entries(ErrorCode).find((entry) => entry[1] === code)?.[0] ?? `UNKNOWN_0x${code.toString(16)}`;
}

/** A typed failure. `message` reads "Cannot do X: reason", and says what to do where something can be done. */
export class RopewayError extends Error {
  override readonly name = "RopewayError";
  readonly code: ErrorCode;
  readonly scope: ErrorScope;
  readonly initiator: ErrorInitiator;

  constructor(code: ErrorCode, scope: ErrorScope, initiator: ErrorInitiator, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.scope = scope;
    this.initiator = initiator;
  }
}

/** A number from the wire as a known code; unknown codes count as INTERNAL_ERROR (RFC 9113 section 7). */
export function toErrorCode(code: number): ErrorCode {
  return Object.values<number>(ErrorCode).includes(code) ? (code as ErrorCode) : ErrorCode.INTERNAL_ERROR;
}

/**
 * Marks a text that the app translates where it is drawn (`pwa/shell/app/language.ts`): also the reason in an error's message,
 * where `{number}` stands for one.
 */
export function later(text: string): string {
  return text;
}
