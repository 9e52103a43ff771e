/** A phone without a browser: pairs, opens the tunnel, sends requests. For the edge's contract tests, on Node. */
import type { RopewayError } from "../../shared/errors.ts";
import { startExchange } from "../../shared/http/client-exchange.ts";
import type { RequestHead, ResponseHead } from "../../shared/http/heads.ts";
import { Session } from "../../shared/mux/session.ts";
import { PAIR_PATH, SUBPROTOCOL, TOKEN_PREFIX, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import { concat, SESSION_ID_BYTES } from "../../shared/wire/frame.ts";

export interface TestResponse {
  readonly head: ResponseHead;
  readonly body: Uint8Array;
  readonly text: string;
}

/** @returns the token of a fresh device. */
export async function pairPhone(edgeUrl: string, accessKey: string): Promise<string> {
  const response = await fetch(new URL(PAIR_PATH, edgeUrl), {
    method: "POST",
    headers: { authorization: `Bearer ${accessKey}` },
  });
  if (!response.ok) throw new Error(`Cannot pair: the edge answers ${response.status}`);
  return ((await response.json()) as { token: string }).token;
}

export class TestPhone {
  readonly session: Session;
  /** Why the session ended, once it did. */
  ended: RopewayError | null = null;

  #edgeUrl: string;
  #token: string;
  #socket: WebSocket | null = null;

  constructor(edgeUrl: string, token: string) {
    this.#edgeUrl = edgeUrl;
    this.#token = token;
    this.session = new Session({
      role: "phone",
      sessionId: crypto.getRandomValues(new Uint8Array(SESSION_ID_BYTES)),
      handler: {
        onEnd: (error) => {
          this.ended = error;
        },
      },
    });
    this.session.sendSessionHead([
      ["user-agent", "TestPhone/1"],
      ["accept-language", "en"],
    ]);
  }

  /** Opens a socket for the session: its first, or the next after a cut. Rejects when the edge refuses it. */
  async connect(): Promise<void> {
    const url = new URL(TUNNEL_PATH, this.#edgeUrl).href.replace(/^http/, "ws");
    const socket = new WebSocket(url, [SUBPROTOCOL, TOKEN_PREFIX + this.#token]);
    socket.binaryType = "arraybuffer";
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error("Cannot open the tunnel: the handshake failed"));
    });
    const transport: Transport = {
      send(message) {
        if (socket.readyState !== WebSocket.OPEN) return false;
        socket.send(message as Uint8Array<ArrayBuffer>);
        return true;
      },
      close: (code, reason) => socket.close(code, reason),
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      if (typeof event.data !== "string") this.session.channel.receive(new Uint8Array(event.data));
    };
    socket.onclose = () => this.session.channel.detach(transport);
    this.#socket = socket;
    this.session.channel.attach(transport);
  }

  /** Drops the socket without a word, as a lost link does. */
  cut(): void {
    const socket = this.#socket;
    this.#socket = null;
    if (socket === null) return;
    socket.onmessage = null;
    socket.onclose?.(new CloseEvent("close"));
    socket.onclose = null;
    socket.close();
  }

  async fetch(
    url: string,
    options: Partial<RequestHead> & { body?: ReadableStream<Uint8Array> | null } = {},
  ): Promise<TestResponse> {
    const { body = null, ...head } = options;
    const stream = await this.session.openStream();
    return new Promise((resolve, reject) => {
      let response: ResponseHead | null = null;
      const chunks: Uint8Array[] = [];
      startExchange(stream, { ...navigation(url), ...head }, body, {
        onHead(received) {
          response = received;
        },
        onBody(chunk) {
          chunks.push(chunk);
          return undefined;
        },
        onEnd() {
          const whole = concat(...chunks);
          if (response !== null) resolve({ head: response, body: whole, text: new TextDecoder().decode(whole) });
        },
        onError: reject,
      });
    });
  }

  close(): void {
    this.#socket?.close(1000);
  }
}

/** A typed navigation to `url`. */
export function navigation(url: string): RequestHead {
  return {
    method: "GET",
    url,
    headers: [],
    destination: "document",
    mode: "navigate",
    credentials: "include",
    redirect: "follow",
    referrer: "",
    origin: null,
    topLevelOrigin: new URL(url).origin,
  };
}
