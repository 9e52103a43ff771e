import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import type { RequestHead } from "../../shared/http/heads.ts";
import { type RequestHandler, type ServerRequest, serveExchange } from "../../shared/http/server-exchange.ts";
import { Session } from "../../shared/mux/session.ts";
import { CLOSE_CODE_BASE } from "../../shared/subprotocol.ts";
import { bodyOf, ConsumerLog, CountedBody, requestHead, responseHead } from "../../shared/testing/exchange-rig.ts";
import { settle } from "../../shared/testing/turns.ts";
import type { Transport } from "../../shared/transport.ts";
import { decodeMessage } from "../../shared/wire/frame.ts";
import { FakePlatform } from "./testing/fake-platform.ts";
import { Tunnel } from "./tunnel.ts";

/** A tunnel to an edge that answers by `handle`, over sockets that a test opens and cuts. */
function rig(handle: RequestHandler) {
  const platform = new FakePlatform();
  const tunnel = new Tunnel({ onPhase() {}, onTraffic() {} }, platform);
  const requests: ServerRequest[] = [];
  let edge: Session | null = null;
  tunnel.start("ws://edge/", "token", { userAgent: "phone", acceptLanguage: "en" });

  /** Opens the socket that the tunnel is waiting for, with the edge behind it. */
  const connect = async (): Promise<void> => {
    if (platform.socket.readyState !== WebSocket.CONNECTING) platform.pass(15_000);
    const { socket } = platform;
    const isOpen = (): boolean => socket.readyState === WebSocket.OPEN;
    const transport: Transport = {
      send(message) {
        const copy = message.slice();
        queueMicrotask(() => isOpen() && socket.receive(copy.buffer));
        return isOpen();
      },
      close: (code) => queueMicrotask(() => isOpen() && socket.lose(code)),
    };
    let greeted = false;
    socket.onSent = (message) =>
      queueMicrotask(() => {
        if (!isOpen()) return;
        if (!greeted) {
          greeted = true;
          const hello = decodeMessage(message).next().value;
          if (hello?.type !== "hello") throw new Error("Cannot go on: the first frame is not HELLO");
          if (edge === null && (hello.resume || hello.received > 0 || hello.next > 0)) {
            return socket.lose(CLOSE_CODE_BASE + ErrorCode.LINK_LOST);
          }
          edge ??= new Session({
            role: "edge",
            sessionId: hello.sessionId,
            handler: {
              onEnd() {},
              onStream: (stream) =>
                serveExchange(stream, (request) => {
                  requests.push(request);
                  return handle(request);
                }),
            },
          });
          edge.channel.resume(transport, hello);
        }
        edge?.channel.receive(message, transport);
      });
    socket.open();
    await settle();
  };
  return {
    platform,
    tunnel,
    requests,
    connect,
    fetch(head: Partial<RequestHead> = {}, body: ReadableStream<Uint8Array> | null = null) {
      const consumer = new ConsumerLog();
      return { consumer, exchange: tunnel.request({ ...requestHead, ...head }, body, consumer) };
    },
    /** The edge loses the session with its memory. */
    forget() {
      edge = null;
    },
  };
}

const text: RequestHandler = async () => ({ head: responseHead, body: bodyOf("text") });
const silence: RequestHandler = () => new Promise(() => {});

