/** Pages that open WebSockets, direct and through the app: what their scripts log is the same. */
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Frame, Page } from "@playwright/test";
import { type WebSocket as ServerSocket, WebSocketServer } from "ws";
import { expect, testInOneApp as test } from "../fixtures/browser.ts";

interface SocketOrigin {
  /** `ws://host:port`. */
  readonly url: string;
  /** Fields of the handshakes, by path. */
  readonly asked: Record<string, Record<string, unknown>>;
  /** How connections ended, by path. */
  readonly ended: Record<string, string>;
  /** Sends a text to all that are open at a path. */
  say(path: string, text: string): void;
  close(): void;
}

/** On the host of the test's origin, so that their cookies are the same. */
async function startSocketOrigin(host: string): Promise<SocketOrigin> {
  const server = new WebSocketServer({
    port: 0,
    host,
    verifyClient: ({ req }: { req: IncomingMessage }) => req.url !== "/refused",
  });
  server.on("headers", (headers, { url }) => {
    if (url === "/cookie") headers.push("Set-Cookie: heard=1", "Set-Cookie: hidden=1; HttpOnly");
  });
  const asked: SocketOrigin["asked"] = {};
  const ended: SocketOrigin["ended"] = {};
  const open = new Map<ServerSocket, string>();
  server.on("connection", (socket, { url = "", headers, rawHeaders }) => {
    asked[url] = { ...headers, names: rawHeaders.filter((_, index) => index % 2 === 0) };
    open.set(socket, url);
    socket.on("error", () => {});
    socket.on("close", (code, reason) => {
      open.delete(socket);
      ended[url] = `${code} ${reason}`;
    });
    if (url === "/closes") socket.close(4321, "enough");
    if (url === "/closes-without-code") socket.close();
    if (url === "/breaks") socket.terminate();
    socket.on("message", (data, isBinary) => socket.send(data as Buffer, { binary: isBinary }));
  });
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    url: `ws://${host}:${(server.address() as AddressInfo).port}`,
    asked,
    ended,
    say(path, text) {
      for (const [socket, url] of open) if (url === path) socket.send(text);
    },
    close() {
      for (const socket of open.keys()) socket.terminate();
      server.close();
    },
  };
}

let server: SocketOrigin;
test.beforeEach(async ({ origin }) => {
  server = await startSocketOrigin(new URL(origin.origin).hostname);
});
test.afterEach(() => server.close());

/** Runs where it is put, in a window or a worker, and needs nothing around it. */
async function exercise(url: string): Promise<unknown[]> {
  const log: unknown[] = [];
  const shown = async (data: unknown): Promise<unknown> => {
    if (typeof data === "string") return data;
    const isBlob = data instanceof Blob;
    const bytes = new Uint8Array(isBlob ? await data.arrayBuffer() : (data as ArrayBuffer));
    return [isBlob ? "Blob" : Object.prototype.toString.call(data), ...bytes];
  };
  const watch = (socket: WebSocket, name: string): Promise<void> =>
    new Promise((resolve) => {
      socket.addEventListener("error", ({ type }) => log.push([name, type, socket.readyState]));
      socket.addEventListener("close", ({ code, reason, wasClean }) => {
        log.push([name, "close", code, reason, wasClean, socket.readyState]);
        resolve();
      });
    });
  for (const make of [
    () => new WebSocket("ftp://a.example/"),
    () => new WebSocket(`${url}/#fragment`),
    () => new WebSocket(url, ["a", "a"]),
    () => new WebSocket(url, "a b"),
    () => new (WebSocket as unknown as new () => WebSocket)(),
    () => (WebSocket as unknown as (url: string) => WebSocket)(url),
  ]) {
    try {
      make().close();
      log.push("made");
    } catch (error) {
      log.push((error as Error).name);
    }
  }
  const socket = new WebSocket(url.replace("ws", "http"), ["first", "second"]);
  const closed = watch(socket, "echo");
  log.push(socket.url === `${url}/`, socket.readyState, socket.protocol, socket.binaryType, String(socket));
  try {
    socket.send("early");
  } catch (error) {
    log.push((error as Error).name);
  }
  await new Promise((resolve) => {
    socket.onopen = resolve;
  });
  log.push(socket.readyState, socket.protocol, socket.extensions, socket instanceof EventTarget);
  const got: Promise<unknown>[] = [];
  const all = new Promise<void>((resolve) => {
    socket.onmessage = ({ data, origin }) => {
      got.push(shown(data));
      if (got.length === 3) socket.binaryType = "arraybuffer";
      if (got.length === 6) resolve();
      log.push(origin === url);
    };
  });
  socket.send("ä €");
  socket.send(new Blob(["of a ", "blob"]));
  socket.send("behind the blob");
  socket.send(Uint8Array.of(0, 1, 2, 255).subarray(1));
  socket.send(new ArrayBuffer(2));
  socket.send(new Blob([]));
  log.push(["buffered", socket.bufferedAmount]);
  await all;
  log.push(await Promise.all(got), ["buffered", socket.bufferedAmount]);
  for (const [code, reason] of [
    [1001, ""],
    [3000, "x".repeat(124)],
  ] as const) {
    try {
      socket.close(code, reason);
    } catch (error) {
      log.push((error as Error).name);
    }
  }
  socket.close(3001, "bye ä");
  log.push(socket.readyState);
  socket.send("late");
  log.push(["buffered", socket.bufferedAmount]);
  await closed;
  for (const path of ["/closes", "/closes-without-code", "/refused", "/breaks"]) {
    const other = new WebSocket(url + path);
    await watch(other, path);
  }
  const unopened = new WebSocket(url);
  unopened.close();
  log.push(unopened.readyState);
  await watch(unopened, "unopened");
  return log;
}

