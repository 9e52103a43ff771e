/** A phone without a browser: pairs, opens the tunnel, sends requests. For the edge's contract tests, on Node. */

import * as limits from "../../shared/limits.ts";
import {
  browserPlatform,
  dialWebSocket,
  FetchSocket,
  type PhoneSocket,
  type SocketListener,
  type SocketOffer,
} from "../../shared/phone-socket.ts";
import { PAIR_PATH, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { PendingTransport, type Transport } from "../../shared/transport.ts";
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

/** What carries a link to the edge, over either road. */
export function dial(road: Road, offer: SocketOffer, listener: SocketListener): PhoneSocket {
  return road === "fetch" ? new FetchSocket(offer, listener, FRESH_CONNECTIONS) : dialWebSocket(offer, listener);
}

function offerOf(edgeUrl: string, token: string, opening: Uint8Array | null): SocketOffer {
  return { url: new URL(TUNNEL_PATH, edgeUrl).href.replace(/^http/, "ws"), token, opening };
}

/** An open socket, for tests that speak frames themselves. */
export interface TestSocket extends PhoneSocket {
  onMessage: ((message: Uint8Array | string) => void) | null;
  readonly isOpen: boolean;
  /** The code by which it was ended, by the other side or here. */
  readonly closed: Promise<number>;
}

/** Rejects when the edge refuses it. */
export async function openTunnelSocket(edgeUrl: string, token: string, road: Road): Promise<TestSocket> {
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<number>();
  let isOpen = false;
  const end = (code: number): void => {
    isOpen = false;
    opened.reject(new Error("Cannot open the tunnel: the handshake failed"));
    closed.resolve(code);
  };
  const socket = dial(road, offerOf(edgeUrl, token, null), {
    onOpen() {
      isOpen = true;
      opened.resolve();
    },
    onMessage: (message) => test.onMessage?.(message),
    onClose: end,
  });
  const test: TestSocket = {
    onMessage: null,
    closed: closed.promise,
    get isOpen() {
      return isOpen;
    },
    send: (message) => socket.send(message),
    close(code, reason) {
      socket.close(code, reason);
      end(code ?? 1005);
    },
  };
  await opened.promise;
  return test;
}

export class TestPhone extends PhoneSession {
  /** How the edge ended the last socket that it ended. */
  closedBy: { readonly code: number } | null = null;
  /** Of all messages that came. */
  receivedBytes = 0;
  /** What the edge sends is lost. */
  isDeaf = false;

  #edgeUrl: string;
  #token: string;
  #socket: PhoneSocket | null = null;
  #transport: Transport | null = null;
  #lost = new WeakSet<PhoneSocket>();
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
    const opening = transport.takeOpening(this.#openingLimit);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = dial(this.#road, offerOf(this.#edgeUrl, this.#token, opening), {
      onOpen() {
        transport.open(socket);
        resolve();
      },
      onMessage: (message) => {
        if (this.#lost.has(socket) || this.isDeaf || typeof message === "string") return;
        this.receivedBytes += message.byteLength;
        this.session.channel.receive(message, transport);
      },
      onClose: (code) => {
        if (this.#lost.has(socket)) return;
        this.closedBy = { code };
        this.session.channel.detach(transport);
        reject(new Error("Cannot open the tunnel: the handshake failed"));
      },
    });
    this.#socket = socket;
    this.#transport = transport;
    await promise;
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
    this.#lost.add(socket);
    this.session.channel.detach(transport);
    if (noticedBy === "both") socket.close();
  }

  close(): void {
    this.#socket?.close(1000);
  }
}
