import { describe, expect, it, vi } from "vitest";
import type { GovernedSocketRequest, PageToSocket, SocketToPage } from "../../messages/socket-messages.ts";
import { createSockets } from "./web-socket.ts";

interface Opened {
  readonly request: GovernedSocketRequest;
  readonly port: MessagePort;
  readonly said: PageToSocket[];
}

/** As of a browser that has streams. */
class WebSocketError extends Error {}

function rig(base = "https://example.org/dir/", policies: readonly string[] = []) {
  const opened: Opened[] = [];
  const unopened: number[] = [];
  const { WebSocket: Socket, WebSocketStream: Stream } = createSockets({
    realm: Object.assign(Object.create(globalThis), { WebSocketError }),
    real: (url) => url.replace("s7.ropeway.example", "example.org"),
    base: () => base,
    origin: new URL(base).origin,
    policies: () => policies,
    open(request, port) {
      const said: PageToSocket[] = [];
      port.onmessage = ({ data }: MessageEvent<PageToSocket>) => said.push(data);
      opened.push({ request, port, said });
    },
    onCookies: () => {},
    onUnopened: () => void unopened.push(unopened.length),
  });
  const open = async (...args: ConstructorParameters<typeof WebSocket>) => {
    const socket = new Socket(...args);
    const far = opened.at(-1) as Opened;
    const log: unknown[] = [];
    for (const type of ["open", "error"]) socket.addEventListener(type, () => log.push(type));
    socket.addEventListener("message", ({ data, origin }) => log.push([data, origin]));
    socket.addEventListener("close", ({ code, reason, wasClean }) => log.push([code, reason, wasClean]));
    const tell = (message: SocketToPage) => far.port.postMessage(message);
    return { socket, far, log, tell, end: () => far.port.close() };
  };
  return { Socket, Stream, opened, unopened, open };
}

const OPENED = { type: "open", protocol: "chat", cookies: [] } as const;
const text = (value: string) => ({ kind: "text", bytes: new TextEncoder().encode(value) }) as const;

describe("the constructor", () => {
  it("resolves addresses on the real one, and turns those of HTTP into its own", async () => {
    const { open } = rig();
    const { socket, far, end } = await open("/live?x", ["a", "b"]);
    expect([socket.url, socket.readyState, socket.protocol, socket.extensions]).toEqual([
      "wss://example.org/live?x",
      0,
      "",
      "",
    ]);
    expect(far.request).toEqual({ url: "wss://example.org/live?x", protocols: ["a", "b"], connect: [] });
    const http = await open("http://localhost:80/");
    expect(http.socket.url).toBe("ws://localhost/");
    const slot = await open("wss://s7.ropeway.example/comms");
    expect([slot.socket.url, slot.far.request.url]).toEqual(["wss://example.org/comms", "wss://example.org/comms"]);
    slot.end();
    end();
    http.end();
  });

  it("goes by TLS where the page's policy asks for that", async () => {
    const policies = ["default-src *; upgrade-insecure-requests"];
    const { open } = rig("https://example.org/", policies);
    const { socket, far, end } = await open("ws://a.example:80/live");
    expect([socket.url, far.request.connect]).toEqual(["wss://a.example/live", policies]);
    end();
  });

  it("throws what the standard says", () => {
    const { Socket } = rig();
    for (const url of ["ftp://a.example", "wss://a.example/#f", "wss://a.example/#", "wss://", "blob:x"])
      expect(() => new Socket(url)).toThrow(expect.objectContaining({ name: "SyntaxError" }));
    for (const protocols of ["a b", "", ["a", "A"], [""], ["ä"]])
      expect(() => new Socket("/", protocols)).toThrow(expect.objectContaining({ name: "SyntaxError" }));
    expect(() => new Socket("ws://a.example")).toThrow(expect.objectContaining({ name: "SecurityError" }));
    expect(() => (Socket as unknown as () => void)()).toThrow(TypeError);
  });

  it("looks like the browser's", () => {
    const { Socket } = rig();
    expect([Socket.name, Socket.length, Socket.OPEN, Socket.prototype.CLOSED]).toEqual(["WebSocket", 1, 1, 3]);
    expect(Object.prototype.toString.call(Socket.prototype)).toBe("[object WebSocket]");
    expect(() => Socket.prototype.readyState).toThrow(TypeError);
    const members = new Set<string>();
    for (const name in Socket.prototype) members.add(name);
    for (const name of ["url", "send", "close", "onmessage", "CONNECTING", "bufferedAmount"])
      expect(members).toContain(name);
  });
});

