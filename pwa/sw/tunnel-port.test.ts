import { afterEach, describe, expect, it, vi } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import { responseHead } from "../../shared/testing/http/exchange-rig.ts";
import { fetchHead } from "../../shared/testing/http/request-heads.ts";
import { settle } from "../../shared/testing/turns.ts";
import {
  PORT_CREDIT_BYTES,
  type PortRequestHead,
  type PortToTunnel,
  type TunnelToPort,
} from "../messages/port-messages.ts";
import { PortLost } from "./port-lost.ts";
import { TunnelPort } from "./tunnel-port.ts";

const URL_A = "https://a.example/";
const head: PortRequestHead = { ...fetchHead, url: URL_A };
const BINDING = { origin: "https://a.example", topLevelOrigin: "https://a.example", topLevel: true };

const ports: MessagePort[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const port of ports.splice(0)) port.close();
});

/** A service worker's port whose tunnel is played by the test. */
function rig() {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const received: PortToTunnel[] = [];
  const busy: number[] = [];
  port2.onmessage = (event: MessageEvent<readonly PortToTunnel[]>) => received.push(...event.data);
  const tunnel = new TunnelPort(port1, (bodies) => busy.push(bodies));
  const abort = new AbortController();
  return {
    tunnel,
    abort,
    busy,
    far: port2,
    fetch: (body: ArrayBuffer | ReadableStream<Uint8Array> | null = null, onTaken?: (bytes: number) => void) =>
      tunnel.fetch(head, body, abort.signal, onTaken),
    async say(...messages: readonly TunnelToPort[]): Promise<void> {
      port2.postMessage(messages);
      await settle();
    },
    async heard(): Promise<PortToTunnel[]> {
      await settle();
      return received.splice(0);
    },
  };
}

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

const answered: TunnelToPort = { type: "response", id: 1, head: { ...responseHead, url: URL_A } };

