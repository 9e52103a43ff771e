/**
 * One phone's Durable Object: its sockets (hibernatable), its sessions, its cookies, the log of what it sent. While no
 * exchange is under way the object may be evicted with its sockets open; each socket's attachment then holds all that
 * its session needs.
 */
import { DurableObject } from "cloudflare:workers";
import { ErrorCode } from "../shared/errors.ts";
import { CLOSE_CODE_BASE, KEEP_ALIVE, parseOffer, SUBPROTOCOL } from "../shared/subprotocol.ts";
import type { Transport } from "../shared/transport.ts";
import { createEdgeHandler, type EdgeBackend } from "./edge-handler.ts";
import { FetchRoad } from "./fetch-road.ts";
import { SentLog } from "./sent-log.ts";
import { objectSentLogStore } from "./sent-log-workerd.ts";
import { type Connection, type ConnectionSnapshot, TunnelServer } from "./tunnel-server.ts";
import { createWorkerdUpstream } from "./upstream-workerd.ts";
import type { WorkerEnvironment } from "./worker-environment.ts";

/** Any pending timer keeps the object in memory; this one runs only while exchanges are under way. */
const STAY_AWAKE_INTERVAL = 5_000;

export class TunnelObject extends DurableObject<WorkerEnvironment> {
  #server: TunnelServer;
  #backend: EdgeBackend;
  #fetchRoad: FetchRoad;
  #connections = new Map<WebSocket, Connection>();
  #sockets = new Map<Transport, WebSocket>();
  #stayAwake: ReturnType<typeof setInterval> | null = null;

  constructor(ctx: DurableObjectState, env: WorkerEnvironment) {
    super(ctx, env);
    this.#backend = createWorkerdUpstream(ctx, env);
    this.#server = new TunnelServer({
      handle: createEdgeHandler(this.#backend, new SentLog(objectSentLogStore(ctx.storage), () => Date.now())),
      onSnapshot: (transport, snapshot) => this.#saveAttachment(transport, snapshot),
      onActive: (active) => this.#setActive(active),
      setTimer,
    });
    this.#fetchRoad = new FetchRoad({
      connect: (transport) => this.#server.connect(transport),
      onClosed: () => this.#flushSiteData(),
      now: () => Date.now(),
      setTimer,
    });
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(KEEP_ALIVE, KEEP_ALIVE));
    for (const socket of ctx.getWebSockets()) this.#restore(socket);
  }

  override async fetch(request: Request): Promise<Response> {
    if (request.headers.get("upgrade") === null) return noticingDisconnect(await this.#fetchRoad.answer(request));
    const { opening } = parseOffer(request.headers.get("sec-websocket-protocol") ?? "");
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    const connection = this.#server.connect(this.#transport(server));
    this.#connections.set(server, connection);
    // Requests in it are on their way to their origins while the answer to the handshake is on its way to the phone.
    if (opening !== null) connection.receive(opening);
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
    this.#flushSiteData();
    this.#connections.delete(socket);
    for (const [transport, known] of this.#sockets) if (known === socket) this.#sockets.delete(transport);
  }

  /** What cannot be stored now is stored with the next change. */
  #flushSiteData(): void {
    this.ctx.waitUntil(this.#backend.siteData.flush().catch(() => {}));
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

function setTimer(task: () => void, delay: number): () => void {
  const timer = setTimeout(task, delay);
  return () => clearTimeout(timer);
}

/** A stream of JavaScript's own is never told that nobody reads it any more; one of the runtime's is, with its next bytes. */
function noticingDisconnect(response: Response): Response {
  return response.body === null
    ? response
    : new Response(response.body.pipeThrough(new IdentityTransformStream()), response);
}
