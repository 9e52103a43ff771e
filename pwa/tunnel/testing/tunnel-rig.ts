/** A tunnel with its edge, without a network: sockets open and break, and time passes, as a test says. */
import { ErrorCode } from "../../../shared/errors.ts";
import { type RequestHandler, type ServerRequest, serveExchange, servePush } from "../../../shared/http/exchange.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import type { Attachment } from "../../../shared/mux/pipe/channel.ts";
import { confirmRetirement, resumeChannel } from "../../../shared/mux/session/channel-set.ts";
import { Session } from "../../../shared/mux/session/session.ts";
import { CLOSE_CODE_BASE, CLOSED_NORMALLY, END_OF_LINK, parseOffer } from "../../../shared/subprotocol.ts";
import { bodyOf, ConsumerLog, responseHead } from "../../../shared/testing/http/exchange-rig.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import { carriedReceiver } from "../../../shared/testing/mux/carried.ts";
import { settle } from "../../../shared/testing/turns.ts";
import type { Transport } from "../../../shared/transport.ts";
import { decodeMessage } from "../../../shared/wire/frame.ts";
import type { LinkPhase } from "../../messages/tunnel-messages.ts";
import type { ResponseSource } from "../exchange/exchange.ts";
import { RECONNECT_DELAY_MAX } from "../sockets/socket-keeper.ts";
import { Tunnel } from "../tunnel.ts";
import { FakePlatform, type FakeSocket } from "./fake-platform.ts";

/** What the edge's handler gets, and the session it came in. */
export interface EdgeRequest extends ServerRequest {
  readonly session: number;
}

export interface RigOptions {
  readonly started?: boolean;
  readonly sources?: readonly ResponseSource[];
  /** How what the phone sends reaches the edge; at once if not given. */
  readonly uplink?: (socket: FakeSocket, bytes: number, deliver: () => void) => void;
}

