import { describe, expect, it } from "vitest";
import type { RequestHandler } from "../../shared/http/exchange.ts";
import { EdgeRequest, END_OF_LINK, parseOffer } from "../../shared/subprotocol.ts";
import { bodyOf, type ConsumerLog, responseHead } from "../../shared/testing/http/exchange-rig.ts";
import { messageOf } from "../../shared/testing/mux/scripted-transport.ts";
import { settle } from "../../shared/testing/turns.ts";
import { decodeMessage, type SequencedFrame } from "../../shared/wire/frame.ts";
import { FURTHER_LINK_IDLE_TIME } from "./sockets/further-sockets.ts";
import { echo, silence, text, tunnelRig } from "./testing/tunnel-rig.ts";

const SIZE = 600_000;

/** Bytes of which none is like those around it, other ones for each URL. */
function bytesOf(url: string): Uint8Array<ArrayBuffer> {
  const seed = url.length * 31 + url.charCodeAt(url.length - 1);
  return Uint8Array.from({ length: SIZE }, (_, index) => (index * 7 + (index >> 8) * 13 + seed) & 0xff);
}

/** Bodies of which the second half comes when a test says so. */
function downloads() {
  const rest = Promise.withResolvers<void>();
  const handle: RequestHandler = async ({ head }) => {
    const bytes = bytesOf(head.url);
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(bytes.slice(0, SIZE / 2));
        await rest.promise;
        controller.enqueue(bytes.slice(SIZE / 2));
        controller.close();
      },
    });
    return { head: responseHead, body };
  };
  return { handle, goOn: () => rest.resolve() };
}

const isWhole = (log: ConsumerLog, url: string): boolean =>
  log.error === null && Buffer.concat(log.chunks).equals(Buffer.from(bytesOf(url)));
const urls = (count: number): string[] => Array.from({ length: count }, (_, index) => `https://a.example/${index}`);

/** A tunnel with so many channels, all open. */
async function channelRig(handle: RequestHandler, channels: number) {
  const rig = tunnelRig(handle);
  rig.tunnel.setExperiment({ channels });
  await rig.connect();
  const further = await rig.connectFurther();
  const busy = (): number => rig.edge()?.channels.all.filter(({ streams }) => streams.size > 0).length ?? 0;
  return { ...rig, further, busy };
}

describe("channels of a tunnel", () => {
  it("are opened after the first, as many as are asked for, and carry requests", async () => {
    const { platform, tunnel, connect, connectFurther, fetch, edge } = tunnelRig(text);
    tunnel.setExperiment({ channels: 3 });
    fetch();
    await settle();
    expect([platform.furtherSockets.length, tunnel.stats().channelsWanted]).toEqual([0, 3]);
    await connect();
    expect([platform.furtherSockets.length, tunnel.stats().sockets]).toEqual([2, 1]);
    await connectFurther();
    expect(tunnel.stats()).toMatchObject({ sockets: 3, socketsOpened: 3, channels: 3, channelsWanted: 3, sessions: 1 });
    const logs = urls(6).map((url) => fetch({ url }).consumer);
    await settle();
    expect(logs.map((log) => log.text)).toEqual(Array(6).fill("text"));
    expect(edge()?.channels.all.map(({ channel }) => channel.traffic.messagesUp > 1)).toEqual([true, true, true]);
  });

  it("carry what is asked after a script set a cookie behind that, until it is answered", async () => {
    for (const [method, url, channels] of [
      ["PUT", EdgeRequest.SCRIPT_COOKIE, 1],
      ["GET", "https://a.example/", 3],
    ] as const) {
      const { fetch, busy } = await channelRig(silence, 3);
      fetch({ method, url });
      for (const later of urls(3)) fetch({ url: later });
      await settle();
      expect(busy()).toBe(channels);
    }
  });

  it("are one where the edge is near", async () => {
    const { platform, tunnel, connect, fetch } = tunnelRig(text);
    await connect();
    await Promise.all(urls(20).map((url) => fetch({ url }).consumer.over));
    expect(platform.furtherSockets).toEqual([]);
    expect(tunnel.stats()).toMatchObject({ sockets: 1, channels: 1, channelsWanted: 1 });
  });

  it("are several where the edge is far, from when the first is open", async () => {
    const { platform, connect } = tunnelRig(text);
    platform.pass(900);
    await connect();
    expect(platform.furtherSockets.length).toBeGreaterThan(1);
  });

  it("are one where only the fetch road passes", async () => {
    const { platform, tunnel, connect, fetch } = tunnelRig(text);
    platform.takesFurtherSockets = false;
    tunnel.setExperiment({ channels: 3 });
    await connect();
    const { consumer } = fetch();
    await consumer.over;
    expect([consumer.text, tunnel.stats().sockets]).toEqual(["text", 1]);
  });

  it("follow the setting while they are open", async () => {
    const { platform, tunnel, connectFurther, fetch } = await channelRig(text, 3);
    tunnel.setExperiment({ channels: 1 });
    await settle();
    expect(tunnel.stats()).toMatchObject({ sockets: 1, channels: 1, channelsWanted: 1 });
    tunnel.setExperiment({ channels: 5 });
    await connectFurther();
    expect(tunnel.stats()).toMatchObject({ sockets: 5, channels: 5, sessions: 1 });
    const logs = urls(5).map((url) => fetch({ url }).consumer);
    await settle();
    expect(logs.map((log) => log.text)).toEqual(Array(5).fill("text"));
    tunnel.setExperiment({});
    await settle();
    expect([tunnel.stats().channelsWanted < 5, platform.sockets.length]).toEqual([true, 1]);
  });
});

