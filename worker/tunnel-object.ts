/**
 * One phone's Durable Object: its sockets (hibernatable), its sessions, its cookies. While no exchange is under way
 * the object may be evicted with its sockets open; each socket's attachment then holds all that its session needs.
 */
import { DurableObject } from "cloudflare:workers";
import { ErrorCode } from "../shared/errors.ts";
import { CLOSE_CODE_BASE, KEEP_ALIVE, SUBPROTOCOL } from "../shared/subprotocol.ts";
import type { Transport } from "../shared/transport.ts";
import { createEdgeHandler, type EdgeBackend } from "./edge-handler.ts";
import { type Connection, type ConnectionSnapshot, TunnelServer } from "./tunnel-server.ts";
import { createWorkerdUpstream } from "./upstream-workerd.ts";
import type { WorkerEnvironment } from "./worker-environment.ts";

/** Any pending timer keeps the object in memory; this one runs only while exchanges are under way. */
const STAY_AWAKE_INTERVAL = 5_000;

export class TunnelObject extends DurableObject<WorkerEnvironment> {
  #server: TunnelServer;
  #backend: EdgeBackend;
  #connections = new Map<WebSocket, Connection>();
  #sockets = new Map<Transport, WebSocket>();
  #stayAwake: ReturnType<typeof setInterval> | null = null;

  constructor(ctx: DurableObjectState, env: WorkerEnvironment) {
    super(ctx, env);
    this.#backend = createWorkerdUpstream(ctx, env);
    this.#server = new TunnelServer({
      handle: createEdgeHandler(this.#backend),
      onSnapshot: (transport, snapshot) => this.#saveAttachment(transport, snapshot),
      onActive: (active) => this.#setActive(active),
      setTimer: (task, delay) => {
        const timer = setTimeout(task, delay);
        return () => clearTimeout(timer);
      },
    });
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(KEEP_ALIVE, KEEP_ALIVE));
    for (const socket of ctx.getWebSockets()) this.#restore(socket);
  }

  override async fetch(): Promise<Response> {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    this.#connections.set(server, this.#server.connect(this.#transport(server)));
    return new Response(null, {
      status: 101,
      webSocket: client,
      headers: { "Sec-WebSocket-Protocol": SUBPROTOCOL },
    });
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    if (typeof message === "string") {
      if (message !== KEEP_ALIVE) socket.close(CLOSE_CODE_BASE + ErrorCode.PROTOCOL_ERROR, "text message");
      return;
    }
    this.#connections.get(socket)?.receive(new Uint8Array(message));
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    this.#forget(socket);
    // RFC 6455 section 5.5.1: the close is answered; codes that may not be sent are answered by 1000.
    const mayEcho = code === 1000 || (code >= CLOSE_CODE_BASE && code < 5000);
    try {
      socket.close(mayEcho ? code : 1000, "");
    } catch {
      // The runtime has answered it already.
    }
  }

  override webSocketError(socket: WebSocket): void {
    this.#forget(socket);
  }

  #restore(socket: WebSocket): void {
    // One that is closing was replaced or refused, and its session goes on elsewhere if at all.
    if (socket.readyState !== WebSocket.OPEN) return;
    const snapshot = socket.deserializeAttachment() as ConnectionSnapshot | null;
    this.#connections.set(socket, this.#server.restore(this.#transport(socket), snapshot));
  }

  #transport(socket: WebSocket): Transport {
    const transport: Transport = {
      send(message) {
        try {
          socket.send(message);
          return true;
        } catch {
          return false;
        }
      },
      close(code, reason) {
        try {
          socket.close(code, reason);
        } catch {
          // It was closed already.
        }
      },
    };
    this.#sockets.set(transport, socket);
    return transport;
  }

  #forget(socket: WebSocket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    connection.closed();
    // What cannot be stored now is stored with the next change.
    this.ctx.waitUntil(this.#backend.siteData.flush().catch(() => {}));
    this.#connections.delete(socket);
    for (const [transport, known] of this.#sockets) if (known === socket) this.#sockets.delete(transport);
  }

  #saveAttachment(transport: Transport, snapshot: ConnectionSnapshot | null): void {
    const socket = this.#sockets.get(transport);
    try {
      socket?.serializeAttachment(snapshot);
    } catch {
      // Above limits.attachmentBytes: without an attachment the session is opened anew after hibernation.
      socket?.serializeAttachment(null);
    }
  }

  #setActive(active: boolean): void {
    if (this.#stayAwake !== null) clearInterval(this.#stayAwake);
    this.#stayAwake = active ? setInterval(() => {}, STAY_AWAKE_INTERVAL) : null;
  }
}