describe("Tunnel", () => {
  it("keeps requests until the link is open, and counts what it moves", async () => {
    const { tunnel, connect, fetch } = rig(async () => ({
      head: { ...responseHead, headers: [["content-length", "4"]] },
      body: bodyOf("text"),
    }));
    const { consumer } = fetch();
    await connect();
    expect([consumer.text, consumer.events]).toEqual(["text", ["head", "end"]]);
    const stats = tunnel.stats();
    expect(stats).toMatchObject({ sockets: 1, socketsOpened: 1, sessions: 1, requests: 1, requestsDone: 1 });
    expect(stats).toMatchObject({ requestsFailed: 0, originBytes: 4 });
    expect(tunnel.counters.expectedBytes).toBe(4);
    for (const count of [stats.linkBytesUp, stats.linkBytesDown, stats.messagesUp, stats.messagesDown]) {
      expect(count).toBeGreaterThan(0);
    }
  });

  it("resumes after a cut: the answer comes once and whole", async () => {
    let answer: () => void = () => {};
    const wait = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { platform, tunnel, requests, connect, fetch } = rig(async (request) => {
      await wait;
      return text(request);
    });
    const { consumer } = fetch({ method: "POST" }, bodyOf("upload"));
    await connect();
    platform.socket.lose();
    answer();
    await settle();
    expect(consumer.events).toEqual([]);
    await connect();
    expect([consumer.text, consumer.events, requests.length]).toEqual(["text", ["head", "end"], 1]);
    expect(tunnel.stats()).toMatchObject({ sessions: 1, socketsOpened: 2 });
    expect(tunnel.stats().resumes).toBeGreaterThan(0);
  });

  it("repeats a GET in a new session when the edge lost the old one; counters never go back", async () => {
    const answers = [silence, text];
    const { platform, tunnel, requests, connect, fetch, forget } = rig((request) => (answers.shift() ?? text)(request));
    const { consumer } = fetch();
    await connect();
    const before = tunnel.stats();
    forget();
    platform.socket.lose();
    await connect();
    await connect();
    expect([consumer.text, consumer.events, requests.length]).toEqual(["text", ["head", "end"], 2]);
    const after = tunnel.stats();
    expect(after).toMatchObject({ sessions: 2, requests: 1, requestsDone: 1, requestsFailed: 0 });
    expect(after.linkBytesUp).toBeGreaterThan(before.linkBytesUp);
    expect(after.requestHeadBytes).toBeGreaterThan(before.requestHeadBytes);
  });

  it("repeats no POST, and nothing that was answered, when the edge lost the session", async () => {
    const { platform, tunnel, requests, connect, fetch, forget } = rig((request) =>
      request.head.method === "POST"
        ? silence(request)
        : Promise.resolve({ head: responseHead, body: new ReadableStream<Uint8Array>() }),
    );
    const post = fetch({ method: "POST" });
    const answered = fetch();
    await connect();
    forget();
    platform.socket.lose();
    await connect();
    expect(post.consumer.error?.code).toBe(ErrorCode.LINK_LOST);
    expect(answered.consumer.events).toEqual(["head", "error"]);
    await connect();
    expect(requests).toHaveLength(2);
    expect(tunnel.stats().requestsFailed).toBe(2);
  });

  it("fails requests at once while the device is offline", async () => {
    const { tunnel, fetch } = rig(text);
    tunnel.setOnline(false);
    const { consumer } = fetch();
    await consumer.over;
    expect(consumer.error?.code).toBe(ErrorCode.OFFLINE);
    expect(tunnel.stats()).toMatchObject({ requests: 1, requestsFailed: 1 });
  });

  it("lets nobody wait for ever for an edge that cannot be reached, and goes on when it can", async () => {
    const { platform, connect, fetch } = rig(text);
    platform.probed = "unreachable";
    const { consumer } = fetch();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      platform.socket.lose();
      await settle(2);
      platform.pass(15_000);
    }
    expect(consumer.error?.code).toBe(ErrorCode.LINK_LOST);
    const next = fetch();
    await connect();
    expect(next.consumer.text).toBe("text");
  });

  it("stops the origin when a request is given up, and says nothing more", async () => {
    const { tunnel, requests, connect, fetch } = rig(silence);
    const { consumer, exchange } = fetch();
    await connect();
    exchange.cancel();
    exchange.cancel();
    await settle();
    expect([requests[0]?.signal.aborted, consumer.events]).toEqual([true, []]);
    expect(tunnel.stats()).toMatchObject({ requestsDone: 1, requestsFailed: 0 });
  });

  it("gives credit back for responses that were given up unread, also after their end", async () => {
    const SIZE = 900_000;
    const { connect, fetch } = rig(async () => ({ head: responseHead, body: new CountedBody(SIZE).stream }));
    await connect();
    for (let round = 0; round < 8; round += 1) {
      const { consumer, exchange } = fetch();
      consumer.pace = () => new Promise(() => {});
      await consumer.over;
      expect(consumer.bytes).toBe(SIZE);
      exchange.cancel();
    }
  });
});
