/** A phone's socket at the edge, whatever carries it. */
import { ErrorCode } from "../../shared/errors.ts";
import { CLOSE_CODE_BASE, END_OF_LINK, KEEP_ALIVE } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import type { Connection } from "./tunnel-server.ts";

export interface EdgeSocket extends Transport {
  send(message: Uint8Array | string): boolean;
}

/**
 * Acts on what came: frames, or one of the texts of PROTOCOL.md section 1.2.
 *
 * @returns false for what no phone says; then the socket is closed.
 */
export function hear(connection: Connection, socket: EdgeSocket, message: Uint8Array | string): boolean {
  if (typeof message !== "string") connection.receive(message);
  else if (message === END_OF_LINK) connection.finish();
  else if (message === KEEP_ALIVE) {
    if (socket.send(KEEP_ALIVE)) connection.keptAlive();
  } else {
    socket.close(CLOSE_CODE_BASE + ErrorCode.PROTOCOL_ERROR, "neither a message nor a keep-alive");
    return false;
  }
  return true;
}
