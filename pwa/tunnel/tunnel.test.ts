import { describe, expect, it } from "vitest";
import * as limits from "../../shared/limits.ts";
import { parseOffer } from "../../shared/subprotocol.ts";
import { bodyOf, CountedBody, responseHead } from "../../shared/testing/http/exchange-rig.ts";
import { settle } from "../../shared/testing/turns.ts";
import { decodeMessage, type Frame } from "../../shared/wire/frame.ts";
import type { FakePlatform } from "./testing/fake-platform.ts";
import { silence, text, tunnelRig } from "./testing/tunnel-rig.ts";

describe("Tunnel", () => {
  it("keeps requests until the link is open, and counts what it moves", async () => {
    const { tunnel, connect, fetch } = tunnelRig(async () => ({
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
    const { platform, tunnel, requests, connect, fetch } = tunnelRig(async (request) => {
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

  it("stops the origin when a request is given up, and says nothing more", async () => {
    const { tunnel, requests, connect, fetch } = tunnelRig(silence);
    const { consumer, exchange } = fetch();
    await connect();
    exchange.cancel();
    exchange.cancel();
    await settle();
    expect([requests[0]?.signal.aborted, consumer.events]).toEqual([true, []]);
    expect(tunnel.stats()).toMatchObject({ requestsDone: 1, requestsFailed: 0 });
  });

  it("gives credit back for responses that were given up unread, also after their end", async () => {
    const SIZE = limits.firstStreamCreditBytes;
    const { connect, fetch } = tunnelRig(async () => ({ head: responseHead, body: new CountedBody(SIZE).stream }));
    await connect();
    for (let round = 0; round < 400; round += 1) {
      const { consumer, exchange } = fetch();
      consumer.pace = () => new Promise(() => {});
      await consumer.over;
      expect(consumer.bytes).toBe(SIZE);
      exchange.cancel();
    }
  });
});

/** Without what says that the round trip is known: more credit for the edge, and a ping with it where that took long. */
function sentAfterHandshake({ socket }: FakePlatform): Frame[] {
  const frames = socket.sent.flatMap((message) => [...decodeMessage(message as Uint8Array)]);
  return frames.filter(({ type }) => type !== "credit" && type !== "ping");
}

describe("a tunnel that is opened", () => {
  it("has the first requests ride in the handshake", async () => {
    const { platform, tunnel, start, connect, fetch } = tunnelRig(text, { started: false });
    const { consumer } = fetch();
    start();
    const { opening } = parseOffer(platform.socket.protocols.join(","));
    expect([...decodeMessage(opening ?? new Uint8Array(0))].slice(0, 4)).toMatchObject([
      { type: "hello" },
      { type: "settings" },
      { type: "head", streamId: 0 },
      { type: "head", streamId: 1 },
    ]);
    await connect();
    expect([consumer.text, sentAfterHandshake(platform)]).toEqual(["text", []]);
    expect(tunnel.stats()).toMatchObject({ sessions: 1, socketsOpened: 1 });
  });

  it("has requests ride in the handshake of a reconnect, once", async () => {
    const { platform, requests, connect, fetch } = tunnelRig(text);
    await connect();
    await fetch().consumer.over;
    platform.socket.lose();
    const { consumer } = fetch();
    platform.pass(0);
    await connect();
    expect([consumer.text, sentAfterHandshake(platform), requests.length]).toEqual(["text", [], 2]);
  });

  it("begins a session anew that no edge has heard of, and runs nothing twice that one had", async () => {
    const { platform, tunnel, requests, connect, fetch } = tunnelRig(text);
    const { consumer } = fetch({ method: "POST" });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      platform.socket.lose();
      await settle(2);
      platform.pass(15_000);
    }
    await connect();
    expect([consumer.text, requests.length]).toEqual(["text", 1]);
    expect(tunnel.stats().sessions).toBe(1);
  });
});
