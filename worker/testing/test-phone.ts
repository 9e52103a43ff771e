/** A phone without a browser: pairs, opens the tunnel, sends requests. For the edge's contract tests, on Node. */
import { PAIR_PATH, SUBPROTOCOL, TOKEN_PREFIX, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import { PhoneSession } from "./phone-session.ts";

/** @returns the token of a fresh device. */
export async function pairPhone(edgeUrl: string, accessKey: string): Promise<string> {
  const response = await fetch(new URL(PAIR_PATH, edgeUrl), {
    method: "POST",
    headers: { authorization: `Bearer ${accessKey}` },
  });
  if (!response.ok) throw new Error(`Cannot pair: the edge answers ${response.status}`);
  return ((await response.json()) as { token: string }).token;
}

/** A socket to the edge, open. Rejects when the edge refuses it. */
export async function openTunnelSocket(edgeUrl: string, token: string): Promise<WebSocket> {
  const url = new URL(TUNNEL_PATH, edgeUrl).href.replace(/^http/, "ws");
  const socket = new WebSocket(url, [SUBPROTOCOL, TOKEN_PREFIX + token]);
  socket.binaryType = "arraybuffer";
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error("Cannot open the tunnel: the handshake failed"));
  });
  return socket;
}

/** Code and reason with which the other side ends the socket. */
export function closing(socket: WebSocket): Promise<{ code: number; reason: string }> {
  return new Promise((resolve) => {
    socket.addEventListener("close", ({ code, reason }) => resolve({ code, reason }), { once: true });
  });
}

export class TestPhone extends PhoneSession {
  /** How the edge ended the last socket that it ended. */
  closedBy: { readonly code: number; readonly reason: string } | null = null;

  #edgeUrl: string;
  #token: string;
  #socket: WebSocket | null = null;
  #transport: Transport | null = null;

  constructor(edgeUrl: string, token: string) {
    super();
    this.#edgeUrl = edgeUrl;
    this.#token = token;
  }

  /** Opens a socket for the session: its first, or the next after a cut. Rejects when the edge refuses it. */
  async connect(): Promise<void> {
    const socket = await openTunnelSocket(this.#edgeUrl, this.#token);
    const transport: Transport = {
      send(message) {
        if (socket.readyState !== WebSocket.OPEN) return false;
        socket.send(message as Uint8Array<ArrayBuffer>);
        return true;
      },
      close: (code, reason) => socket.close(code, reason),
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      if (typeof event.data !== "string") this.session.channel.receive(new Uint8Array(event.data), transport);
    };
    socket.onclose = ({ code, reason }) => {
      this.closedBy = { code, reason };
      this.session.channel.detach(transport);
    };
    this.#socket = socket;
    this.#transport = transport;
    this.session.channel.attach(transport);
  }

  /**
   * Loses the socket, with all that is under way.
   *
   * @param noticedBy whether the edge sees it close, or goes on to believe in it.
   */
  cut(noticedBy: "both" | "phone" = "both"): void {
    const [socket, transport] = [this.#socket, this.#transport];
    if (socket === null || transport === null) return;
    this.#socket = null;
    socket.onmessage = null;
    socket.onclose = null;
    this.session.channel.detach(transport);
    if (noticedBy === "both") socket.close();
  }

  close(): void {
    this.#socket?.close(1000);
  }
}
