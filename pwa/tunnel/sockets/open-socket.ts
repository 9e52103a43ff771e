/** What every link does with a socket that is open. */
import type { LinkSocket } from "../../../shared/fetch-road/fetch-socket.ts";
import { KEEP_ALIVE } from "../../../shared/subprotocol.ts";
import type { Transport } from "../../../shared/transport.ts";

/** TCP, TLS and the upgrade. */
export const HANDSHAKE_ROUND_TRIPS = 3;

/** RFC 6455 section 7.4.1: never sent, only reported. */
export const CLOSED_ABNORMALLY = 1006;

/** Sends what the edge's runtime answers at once, and counts it. */
export function sendProbe(socket: LinkSocket, traffic: { keepAliveBytesUp: number }): void {
  if (socket.readyState !== WebSocket.OPEN) return;
  traffic.keepAliveBytesUp += KEEP_ALIVE.length;
  socket.send(KEEP_ALIVE);
}

/** @param onClosed the socket was closed from this side: its owner need not wait until the edge has answered that. */
export function socketTransport(socket: LinkSocket, onClosed: (code: number) => void): Transport {
  return {
    send(message) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(message as Uint8Array<ArrayBuffer>);
      return true;
    },
    close(code, reason) {
      socket.close(code, reason);
      queueMicrotask(() => onClosed(code));
    },
  };
}
