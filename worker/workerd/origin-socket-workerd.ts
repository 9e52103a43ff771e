/** A page's socket on workerd: its own WebSocket, which fetch opens. It does not let itself be paced, either way. */
import type { SocketClose, SocketEvent, SocketMessage } from "../../shared/http/socket-records.ts";
import type { Handshake, HandshakeAnswer, OriginSocket } from "../upstream/page-socket.ts";
import { byteFields, textFields } from "./fetch-workerd.ts";

const NO_STATUS = 1005;
const ABNORMAL = 1006;

/**
 * @param fetch that of the stateless loopback entry: a phone's object waits for the heads of six answers at a time, and an
 * answer to a handshake may take long.
 */
export async function openWorkerdSocket(
  fetch: (request: Request) => Promise<Response>,
  { url, headers }: Handshake,
  signal: AbortSignal,
): Promise<HandshakeAnswer> {
  const asked = textFields(headers);
  asked.set("upgrade", "websocket");
  const response = await fetch(new Request(url, { headers: asked, redirect: "manual", signal }));
  const { status, webSocket } = response;
  if (webSocket === null) await response.body?.cancel();
  const protocol = response.headers.get("sec-websocket-protocol") ?? "";
  return { status, headers: byteFields(response.headers), socket: webSocket && new WorkerdSocket(webSocket, protocol) };
}

class WorkerdSocket implements OriginSocket {
  readonly protocol: string;
  waitingBytes = 0;
  onWaiting: (() => void) | null = null;
  readonly #socket: WebSocket;
  /** Bytes that have come; null where the connection has failed. */
  #events: (SocketEvent | null)[] = [];
  #wake: (() => void) | null = null;

  constructor(socket: WebSocket, protocol: string) {
    this.protocol = protocol;
    this.#socket = socket;
    socket.accept();
    socket.addEventListener("message", ({ data }) => {
      const bytes =
        typeof data === "string" ? new TextEncoder().encode(data).slice() : new Uint8Array(data as ArrayBuffer);
      this.waitingBytes += bytes.length;
      this.#add({ kind: typeof data === "string" ? "text" : "binary", bytes });
      this.onWaiting?.();
    });
    socket.addEventListener("close", ({ code, reason }) => {
      if (code === ABNORMAL) return this.#add(null);
      this.#add({ kind: "close", code: code === NO_STATUS ? null : code, reason });
    });
    socket.addEventListener("error", () => this.#add(null));
  }

  async receive(): Promise<SocketEvent | null> {
    while (this.#events.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const event = this.#events.shift() ?? null;
    if (event === null) this.#events.push(null);
    else if (event.kind !== "close") this.waitingBytes -= event.bytes.length;
    return event;
  }

  /** The platform does not tell how much it has queued. */
  async send({ kind, bytes }: SocketMessage): Promise<void> {
    this.#socket.send(
      kind === "text" ? new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes) : bytes,
    );
  }

  close({ code, reason }: Omit<SocketClose, "kind">): void {
    try {
      if (code === null) this.#socket.close();
      else this.#socket.close(code, reason);
    } catch {
      // The socket is closed already.
    }
  }

  abort(): void {
    this.close({ code: null, reason: "" });
    this.#events = [];
    this.waitingBytes = 0;
    this.#add(null);
  }

  #add(event: SocketEvent | null): void {
    this.#events.push(event);
    this.#wake?.();
    this.#wake = null;
  }
}
