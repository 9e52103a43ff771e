/** A phone without a browser: pairs, opens the tunnel, sends requests. For the edge's contract tests, on Node. */
import { browserPlatform, FetchSocket } from "../../shared/fetch-road/fetch-socket.ts";
import * as limits from "../../shared/limits.ts";
import { PendingTransport } from "../../shared/pending-transport.ts";
import { offeredProtocols, PAIR_PATH, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import { PhoneSession } from "./phone-session.ts";

/** What carries messages between phone and edge. */
export type Road = "websocket" | "fetch";

/** Each runtime over each road. */
export const EDGES = [
  ["workerd", "websocket"],
  ["workerd", "fetch"],
  ["deno", "websocket"],
  ["deno", "fetch"],
] as const satisfies readonly (readonly [string, Road])[];

type TestSocket = WebSocket | FetchSocket;

/**
 * As fetch, on a connection of its own: an edge may close one whose upload it did not read to the end, and Node, unlike a
 * browser, does not try again when it finds the kept connection closed.
 */
function fetchFresh(url: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("connection", "close");
  return fetch(url, { ...init, headers });
}

const FRESH_CONNECTIONS = { ...browserPlatform, fetch: fetchFresh };

/** @returns the token of a fresh device. */
export async function pairPhone(edgeUrl: string, accessKey: string): Promise<string> {
  const response = await fetchFresh(new URL(PAIR_PATH, edgeUrl).href, {
    method: "POST",
    headers: { authorization: `Bearer ${accessKey}` },
  });
  if (!response.ok) throw new Error(`Cannot pair: the edge answers ${response.status}`);
  return ((await response.json()) as { token: string }).token;
}

/** A socket to the edge, open. Rejects when the edge refuses it. */
export async function openTunnelSocket(edgeUrl: string, token: string, road: Road): Promise<TestSocket> {
  const socket = createSocket(edgeUrl, token, null, road);
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error("Cannot open the tunnel: the handshake failed"));
  });
  return socket;
}

function createSocket(edgeUrl: string, token: string, opening: Uint8Array | null, road: Road): TestSocket {
  const url = new URL(TUNNEL_PATH, edgeUrl).href.replace(/^http/, "ws");
  const socket = openSocket(url, offeredProtocols(token, opening), road);
  socket.binaryType = "arraybuffer";
  return socket;
}

/** @param url of the tunnel: ws:. */
export function openSocket(url: string, protocols: string[], road: Road): TestSocket {
  return road === "fetch" ? new FetchSocket(url, protocols, FRESH_CONNECTIONS) : new WebSocket(url, protocols);
}

/** Code and reason with which the other side ends the socket. */
export function closing(socket: EventTarget): Promise<{ code: number; reason: string }> {
  return new Promise((resolve) => {
    const onClose = (event: Event) => {
      const { code, reason } = event as CloseEvent;
      resolve({ code, reason });
    };
    socket.addEventListener("close", onClose, { once: true });
  });
}

export class TestPhone extends PhoneSession {
  /** How the edge ended the last socket that it ended. */
  closedBy: { readonly code: number; readonly reason: string } | null = null;
  /** What the edge sends is lost. */
  isDeaf = false;

  #edgeUrl: string;
  #token: string;
  #socket: TestSocket | null = null;
  #transport: Transport | null = null;
  #openingLimit: number;
  #road: Road;

  /** @param openingLimit bytes that may ride in the handshake; 0 for a phone that says everything after it. */
  constructor(
    edgeUrl: string,
    token: string,
    { openingLimit = limits.openingBytes, road = "websocket" }: { openingLimit?: number; road?: Road } = {},
  ) {
    super();
    this.#road = road;
    this.#edgeUrl = edgeUrl;
    this.#token = token;
    this.#openingLimit = openingLimit;
  }

  /** Opens a socket for the session: its first, or the next after a cut. Rejects when the edge refuses it. */
  async connect(): Promise<void> {
    const transport = new PendingTransport();
    this.session.channel.attach(transport);
    this.session.channel.flush();
    const socket = createSocket(this.#edgeUrl, this.#token, transport.takeOpening(this.#openingLimit), this.#road);
    const link: Transport = {
      send(message) {
        if (socket.readyState !== WebSocket.OPEN) return false;
        socket.send(message as Uint8Array<ArrayBuffer>);
        return true;
      },
      close: (code, reason) => socket.close(code, reason),
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      if (this.isDeaf || typeof event.data === "string") return;
      this.session.channel.receive(new Uint8Array(event.data), transport);
    };
    socket.onclose = ({ code, reason }) => {
      this.closedBy = { code, reason };
      this.session.channel.detach(transport);
    };
    this.#socket = socket;
    this.#transport = transport;
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => {
        transport.open(link);
        resolve();
      };
      socket.onerror = () => {
        this.session.channel.detach(transport);
        reject(new Error("Cannot open the tunnel: the handshake failed"));
      };
    });
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
    socket.onopen = socket.onmessage = socket.onclose = null;
    this.session.channel.detach(transport);
    if (noticedBy === "both") socket.close();
  }

  close(): void {
    this.#socket?.close(1000);
  }
}
