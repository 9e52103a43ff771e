/**
 * Durable Object of one phone: its sockets (hibernatable), its sessions, its cookies, the log of what it sent. While no
 * exchange is under way the object may be evicted with its sockets open; each socket's attachment then holds all that
 * its session needs.
 */

import { DurableObject } from "cloudflare:workers";
import zstd from "../../node_modules/@bokuweb/zstd-wasm/dist/esm/zstd.wasm";
import avifEncoder from "../../node_modules/@jsquash/avif/codec/enc/avif_enc.wasm";
import jpegDecoder from "../../node_modules/@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm";
import * as pngModule from "../../node_modules/@jsquash/png/codec/pkg/squoosh_png_bg.wasm";
import webpEncoder from "../../node_modules/@jsquash/webp/codec/enc/webp_enc_simd.wasm";
import { epochClock } from "../../shared/clock.ts";
import { CLOSED_NORMALLY, endsSession, KEEP_ALIVE, parseOffer, SUBPROTOCOL } from "../../shared/subprotocol.ts";
import type { Transport } from "../../shared/transport.ts";
import { sharedBlocker, type TrackerBlocker } from "../blocking/tracker-blocker.ts";
import { createEdgeHandler, type EdgeBackend, SentLog } from "../delivery/edge-handler.ts";
import { SharedParts } from "../delivery/shared-parts.ts";
import type { DeviceCalls } from "../devices/device-directory.ts";
import { answerPhone, OwnDevice, unavailable } from "../devices/phone-door.ts";
import { EdgeSettings } from "../front/edge-settings.ts";
import { FetchRoad } from "../session/fetch-road.ts";
import { type Connection, type EdgeSocket, hear, TunnelServer } from "../session/tunnel-server.ts";
import { directoryOf } from "./directory-object.ts";
import { type ObjectBodyStore, objectBodyStore } from "./object-bodies.ts";
import { objectRecordStore, objectSentLogStore } from "./object-state.ts";
import { StateDisk } from "./state-disk.ts";
import { createWorkerdUpstream } from "./upstream-workerd.ts";
import type { WorkerEnvironment } from "./worker-environment.ts";

/** Shared by all objects in the isolate. */
const parts = new SharedParts({
  zstd,
  codecs: async () => {
    // Its package has types for what is in it, and knows of no module.
    const { default: pngDecoder } = pngModule as unknown as { readonly default: WebAssembly.Module };
    return { avifEncoder, jpegDecoder, pngDecoder, webpEncoder };
  },
  ...epochClock,
});

/** Attachment of a socket on which nothing was said yet. */
const FRESH = "fresh";

/** Any pending timer keeps the object in memory; this one runs only while exchanges are under way. */
const STAY_AWAKE_INTERVAL = 5_000;

/** A phone's WebSocket. The fetch road has sockets of another kind. */
class HibernatableSocket implements EdgeSocket {
  readonly socket: WebSocket;

  constructor(socket: WebSocket) {
    this.socket = socket;
  }

  send(message: Uint8Array | string): boolean {
    try {
      this.socket.send(message);
      return true;
    } catch {
      return false;
    }
  }

  close(code: number, reason: string): void {
    try {
      this.socket.close(code, reason);
    } catch {
      // The socket was closed already.
    }
  }
}

export class TunnelObject extends DurableObject<WorkerEnvironment> implements DeviceCalls {
  #device: OwnDevice;
  #server: TunnelServer;
  #backend: EdgeBackend;
  #bodies: ObjectBodyStore;
  #fetchRoad: FetchRoad;
  #sockets = new Map<WebSocket, { readonly transport: HibernatableSocket; readonly connection: Connection }>();
  #fresh = new Set<WebSocket>();
  #isRestored = false;
  #stayAwake: ReturnType<typeof setInterval> | null = null;