describe("a socket that is lost in the middle of downloads", () => {
  it("of a further channel goes on where it was, every byte once, and the others do not wait", async () => {
    const { handle, goOn } = downloads();
    const { platform, tunnel, further, connectFurther, fetch, requests, busy } = await channelRig(handle, 3);
    const logs = urls(3).map((url) => ({ url, log: fetch({ url }).consumer }));
    while (logs.some(({ log }) => log.bytes === 0)) await settle(1);
    expect(busy()).toBe(3);
    further[0]?.lose();
    goOn();
    await settle();
    expect(logs.filter(({ log, url }) => isWhole(log, url)).length).toBeGreaterThanOrEqual(2);
    platform.pass(100);
    await connectFurther();
    expect(logs.every(({ log, url }) => isWhole(log, url))).toBe(true);
    expect([requests.length, tunnel.stats().sessions, tunnel.stats().sockets]).toEqual([3, 1, 3]);
  });

  it("of a further channel goes on over the first one's at once", async () => {
    const { handle, goOn } = downloads();
    const { tunnel, further, fetch } = await channelRig(handle, 3);
    const logs = urls(3).map((url) => ({ url, log: fetch({ url }).consumer }));
    while (logs.some(({ log }) => log.bytes === 0)) await settle(1);
    for (const socket of further) socket.lose();
    goOn();
    await settle();
    expect(logs.every(({ log, url }) => isWhole(log, url))).toBe(true);
    expect(tunnel.stats()).toMatchObject({ sockets: 1, channels: 3, sessions: 1 });
  });

  it("with all others goes on over the first that is back, and says so in its handshake", async () => {
    const { handle, goOn } = downloads();
    const { platform, tunnel, connect, fetch } = await channelRig(handle, 3);
    const logs = urls(3).map((url) => ({ url, log: fetch({ url }).consumer }));
    while (logs.some(({ log }) => log.bytes === 0)) await settle(1);
    for (const socket of [platform.socket, ...platform.furtherSockets]) socket.lose();
    goOn();
    platform.pass(100);
    expect(platform.furtherSockets).toHaveLength(2);
    const opening = [...decodeMessage(parseOffer(platform.socket.protocols.join(",")).opening ?? new Uint8Array(0))];
    expect(opening.filter(({ type }) => type === "carry")).toEqual([
      { type: "carry", channel: 1, link: 4 },
      { type: "carry", channel: 2, link: 5 },
    ]);
    await connect();
    expect(logs.every(({ log, url }) => isWhole(log, url))).toBe(true);
    expect(tunnel.stats()).toMatchObject({ sockets: 1, channels: 3, sessions: 1 });
  });

  it("takes no new request before the edge was heard on the next", async () => {
    const { platform, further, connectFurther, fetch, requests } = await channelRig(silence, 2);
    const [, second] = urls(2).map((url) => fetch({ url }));
    await settle();
    further[0]?.lose();
    platform.pass(100);
    for (const url of urls(3)) fetch({ url });
    await settle();
    expect(requests).toHaveLength(5);
    await connectFurther();
    second?.exchange.cancel();
    await settle();
    expect(requests.filter(({ signal }) => signal.aborted)).toHaveLength(1);
  });

  it("of the first channel leaves the others to go on, with new requests too", async () => {
    const { handle, goOn } = downloads();
    const { platform, tunnel, connect, fetch, requests, busy } = await channelRig(handle, 3);
    const logs = urls(3).map((url) => ({ url, log: fetch({ url }).consumer }));
    while (logs.some(({ log }) => log.bytes === 0)) await settle(1);
    expect(busy()).toBe(3);
    platform.socket.lose();
    goOn();
    const late = fetch({ url: "https://a.example/late" });
    await settle();
    expect(logs.filter(({ log, url }) => isWhole(log, url)).length).toBeGreaterThanOrEqual(2);
    expect(isWhole(late.consumer, "https://a.example/late")).toBe(true);
    await connect();
    expect(logs.every(({ log, url }) => isWhole(log, url))).toBe(true);
    expect([requests.length, tunnel.stats().sessions, tunnel.stats().channels]).toEqual([4, 1, 3]);
  });

  it("with all others goes on over all of them", async () => {
    const { handle, goOn } = downloads();
    const { platform, tunnel, connect, connectFurther, fetch, requests } = await channelRig(handle, 4);
    const logs = urls(8).map((url) => ({ url, log: fetch({ url }).consumer }));
    while (logs.some(({ log }) => log.bytes === 0)) await settle(1);
    for (const socket of [platform.socket, ...platform.furtherSockets]) socket.lose();
    goOn();
    platform.pass(100);
    await connectFurther();
    await connect();
    await connectFurther();
    expect(logs.every(({ log, url }) => isWhole(log, url))).toBe(true);
    expect([requests.length, tunnel.stats().sessions]).toEqual([8, 1]);
  });

  it("has uploads arrive whole and once", async () => {
    const { platform, further, connectFurther, fetch, requests } = await channelRig(echo, 3);
    const uploads = urls(3).map((url) => {
      const body = new Blob([bytesOf(url)]).stream();
      return { url, log: fetch({ url, method: "POST" }, body).consumer };
    });
    while (uploads.some(({ log }) => log.bytes === 0)) await settle(1);
    further[1]?.lose();
    platform.pass(100);
    await connectFurther();
    await Promise.all(uploads.map(({ log }) => log.over));
    expect(uploads.every(({ log, url }) => isWhole(log, url))).toBe(true);
    expect(requests).toHaveLength(3);
  });
});