const REPLIES = `const url = ${"URL"}; (${exercise})(url).then((log) => reply(log), (error) => reply(String(error)));`;
const script = (reply: string): string =>
  `const reply = ${reply}; ${REPLIES.replace("URL", JSON.stringify(server.url))}`;

/** Markup that runs the exercise somewhere and tells `window.told`. */
const places: Readonly<Record<string, (markup: { readonly worker: string; readonly shared: string }) => string>> = {
  "a window": () => `${script("(log) => told(log)")}`,
  "a frame of markup": () =>
    `const frame = document.createElement("iframe");
     window.fromFrame = (log) => told(log);
     frame.srcdoc = "<script>" + ${JSON.stringify(script("(log) => parent.fromFrame(log)"))} + "</" + "script>";
     document.body.append(frame);`,
  "a blank frame": () =>
    `const frame = document.createElement("iframe"); document.body.append(frame);
     const WebSocket = frame.contentWindow.WebSocket; ${script("(log) => told(log)")}`,
  "a worker": () => `new Worker("/worker.js").onmessage = ({ data }) => told(data);`,
  "a module worker": () => `new Worker("/worker.js", { type: "module" }).onmessage = ({ data }) => told(data);`,
  "a worker of a worker": () => `new Worker("/outer.js").onmessage = ({ data }) => told(data);`,
  "a worker in a blob": ({ worker }) =>
    `const blob = new Blob([${JSON.stringify(worker)}], { type: "text/javascript" });
     new Worker(URL.createObjectURL(blob)).onmessage = ({ data }) => told(data);`,
  "a shared worker": () => `new SharedWorker("/shared.js").port.onmessage = ({ data }) => told(data);`,
};

for (const [place, markup] of Object.entries(places))
  test(`a socket in ${place} logs through the app what it logs direct`, async ({ app, origin, direct }) => {
    const worker = script("(log) => postMessage(log)");
    const shared = `onconnect = ({ ports: [port] }) => { port.onmessage = () => {}; ${script("(log) => port.postMessage(log)")} };`;
    const javascript = { "content-type": "text/javascript" };
    origin.route("/worker.js", ({ reply }) => reply(200, javascript, `"use strict"; ${worker}`));
    origin.route("/outer.js", ({ reply }) =>
      reply(200, javascript, `new Worker("/worker.js").onmessage = ({ data }) => postMessage(data);`),
    );
    origin.route("/shared.js", ({ reply }) => reply(200, javascript, shared));
    origin.page("/", "<p>Page</p>");
    const run = async (frame: Page | Frame): Promise<unknown> => {
      await frame.evaluate(() => {
        const { promise, resolve } = Promise.withResolvers();
        Object.assign(window, { told: resolve, log: promise });
      });
      await frame.evaluate(`{ ${markup({ worker, shared })} }`);
      return frame.evaluate(() => (window as unknown as { log: Promise<unknown> }).log);
    };
    await direct.page.goto(`${origin.origin}/`);
    const wanted = await run(direct.page);
    await app.goto(`${origin.origin}/`);
    expect(await run(await app.content())).toEqual(wanted);
  });

test("a socket has the page's cookies and origin, and sets cookies that scripts read", async ({
  app,
  origin,
  direct,
}) => {
  origin.page("/", "<p>Page</p>");
  const run = async (frame: Page | Frame) => {
    const cookies = await frame.evaluate(async (url) => {
      // biome-ignore lint/suspicious/noDocumentCookie: the page does it, right before it opens the socket.
      document.cookie = "own=1";
      const socket = new WebSocket(url);
      await new Promise((resolve) => socket.addEventListener("open", resolve));
      const read = document.cookie;
      socket.close();
      return read.split("; ").sort();
    }, `${server.url}/cookie`);
    const { origin: asker, cookie, "user-agent": agent, names } = server.asked["/cookie"] ?? {};
    const sent = (names as string[]).map((name) => name.toLowerCase()).filter((name) => !name.endsWith("-extensions"));
    return { cookies, asker, cookie, agent, sent: sent.sort() };
  };
  await direct.page.goto(`${origin.origin}/`);
  const wanted = await run(direct.page);
  expect(wanted).toMatchObject({ cookies: ["heard=1", "own=1"], asker: origin.origin, cookie: "own=1" });
  await app.goto(`${origin.origin}/`);
  expect(await run(await app.content())).toEqual(wanted);
});
