/** The phone's end of a connection to its edge, whatever road it takes: PROTOCOL.md sections 1.1 to 1.4. */
import { offeredProtocols } from "./subprotocol.ts";
import type { Transport } from "./transport.ts";

/** What a handshake offers. */
export interface SocketOffer {
  /** URL of the tunnel, as for a WebSocket: ws: or wss:. */
  readonly url: string;
  readonly token: string;
  /** Frames that ride in the handshake, or null. */
  readonly opening: Uint8Array | null;
}

/** Functions without `this`. Told nothing before the socket was returned, and nothing once its owner has closed it. */
export interface SocketListener {
  onOpen(): void;
  /** Bytes are frames; text keeps the connection alive. */
  onMessage(message: Uint8Array | string): void;
  /** The other side, or the network, has ended it, also before it was open. `code` as in a WebSocket's close. */
  onClose(code: number, isClean: boolean): void;
}

export interface PhoneSocket extends Transport {
  /** @returns false while it is not open. */
  send(message: Uint8Array | string): boolean;
  close(code?: number, reason?: string): void;
}

/** RFC 6455 section 7.4.1: never sent, only reported. */
export const CLOSED_ABNORMALLY = 1006;

type OpenWebSocket = (url: string, protocols: string[]) => WebSocket;

/** A connection over WebSocket, from before its handshake. */
export function dialWebSocket(
  { url, token, opening }: SocketOffer,
  listener: SocketListener,
  open: OpenWebSocket = (address, protocols) => new WebSocket(address, protocols),
): PhoneSocket {
  const socket = open(url, offeredProtocols(token, opening));
  socket.binaryType = "arraybuffer";
  socket.onopen = () => listener.onOpen();
  socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) =>
    listener.onMessage(typeof data === "string" ? data : new Uint8Array(data));
  socket.onclose = ({ code, wasClean }) => listener.onClose(code, wasClean);
  return {
    send(message) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(message as string | Uint8Array<ArrayBuffer>);
      return true;
    },
    close(code, reason) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close(code, reason);
    },
  };
}