/** A tunnel to an edge that answers by `handle`, over sockets that a test opens and cuts. */
export function tunnelRig(
  handle: RequestHandler,
  { started = true, sources = [], uplink = (_socket, _bytes, deliver) => queueMicrotask(deliver) }: RigOptions = {},
) {
  const platform = new FakePlatform();
  const phases: LinkPhase[] = [];
  const uncertain: string[] = [];
  const tunnel = new Tunnel(
    {
      onPhase: (phase) => phases.push(phase),
      onTraffic() {},
      onUncertain: ({ url }) => uncertain.push(url),
    },
    platform,
    sources,
  );
  const requests: EdgeRequest[] = [];
  /** The edge's sessions, by id. */
  const known = new Map<string, Session>();
  let sessions = 0;
  const edges: Session[] = [];
  const sessionHeads: Record<string, string>[] = [];
  tunnel.introduce({ userAgent: "phone", acceptLanguage: "en" });
  const start = () => tunnel.start("ws://edge/", "token");
  if (started) start();

  /** Opens the socket that the tunnel is waiting for, with the edge behind it. */
  const connect = async (): Promise<void> => {
    const latest = platform.time + RECONNECT_DELAY_MAX;
    while (platform.socket.readyState !== WebSocket.CONNECTING && platform.time < latest) platform.pass(100);
    serve(platform.socket);
    await settle();
  };
  /** Opens all sockets of further channels that the tunnel is waiting for. @returns those that are open. */
  const connectFurther = async (): Promise<FakeSocket[]> => {
    const waiting = platform.furtherSockets.filter(({ readyState }) => readyState === WebSocket.CONNECTING);
    for (const socket of waiting) serve(socket);
    await settle();
    return platform.furtherSockets.filter(({ readyState }) => readyState === WebSocket.OPEN);
  };
  const serve = (socket: FakeSocket): void => {
    const isOpen = (): boolean => socket.readyState === WebSocket.OPEN;
    const transport: Transport = {
      send(message) {
        const copy = message.slice();
        queueMicrotask(() => isOpen() && socket.receive(copy.buffer));
        return isOpen();
      },
      close: (code) => queueMicrotask(() => isOpen() && socket.lose(code)),
    };
    let edge: Session | null = null;
    let attachment: Attachment | null = null;
    let channel = 0;
    const receive = (message: Uint8Array): void => {
      if (!isOpen()) return;
      if (edge === null) {
        const hello = decodeMessage(message).next().value;
        if (hello?.type !== "hello") throw new Error("Cannot go on: the first frame is not HELLO");
        edge = known.get(hello.sessionId.join()) ?? null;
        channel = hello.channel ?? 0;
        if (edge === null && (hello.received > 0 || hello.next > 0 || channel > 0)) {
          return socket.lose(CLOSE_CODE_BASE + ErrorCode.LINK_LOST);
        }
        edge ??= openSession(hello.sessionId);
        known.set(hello.sessionId.join(), edge);
        try {
          attachment = resumeChannel(edge.channels, transport, hello);
        } catch {
          known.delete(hello.sessionId.join());
          return socket.lose(CLOSE_CODE_BASE + ErrorCode.LINK_LOST);
        }
      }
      attachment?.receive(message);
    };
    socket.onSent = (message) => uplink(socket, message.length, () => receive(message));
    socket.onSentText = (text) => {
      if (text !== END_OF_LINK) return;
      queueMicrotask(() => {
        edge?.channels.beginRetirement(channel);
        attachment?.detach();
        queueMicrotask(() => {
          if (!isOpen()) return;
          if (edge !== null) confirmRetirement(edge, channel);
          socket.lose(CLOSED_NORMALLY, true);
        });
      });
    };
    socket.onGone = () => attachment?.detach();
    const { opening } = parseOffer(socket.protocols.join(","));
    socket.open();
    if (opening !== null) receive(opening);
  };
  const openSession = (sessionId: Uint8Array): Session => {
    sessions += 1;
    const session = sessions;
    const edge: Session = new Session({
      role: "edge",
      sessionId,
      now: () => platform.now(),
      handler: {
        onEnd() {},
        onStream: (stream) =>
          serveExchange(stream, (request) => {
            requests.push({ ...request, session });
            return handle(request);
          }),
        onCarried: carriedReceiver(() => edge),
        onSessionHead: (fields) => sessionHeads.push(Object.fromEntries(fields)),
      },
    });
    edges.push(edge);
    return edge;
  };
  return {
    platform,
    tunnel,
    phases,
    uncertain,
    requests,
    sessionHeads,
    start,
    connect,
    connectFurther,
    known,
    /** Of the session of the moment, at the edge. */
    edge: (): Session | undefined => edges.at(-1),
    fetch(head: Partial<RequestHead> = {}, body: ReadableStream<Uint8Array> | null = null) {
      const consumer = new ConsumerLog();
      return { consumer, exchange: tunnel.ask({ head: { ...requestHead, ...head }, body, push: null }, consumer) };
    },
    /** The edge pushes, in the session of the moment, what a script of a page would fetch. */
    async push(answer: RequestHandler, document = "0:1"): Promise<void> {
      const stream = edges.at(-1)?.streams.openPush({ urgency: 7, incremental: false });
      if (stream != null) servePush(stream, { head: requestHead, document }, answer);
      await settle();
    },
    /** The edge loses the session with its memory, and the phone its socket. */
    async restart() {
      known.clear();
      platform.socket.lose();
      await connect();
      await connect();
    },
    /** Attempts to connect fail for so long. */
    async fail(time: number) {
      for (let end = platform.time + time; platform.time < end; platform.pass(500)) {
        if (platform.socket.readyState === WebSocket.CONNECTING) platform.socket.lose();
        await settle(1);
      }
    },
  };
}

export const text: RequestHandler = async () => ({ head: responseHead, body: bodyOf("text") });
export const silence: RequestHandler = () => new Promise(() => {});
export const echo: RequestHandler = async ({ body }) => ({
  head: responseHead,
  body: body && (body as ReadableStream<Uint8Array<ArrayBuffer>>),
});
