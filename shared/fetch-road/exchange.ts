/** The two requests of the fetch road: PROTOCOL.md section 1.4. */

/** Below TUNNEL_PATH. POST: opens a socket; the response's body is what the edge sends. */
export const DOWN_PATH = "/down";
/** Below TUNNEL_PATH. POST: a batch of what the phone sends. */
export const UP_PATH = "/up";

/** As Sec-WebSocket-Protocol in a handshake; scripts may not set that one. */
export const PROTOCOL_FIELD = "ropeway-protocol";
/** 22 characters of base64url, chosen by the phone for each socket. */
export const SOCKET_FIELD = "ropeway-socket";
/** How many batches of the socket were before this one. */
export const BATCH_FIELD = "ropeway-batch";

/** Status of a batch that breaks the protocol, so that its socket was closed: why comes on the other response. */
export const BATCH_REFUSED = 400;
/** Status of a batch whose socket is closed: what the edge has still said comes on the other response. */
export const SOCKET_GONE = 410;