describe("an edge that lost the session", () => {
  it("is told of a new one, with as many channels, on which requests are repeated that may be", async () => {
    const { platform, tunnel, restart, further, connectFurther, fetch, requests } = await channelRig(
      async (request) => (requests.length <= 3 ? silence(request) : text(request)),
      3,
    );
    expect(further).toHaveLength(2);
    const logs = urls(3).map((url) => fetch({ url }).consumer);
    await settle();
    for (const socket of further) socket.lose();
    await restart();
    platform.pass(100);
    await connectFurther();
    expect(logs.map((log) => log.text)).toEqual(Array(3).fill("text"));
    expect(tunnel.stats()).toMatchObject({ sockets: 3, channels: 3 });
  });

  it("says so on a further channel, and all are opened anew", async () => {
    const { platform, tunnel, known, further, connect, connectFurther, fetch } = await channelRig(text, 3);
    await fetch().consumer.over;
    known.clear();
    further[0]?.lose();
    platform.pass(100);
    await connectFurther();
    const { consumer } = fetch();
    await connect();
    await connectFurther();
    expect(consumer.text).toBe("text");
    expect(tunnel.stats()).toMatchObject({ sessions: 2, sockets: 3, channels: 3 });
  });
});

describe("further channels that nobody uses", () => {
  it("are closed after a while, in an orderly way, and opened again for the next request", async () => {
    const { platform, tunnel, further, connectFurther, fetch, edge } = await channelRig(text, 3);
    for (const url of urls(6)) await fetch({ url }).consumer.over;
    // Answers to what keeps links alive, as the edge's runtime gives them.
    for (let time = 0; time < FURTHER_LINK_IDLE_TIME; time += 1_000) {
      platform.pass(1_000);
      for (const socket of [platform.socket, ...platform.furtherSockets]) socket.receive("ropeway.keep-alive");
    }
    await settle();
    expect(further.map(({ sent }) => sent.at(-1))).toEqual([END_OF_LINK, END_OF_LINK]);
    expect(tunnel.stats()).toMatchObject({ sockets: 1, channels: 1, channelsWanted: 3 });
    expect(edge()?.channels.choice.attached).toHaveLength(1);
    const { consumer } = fetch();
    await connectFurther();
    const logs = urls(3).map((url) => fetch({ url }).consumer);
    await settle();
    expect([consumer, ...logs].map((log) => log.text)).toEqual(Array(4).fill("text"));
    expect(tunnel.stats()).toMatchObject({ sockets: 3, channels: 3, sessions: 1 });
  });

  it("stay until the edge was heard on them: what it has put there may have to come again", async () => {
    const { platform, tunnel, connect } = tunnelRig(text);
    tunnel.setExperiment({ channels: 2 });
    await connect();
    const [socket] = platform.furtherSockets;
    socket?.open();
    await settle();
    tunnel.setExperiment({ channels: 1 });
    const [hello] = decodeMessage(socket?.sent[0] as Uint8Array);
    expect([hello?.type, socket?.sent.length]).toEqual(["hello", 1]);
    socket?.receive(messageOf(hello as SequencedFrame).buffer as ArrayBuffer);
    await settle();
    tunnel.setExperiment({ channels: 1 });
    expect(socket?.sent.at(-1)).toBe(END_OF_LINK);
  });

  it("stay while their channels are carried: nothing was said on them yet that could be ended", async () => {
    let isHeld = false;
    const held: (() => void)[] = [];
    const rig = tunnelRig(text, {
      uplink: (_socket, _bytes, deliver) => (isHeld ? held.push(deliver) : queueMicrotask(deliver)),
    });
    rig.tunnel.setExperiment({ channels: 2 });
    await rig.connect();
    const [lost] = await rig.connectFurther();
    isHeld = true;
    lost?.lose();
    rig.platform.pass(100);
    const next = rig.platform.furtherSockets.at(-1);
    next?.open();
    await settle();
    rig.tunnel.setExperiment({ channels: 1 });
    expect([next === lost, next?.sent]).toEqual([false, []]);
    isHeld = false;
    for (const deliver of held) deliver();
    await settle();
    rig.tunnel.setExperiment({ channels: 2 });
    expect(rig.tunnel.stats()).toMatchObject({ channels: 2, sessions: 1 });
  });

  it("stay as long as anything is under way, and for a while after", async () => {
    let answer: () => void = () => {};
    const wait = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { platform, tunnel, fetch } = await channelRig(async () => {
      await wait;
      return { head: responseHead, body: bodyOf("late") };
    }, 2);
    const { consumer } = fetch();
    const pass = async (duration: number): Promise<void> => {
      for (let time = 0; time < duration; time += 1_000) {
        platform.pass(1_000);
        for (const socket of [platform.socket, ...platform.furtherSockets]) socket.receive("ropeway.keep-alive");
      }
      await settle();
    };
    await pass(2 * FURTHER_LINK_IDLE_TIME);
    expect(tunnel.stats().sockets).toBe(2);
    answer();
    await consumer.over;
    await pass(FURTHER_LINK_IDLE_TIME);
    expect([consumer.text, tunnel.stats().sockets]).toEqual(["late", 1]);
  });

  it("are made ready when the person is about to go somewhere", async () => {
    const { platform, tunnel } = await channelRig(text, 2);
    tunnel.setExperiment({ channels: 1 });
    await settle();
    tunnel.setExperiment({ channels: 2 });
    platform.furtherSockets.at(-1)?.lose();
    platform.pass(500);
    const before = platform.furtherSockets.length;
    tunnel.hint("navigation");
    expect(platform.furtherSockets.length).toBe(before);
    expect(platform.furtherSockets.at(-1)?.readyState).toBe(WebSocket.CONNECTING);
  });
});