describe("TunnelPort", () => {
  it("learns its binding, and answers a request with head and body", async () => {
    const { tunnel, fetch, say, heard, busy } = rig();
    const response = fetch();
    expect(await heard()).toEqual([{ type: "request", id: 1, head, body: null }]);
    await say({ type: "bound", tunnel: "1", binding: BINDING }, answered, {
      type: "data",
      id: 1,
      chunk: Uint8Array.of(104, 105),
    });
    await say({ type: "end", id: 1 });
    expect(await tunnel.binding).toEqual(BINDING);
    expect(await new Response((await response).body()).text()).toBe("hi");
    expect(busy).toEqual([1, 0]);
  });

  it("hands no socket to a tunnel that has not said that it knows them", async () => {
    for (const opensSockets of [true, false]) {
      const { tunnel, say } = rig();
      await say({ type: "bound", tunnel: "1", binding: BINDING, ...(opensSockets && { opensSockets }) });
      await tunnel.binding;
      expect(tunnel.opensSockets).toBe(opensSockets);
    }
  });

  it("has a file written by a tunnel that has said that it can, and takes not a byte of it", async () => {
    for (const savesFiles of [true, false]) {
      const { tunnel, abort, say, heard } = rig();
      await say({ type: "bound", tunnel: "1", binding: BINDING, ...(savesFiles && { savesFiles }) });
      const response = tunnel.fetch({ ...head, isFile: true }, null, abort.signal);
      await say(answered);
      await heard();
      const { save } = await response;
      save?.("a.bin");
      expect(await heard()).toEqual(savesFiles ? [{ type: "hold", id: 1, file: "a.bin" }] : []);
    }
  });

  it("gives credit as the page reads, and none before", async () => {
    const { fetch, say, heard } = rig();
    const response = fetch();
    const chunk = new Uint8Array(PORT_CREDIT_BYTES / 8);
    await say(answered, ...Array.from({ length: 4 }, () => ({ type: "data", id: 1, chunk }) as const));
    const reader = (await response).body().getReader();
    await heard();
    await reader.read();
    expect(await heard()).toEqual([]);
    await reader.read();
    expect(await heard()).toEqual([{ type: "credit", id: 1, bytes: 2 * chunk.length }]);
  });

  it("decides what becomes of a redirected response", async () => {
    const redirected: TunnelToPort = { ...answered, head: { ...responseHead, url: `${URL_A}final`, redirected: true } };
    const cases = [
      ["body", { type: "credit", id: 1, bytes: PORT_CREDIT_BYTES }],
      ["hold", { type: "hold", id: 1 }],
      ["cancel", { type: "cancel", id: 1 }],
    ] as const;
    for (const [method, message] of cases) {
      const { fetch, say, heard } = rig();
      const response = fetch();
      await say(redirected);
      await heard();
      (await response)[method]();
      expect(await heard()).toEqual([message]);
    }
  });

  it("cancels when the page does: before the head, in the body, or before it asked", async () => {
    const early = rig();
    const unanswered = early.fetch();
    early.abort.abort();
    await expect(unanswered).rejects.toMatchObject({ code: ErrorCode.CANCEL });
    expect((await early.heard()).map(({ type }) => type)).toEqual(["request", "cancel"]);

    const late = rig();
    const response = late.fetch();
    await late.say(answered);
    await (await response).body().cancel();
    expect((await late.heard()).map(({ type }) => type)).toEqual(["request", "cancel"]);
    expect(late.busy.at(-1)).toBe(0);

    const before = rig();
    before.abort.abort();
    await expect(before.fetch()).rejects.toMatchObject({ code: ErrorCode.CANCEL });
  });

  it("fails a request, and a body, with the tunnel's error", async () => {
    const failure: TunnelToPort = { type: "error", id: 1, code: ErrorCode.UPSTREAM_TIMEOUT, message: "x" };
    const { fetch, say } = rig();
    const response = fetch();
    const rejected = expect(response).rejects.toMatchObject({ code: ErrorCode.UPSTREAM_TIMEOUT });
    await say(failure);
    await rejected;

    const later = rig();
    const begun = later.fetch();
    await later.say(answered, failure);
    await expect(new Response((await begun).body()).text()).rejects.toMatchObject({ code: ErrorCode.UPSTREAM_TIMEOUT });
  });

  it("sends as many chunks of an upload as it is asked for, in order, and says that it ends", async () => {
    const { fetch, say, heard } = rig();
    const chunks = [[1], [2, 2], [3]].map((bytes) => Uint8Array.from(bytes));
    const told: number[] = [];
    const response = fetch(streamOf(chunks), (bytes) => told.push(bytes));
    expect(await heard()).toEqual([{ type: "request", id: 1, head, body: "stream" }]);
    const wanted = { type: "body-wanted", id: 1 } as const;
    await say({ ...wanted, taken: 0 }, { ...wanted, taken: 0 });
    const sent = chunks.map((chunk) => ({ type: "body", id: 1, chunk }));
    expect(await heard()).toEqual(sent.slice(0, 2));
    await say({ ...wanted, taken: 1 }, { ...wanted, taken: 3 });
    expect(await heard()).toEqual([sent[2], { type: "body-end", id: 1 }]);
    await say({ ...wanted, taken: 4 });
    expect(told).toEqual([0, 0, 1, 3, 4]);
    await say(answered);
    expect((await response).head.status).toBe(200);
    await say({ type: "end", id: 1 });
  });

  it("takes all for gone that was sent where the tunnel does not tell", async () => {
    const { fetch, say } = rig();
    const told: number[] = [];
    const chunks = [Uint8Array.of(1, 1), Uint8Array.of(2)];
    void fetch(streamOf(chunks), (bytes) => told.push(bytes)).catch(() => {});
    for (let times = 0; times < 3; times++) await say({ type: "body-wanted", id: 1 });
    expect(told).toEqual([0, 2, 3]);
  });

  it("asks a tunnel that was silent whether it is there with what it sends", async () => {
    const { fetch, say, heard } = rig();
    const now = Date.now() + 60_000;
    vi.spyOn(Date, "now").mockReturnValue(now);
    const responses = [fetch(), fetch()];
    responses[1]?.catch(() => {});
    const [ping, ...requests] = await heard();
    expect(ping).toEqual({ type: "ping", until: now + 1_500 });
    expect(requests).toMatchObject([{ id: 1 }, { id: 2 }]);
    await say({ type: "pong" }, answered);
    expect((await responses[0])?.head.url).toBe(URL_A);
    fetch().catch(() => {});
    expect(await heard()).toMatchObject([{ type: "request", id: 3 }]);
  });

  it("hears an answer that came while the phone slept", async () => {
    const { tunnel, fetch, far } = rig();
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 60_000);
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    try {
      fetch().catch(() => {});
      await Promise.resolve();
      vi.advanceTimersByTime(1_500);
      far.postMessage([{ type: "pong" }]);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      vi.advanceTimersByTime(60_000);
      expect(tunnel.isOpen).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  /** Time passes, in which messages come as well. */
  const pass = async (milliseconds: number) => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(milliseconds);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };

  /** The tunnel answers nothing more: what is sent then goes elsewhere. @param then time passes as it lets it. */
  const fallSilent = async ({ tunnel, fetch }: ReturnType<typeof rig>, then: () => Promise<void>) => {
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 60_000);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const untaken = expect(fetch()).rejects.toBeInstanceOf(PortLost);
      await pass(1_500);
      await pass(100);
      await untaken;
      expect(tunnel.isOpen).toBe(false);
      await expect(fetch()).rejects.toBeInstanceOf(PortLost);
      await then();
    } finally {
      vi.useRealTimers();
    }
  };

  it("takes nothing more in silence, and goes on with what it had if it was only busy", async () => {
    const port = rig();
    const begun = port.fetch();
    await port.say(answered);
    await port.heard();
    const text = new Response((await begun).body()).text();
    await fallSilent(port, async () => {
      await pass(14_000);
      port.far.postMessage([
        { type: "data", id: 1, chunk: Uint8Array.of(97) },
        { type: "end", id: 1 },
        { type: "pong" },
      ]);
      await pass(60_000);
      expect(await text).toBe("a");
      expect(port.tunnel.isOpen).toBe(true);
    });
  });

  it("dies of long silence, and with it whatever is under way or comes later", async () => {
    const port = rig();
    const begun = port.fetch();
    const unanswered = expect(port.fetch()).rejects.toMatchObject({ code: ErrorCode.LINK_LOST });
    await port.say(answered);
    await port.heard();
    const text = expect(new Response((await begun).body()).text()).rejects.toMatchObject({ code: ErrorCode.LINK_LOST });
    await fallSilent(port, async () => {
      await pass(15_000);
      await unanswered;
      await text;
      expect(port.tunnel.isOpen).toBe(false);
      await expect(port.fetch()).rejects.toMatchObject({ code: ErrorCode.LINK_LOST });
    });
  });

  it("leaves what the tunnel has not taken as it was, for another port, and nothing else", async () => {
    const { tunnel, fetch, say, heard, far } = rig();
    const sure = expect(fetch()).rejects.not.toBeInstanceOf(PortLost);
    await heard();
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 60_000);
    const taken = expect(fetch()).rejects.not.toBeInstanceOf(PortLost);
    await heard();
    await say({ type: "pong" });
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 60_000);
    const body = new Blob(["up"]).stream();
    const untaken = expect(fetch(body)).rejects.toBeInstanceOf(PortLost);
    const cookie = tunnel.setScriptCookie(URL_A, "a=1");
    await heard();
    far.close();
    await Promise.all([sure, taken, untaken]);
    expect(await cookie).toBe(false);
    expect(await new Response(body).text()).toBe("up");
  });

  it("sends elsewhere what came too late for the tunnel, and lives on", async () => {
    const { tunnel, fetch, say, heard } = rig();
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 60_000);
    const late = expect(fetch()).rejects.toBeInstanceOf(PortLost);
    await heard();
    const taken = fetch();
    await heard();
    await say({ type: "pong", isLate: true }, { type: "pong", isLate: false }, { ...answered, id: 2 });
    await late;
    expect((await taken).head.url).toBe(URL_A);
    expect(tunnel.isOpen).toBe(true);
  });

  it("does not send elsewhere what must not run twice, where a tunnel of before may do it late", async () => {
    for (const heedsUntil of [true, false]) {
      const { tunnel, abort, say } = rig();
      await say({ type: "bound", tunnel: "1", binding: BINDING, ...(heedsUntil && { heedsUntil }) });
      const silent = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 60_000);
      let isRefused = false;
      const written = tunnel.fetch({ ...head, method: "POST" }, null, abort.signal);
      written.catch((error) => {
        isRefused = error instanceof PortLost;
      });
      const read = expect(tunnel.fetch(head, null, abort.signal)).rejects.toBeInstanceOf(PortLost);
      await read;
      expect(isRefused).toBe(heedsUntil);
      silent.mockRestore();
    }
  });

  it("dies when the other end closes the port", async () => {
    const { tunnel, far, fetch } = rig();
    const unanswered = expect(fetch()).rejects.toMatchObject({ code: ErrorCode.LINK_LOST });
    far.close();
    await unanswered;
    expect(tunnel.isOpen).toBe(false);
  });
});