  constructor(ctx: DurableObjectState, env: WorkerEnvironment) {
    super(ctx, env);
    this.#backend = createWorkerdUpstream(ctx, env);
    this.#bodies = objectBodyStore(ctx.storage, new StateDisk(env), epochClock.now);
    const dictionaries = parts.dictionaries(this.#bodies);
    const sentLog = new SentLog(objectSentLogStore(ctx.storage, new StateDisk(env)), epochClock.now);
    const { plan } = new EdgeSettings(env);
    const trackers = blockerOf(env);
    this.#server = new TunnelServer({
      handle: createEdgeHandler(this.#backend, {
        sentLog,
        dictionaries,
        trackers,
      }),
      trackers,
      dictionaries: plan.codesAgainst ? dictionaries : null,
      images: parts.images(plan.recodesPictures, env.IMAGES),
      names: plan.marksReads ? parts.names : null,
      pushes: plan.pushes,
      onSnapshot: (transport, snapshot) => this.#saveAttachment(transport, snapshot),
      onActive: (active) => this.#setActive(active),
      onUsed: (bytes) => this.#device.used(bytes),
      // Nothing else frees what the runtime has queued: a socket that is closed keeps it as long as its phone likes.
      onUnread: () => ctx.abort("Cannot go on: the phone does not read what it asked for"),
      keptAliveAt: (transport) => this.#keptAliveAt(transport),
      ...epochClock,
      gathers: true,
    });
    this.#fetchRoad = new FetchRoad({
      connect: (transport) => this.#server.connect(transport),
      isUnread: () => this.#server.isUnread,
      isFirst: (name) => sentLog.isFirst(name),
      onClosed: () => this.#store(),
      ...epochClock,
    });
    this.#device = new OwnDevice({
      store: objectRecordStore(ctx.storage, new StateDisk(env)),
      directory: directoryOf(env),
      now: epochClock.now,
      isConnected: () => this.#server.isConnected,
      disconnect: (why) => this.#server.close(why),
      forgetPages: () => dictionaries.forget(),
      clearSites: () => this.#backend.siteData.clear(),
    });
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(KEEP_ALIVE, KEEP_ALIVE));
  }

  override async fetch(request: Request): Promise<Response> {
    this.#restore();
    return answerPhone(request, {
      accessKey: this.env.ROPEWAY_ACCESS_KEY ?? "",
      device: this.#device,
      directory: directoryOf(this.env),
      roads: {
        openSocket: (handshake) => this.#openSocket(handshake),
        answerFetchRoad: async (asked) => noticingDisconnect(await this.#fetchRoad.answer(asked)),
      },
    }).catch(unavailable);
  }

  // DeviceCalls

  enroll(...given: Parameters<DeviceCalls["enroll"]>): ReturnType<DeviceCalls["enroll"]> {
    return this.#device.enroll(...given);
  }

  usage(): ReturnType<DeviceCalls["usage"]> {
    this.#restore();
    return this.#device.usage();
  }

  unpair(...given: Parameters<DeviceCalls["unpair"]>): ReturnType<DeviceCalls["unpair"]> {
    this.#restore();
    return this.#device.unpair(...given);
  }

  #openSocket(request: Request): Response {
    const { opening } = parseOffer(request.headers.get("sec-websocket-protocol") ?? "");
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    const connection = this.#connect(server);
    // Requests in it are on their way to their origins while the answer to the handshake is on its way to the phone.
    if (opening !== null) connection.receive(opening);
    else this.#markFresh(server);
    return new Response(null, {
      status: 101,
      webSocket: client,
      headers: { "Sec-WebSocket-Protocol": SUBPROTOCOL },
    });
  }

  override alarm(): Promise<void> {
    return this.#bodies.expire();
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#restore();
    // From now on its session leaves a snapshot, or nothing.
    if (typeof message !== "string" && this.#fresh.delete(socket)) socket.serializeAttachment(null);
    const known = this.#sockets.get(socket);
    if (known === undefined) return;
    hear(known.connection, known.transport, typeof message === "string" ? message : new Uint8Array(message));
  }

  override webSocketClose(socket: WebSocket, code: number, _reason: string, wasClean: boolean): void {
    this.#restore(socket);
    this.#forget(socket, wasClean && code === CLOSED_NORMALLY);
    // RFC 6455 section 5.5.1: the close is answered; codes that may not be sent are answered by 1000.
    const mayEcho = code === CLOSED_NORMALLY || endsSession(code);
    try {
      socket.close(mayEcho ? code : CLOSED_NORMALLY, "");
    } catch {
      // The runtime has answered it already.
    }
  }

  override webSocketError(socket: WebSocket): void {
    this.#restore(socket);
    this.#forget(socket, false);
  }

  /** @param lost the socket whose end woke the object: the runtime does not list it any more. */
  #restore(lost?: WebSocket): void {
    if (this.#isRestored) return;
    this.#isRestored = true;
    const sockets = new Set(this.ctx.getWebSockets());
    if (lost !== undefined) sockets.add(lost);
    for (const socket of sockets) {
      if (socket.deserializeAttachment() !== FRESH) continue;
      // A phone's spare one, or its handshake took long: its session is another's yet, or none.
      sockets.delete(socket);
      this.#fresh.add(socket);
      this.#connect(socket);
    }
    const snapshotOf = (socket: WebSocket): unknown => socket.deserializeAttachment();
    const isOpen = ({ readyState }: WebSocket): boolean => readyState === WebSocket.OPEN;
    // A socket that is closing was replaced or refused, and its session goes on elsewhere if at all; or it was lost just now,
    // and what it carried is resumed on another.
    const known = [...sockets].filter((socket) => isOpen(socket) || snapshotOf(socket) !== null);
    const transports = known.map((socket) => new HibernatableSocket(socket));
    const connections = this.#server.restore(
      transports.map((transport) => [transport, snapshotOf(transport.socket)] as const),
    );
    for (const [index, transport] of transports.entries()) {
      const connection = connections[index];
      if (connection !== undefined) this.#sockets.set(transport.socket, { transport, connection });
    }
  }

  #connect(socket: WebSocket): Connection {
    const transport = new HibernatableSocket(socket);
    const connection = this.#server.connect(transport);
    this.#sockets.set(socket, { transport, connection });
    return connection;
  }

  #markFresh(socket: WebSocket): void {
    this.#fresh.add(socket);
    socket.serializeAttachment(FRESH);
  }

  #forget(socket: WebSocket, isOrderly: boolean): void {
    this.#fresh.delete(socket);
    const known = this.#sockets.get(socket);
    if (known === undefined) return;
    known.connection.closed(isOrderly);
    this.#store();
    this.#sockets.delete(socket);
  }

  /** A change that cannot be stored now is stored with the next one. */
  #store(): void {
    this.ctx.waitUntil(Promise.allSettled([this.#backend.siteData.flush(), this.#device.settle()]));
  }

  #saveAttachment(transport: Transport, snapshot: object | null): void {
    if (!(transport instanceof HibernatableSocket)) return;
    const { socket } = transport;
    try {
      socket.serializeAttachment(snapshot);
    } catch {
      // Above what a socket may carry: without an attachment the session is opened anew after hibernation.
      if (snapshot !== null) socket.serializeAttachment(null);
    }
  }

  #keptAliveAt(transport: Transport): number | null {
    if (!(transport instanceof HibernatableSocket)) return null;
    return this.ctx.getWebSocketAutoResponseTimestamp(transport.socket)?.getTime() ?? null;
  }

  #setActive(active: boolean): void {
    if (this.#stayAwake !== null) clearInterval(this.#stayAwake);
    if (!active) this.ctx.waitUntil(this.#device.settle().catch(() => {}));
    this.#stayAwake = active ? setInterval(() => {}, STAY_AWAKE_INTERVAL) : null;
  }
}

/** Null where the edge has no block list. */
function blockerOf(env: WorkerEnvironment): TrackerBlocker | null {
  if (new EdgeSettings(env).blockLists.length === 0) return null;
  return sharedBlocker(() => directoryOf(env).blockList(), epochClock);
}

/** A stream of JavaScript's own is never told that nobody reads it any more; one of the runtime's is, with its next bytes. */
function noticingDisconnect(response: Response): Response {
  return response.body === null
    ? response
    : new Response(response.body.pipeThrough(new IdentityTransformStream()), response);
}