it("opens, says and hears, in order, and knows what has not left", async () => {
  const { open } = rig();
  const { socket, far, log, tell, end } = await open("/");
  expect(() => socket.send("early")).toThrow(expect.objectContaining({ name: "InvalidStateError" }));
  tell(OPENED);
  await vi.waitFor(() => expect(log).toEqual(["open"]));
  expect([socket.readyState, socket.protocol]).toEqual([1, "chat"]);
  socket.send("ä");
  socket.send(new Blob(["blob"]));
  socket.send(Uint8Array.of(1, 2, 3).subarray(1));
  socket.send("last");
  expect(socket.bufferedAmount).toBe(2 + 4 + 2 + 4);
  await vi.waitFor(() => expect(far.said).toHaveLength(4));
  expect(far.said.map((message) => message.type === "message" && [message.kind, ...message.bytes])).toEqual([
    ["text", 0xc3, 0xa4],
    ["binary", ...Buffer.from("blob")],
    ["binary", 2, 3],
    ["text", ...Buffer.from("last")],
  ]);
  tell({ type: "taken", bytes: 6 });
  socket.binaryType = "arraybuffer";
  tell({ type: "message", ...text("€") });
  tell({ type: "message", kind: "binary", bytes: Uint8Array.of(9) });
  await vi.waitFor(() => expect(log).toHaveLength(3));
  expect(socket.bufferedAmount).toBe(6);
  expect(log.slice(1)).toEqual([
    ["€", "wss://example.org"],
    [Uint8Array.of(9).buffer, "wss://example.org"],
  ]);
  end();
});

it("closes behind what it said, with the server's code", async () => {
  const { open } = rig();
  const { socket, far, log, tell } = await open("/");
  tell(OPENED);
  await vi.waitFor(() => expect(log).toEqual(["open"]));
  for (const code of [1001, 2999, 5000, Number.NaN])
    expect(() => socket.close(code)).toThrow(expect.objectContaining({ name: "InvalidAccessError" }));
  expect(() => socket.close(3000, "x".repeat(124))).toThrow(expect.objectContaining({ name: "SyntaxError" }));
  socket.send(new Blob(["x"]));
  socket.close(3001, "bye");
  expect(socket.readyState).toBe(2);
  socket.send("late");
  expect(socket.bufferedAmount).toBe(5);
  await vi.waitFor(() => expect(far.said).toHaveLength(2));
  expect(far.said[1]).toEqual({ type: "close", code: 3001, reason: "bye" });
  tell({ type: "message", ...text("not shown any more") });
  tell({ type: "close", code: 3001, reason: "bye" });
  await vi.waitFor(() => expect(log).toEqual(["open", [3001, "bye", true]]));
  expect(socket.readyState).toBe(3);
});

it("fails as a direct one: error, then close with 1006", async () => {
  const { open } = rig();
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const failed = await open("/");
  failed.tell({ type: "failed", message: "Cannot open" });
  const closed = await open("/");
  closed.socket.close();
  expect(closed.socket.readyState).toBe(2);
  for (const { log } of [failed, closed]) await vi.waitFor(() => expect(log).toEqual(["error", [1006, "", false]]));
  expect(warn).toHaveBeenCalled();
  warn.mockRestore();
});

it("calls handlers where they were set first, and none that is taken off", async () => {
  const { open } = rig();
  const { socket, tell, end } = await open("/");
  const calls: string[] = [];
  socket.onopen = () => calls.push("former");
  socket.addEventListener("open", () => calls.push("listener"));
  socket.onopen = function (this: WebSocket) {
    calls.push(this === socket ? "own" : "other");
  };
  socket.onmessage = () => calls.push("message");
  socket.onmessage = null;
  expect(socket.onmessage).toBe(null);
  tell(OPENED);
  tell({ type: "message", ...text("") });
  await vi.waitFor(() => expect(calls).toEqual(["own", "listener"]));
  end();
});

it("has the tunnel wait while nobody reads a stream", async () => {
  const { Stream, opened } = rig();
  if (Stream === undefined) throw new Error("Cannot test: there are no streams");
  const stream = new Stream("/");
  const far = opened.at(-1) as Opened;
  const tell = (message: SocketToPage) => far.port.postMessage(message);
  tell(OPENED);
  for (let count = 0; count < 4; count++) tell({ type: "message", kind: "binary", bytes: new Uint8Array(40_000) });
  const reader = (await stream.opened).readable.getReader();
  const taken = () => far.said.reduce((sum, message) => sum + (message.type === "taken" ? message.bytes : 0), 0);
  await vi.waitFor(() => expect(taken()).toBe(40_000));
  tell({ type: "close", code: 4000, reason: "enough" });
  for (let count = 0; count < 4; count++) expect((await reader.read()).value).toHaveProperty("byteLength", 40_000);
  expect(await reader.read()).toMatchObject({ done: true });
  expect(await stream.closed).toEqual({ closeCode: 4000, reason: "enough" });
});

it("says where one does not open, and not where the script has closed it, or it was open", async () => {
  const { open, unopened } = rig();
  const closed = await open("/");
  closed.socket.close();
  const broken = await open("/");
  broken.tell(OPENED);
  broken.tell({ type: "failed", message: "Cannot go on" });
  for (const { socket } of [closed, broken]) await vi.waitFor(() => expect(socket.readyState).toBe(3));
  expect(unopened).toEqual([]);
  const failed = await open("/");
  failed.tell({ type: "failed", message: "Cannot open" });
  await vi.waitFor(() => expect(unopened).toEqual([0]));
});
