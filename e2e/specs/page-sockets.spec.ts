/** Pages that open WebSockets, direct and through the app: what their scripts log is the same. */
import type { Frame, Page } from "@playwright/test";
import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import { openNoting, type SocketOrigin, startSocketOrigin } from "../fixtures/socket-origin.ts";

/** Of a megabyte: more than all buffers on the way take. */
const SLOW_MESSAGES = 24;

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

/** As `exercise`, of streams. */
async function exerciseStreams(url: string): Promise<unknown[]> {
  interface Info {
    readonly closeCode?: number;
    readonly reason?: string;
  }
  interface Opened {
    readonly readable: ReadableStream<string | Uint8Array>;
    readonly writable: WritableStream<unknown>;
    readonly extensions: string;
    readonly protocol: string;
  }
  interface SocketStream {
    readonly url: string;
    readonly opened: Promise<Opened>;
    readonly closed: Promise<Info>;
    close(info?: Info): void;
  }
  type Options = { protocols?: string[]; signal?: AbortSignal };
  const { WebSocketStream, WebSocketError } = globalThis as unknown as {
    WebSocketStream: new (url: string, options?: Options) => SocketStream;
    WebSocketError: new (message: string, info: Info) => Error;
  };
  const log: unknown[] = [WebSocketStream.name, WebSocketStream.length, Object.keys(WebSocketStream.prototype).sort()];
  const told = async (name: string, promise: Promise<unknown>): Promise<void> => {
    try {
      const value = (await promise) as Info | undefined;
      log.push([name, value?.closeCode, value?.reason, typeof value]);
    } catch (error) {
      const { constructor: kind, closeCode, reason } = error as Info & Error;
      log.push([name, "failed", kind?.name, String(error).slice(0, 5), closeCode, reason]);
    }
  };
  const tried = (step: () => unknown): void => {
    try {
      log.push(typeof step());
    } catch (error) {
      log.push((error as Error).name);
    }
  };
  tried(() => new WebSocketStream("ftp://a.example/"));
  tried(() => new WebSocketStream(`${url}/#fragment`));
  tried(() => new WebSocketStream(url, { protocols: ["a", "a"] }));
  tried(() => new (WebSocketStream as unknown as new () => SocketStream)());
  tried(() => (WebSocketStream as unknown as (url: string) => SocketStream)(url));

  const stream = new WebSocketStream(url.replace("ws", "http"), { protocols: ["first", "second"] });
  log.push(stream.url === `${url}/`, String(stream), (await Promise.all([stream.opened, stream.opened])).length);
  const { readable, writable, protocol } = await stream.opened;
  log.push(protocol, String(readable), String(writable));
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  for (const message of ["ä €", Uint8Array.of(0, 1, 255), new ArrayBuffer(2), new Uint8Array(0), 17, ""]) {
    await writer.write(message);
    const { value, done } = await reader.read();
    log.push(done, typeof value === "string" ? value : [String(value), ...new Uint8Array(value ?? [])]);
  }
  tried(() => stream.close({ closeCode: 1001 }));
  tried(() => stream.close({ closeCode: 3000, reason: "x".repeat(124) }));
  stream.close({ closeCode: 3001, reason: "bye ä" });
  await told("closed", stream.closed);
  await told("read", reader.read());
  await told("written", writer.write("late"));

  for (const path of ["/closes", "/closes-without-code", "/breaks"]) {
    const other = new WebSocketStream(url + path);
    const opened = await other.opened.catch(() => null);
    await told(path, other.closed);
    if (opened) await told(`${path} read`, opened.readable.getReader().closed);
    if (opened) await told(`${path} written`, opened.writable.getWriter().closed);
  }
  const refused = new WebSocketStream(`${url}/refused`);
  await told("refused", refused.opened);
  await told("refused", refused.closed);
  const ends: readonly [string, (info: Opened) => unknown][] = [
    ["writer closed", ({ writable: each }) => each.close()],
    ["writer aborted", ({ writable: each }) => each.abort(new WebSocketError("", { closeCode: 3456, reason: "r" }))],
    ["reader cancelled", ({ readable: each }) => each.cancel("whatever")],
  ];
  for (const [name, end] of ends) {
    const other = new WebSocketStream(url);
    await end(await other.opened);
    await told(name, other.closed);
  }
  const early = new AbortController();
  early.abort("early");
  const unopened = new WebSocketStream(url, { signal: early.signal });
  await told("aborted", unopened.opened);
  await told("aborted", unopened.closed);
  const late = new AbortController();
  const open = new WebSocketStream(url, { signal: late.signal });
  await open.opened;
  late.abort("late");
  open.close();
  await told("aborted late", open.closed);
  return log;
}

test("a stream of a socket logs through the app what it logs direct, in a window and in workers", async ({
  app,
  origin,
  direct,
}) => {
  const asked = `(${exerciseStreams})(${JSON.stringify(server.url)})`;
  const script = `${asked}.then((log) => postMessage(log), (error) => postMessage(String(error)));`;
  origin.route("/worker.js", ({ reply }) => reply(200, { "content-type": "text/javascript" }, script));
  origin.page("/", "<p>Page</p>");
  const heard = (worker: string) =>
    `new Promise((resolve) => { (${worker}).onmessage = ({ data }) => resolve(data); })`;
  const inBlob = `new Worker(URL.createObjectURL(new Blob([${JSON.stringify(script)}], { type: "text/javascript" })))`;
  for (const place of [asked, heard(`new Worker("/worker.js")`), heard(inBlob)]) {
    await direct.page.goto(`${origin.origin}/`);
    const wanted = await direct.page.evaluate(place);
    expect(wanted).toContainEqual(["closed", 3001, "bye ä", "object"]);
    await app.goto(`${origin.origin}/`);
    expect(await (await app.content()).evaluate(place)).toEqual(wanted);
  }
});

test("a stream of a socket takes no more than its server takes", async ({ app, origin }) => {
  origin.page("/", "<p>Page</p>");
  await app.goto(`${origin.origin}/`);
  const frame = await app.content();
  await frame.evaluate(
    async ({ url, count }) => {
      type Opened = { readable: ReadableStream<string>; writable: WritableStream<unknown> };
      const { WebSocketStream } = globalThis as unknown as {
        WebSocketStream: new (url: string) => { opened: Promise<Opened> };
      };
      const slow = (await new WebSocketStream(`${url}/slow`).opened).writable.getWriter();
      const clock = await new WebSocketStream(url).opened;
      const [asks, answers] = [clock.writable.getWriter(), clock.readable.getReader()];
      const state = {
        written: 0,
        async settled(): Promise<void> {
          for (let before = -1; before !== state.written; ) {
            before = state.written;
            for (let turn = 0; turn < 20; turn++) {
              await asks.write(turn);
              await answers.read();
            }
          }
        },
      };
      Object.assign(window, { state });
      void (async () => {
        for (; state.written < count; state.written++) await slow.write(new Uint8Array(1_000_000));
      })();
    },
    { url: server.url, count: SLOW_MESSAGES },
  );
  type State = { written: number; settled(): Promise<void> };
  const written = () => frame.evaluate(() => (window as unknown as { state: State }).state.written);
  await frame.evaluate(() => (window as unknown as { state: State }).state.settled());
  expect(await written()).toBeLessThan(SLOW_MESSAGES);
  server.readSlow();
  await expect.poll(written, { timeout: 60_000 }).toBe(SLOW_MESSAGES);
});

test("a socket has the page's cookies and origin, in a worker too, and sets cookies that scripts read", async ({
  app,
  origin,
  direct,
}) => {
  origin.page("/", "<p>Page</p>");
  origin.route("/worker.js", ({ reply }) =>
    reply(
      200,
      { "content-type": "text/javascript" },
      "onmessage = ({ data }) => { new WebSocket(data).onopen = () => postMessage(0); };",
    ),
  );
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
    await frame.evaluate((url) => {
      const worker = new Worker("/worker.js");
      worker.postMessage(url);
      return new Promise((resolve) => worker.addEventListener("message", resolve)).then(() => worker.terminate());
    }, `${server.url}/in-worker`);
    const asked = ["/cookie", "/in-worker"].map((path) => {
      const { origin: asker, cookie, "user-agent": agent, names } = server.asked[path] ?? {};
      const sent = (names as string[]).map((name) => name.toLowerCase());
      return {
        asker,
        cookie: String(cookie).split("; ").sort(),
        agent,
        sent: sent.filter((name) => !name.endsWith("-extensions")).sort(),
      };
    });
    return { cookies, asked };
  };
  await direct.page.goto(`${origin.origin}/`);
  const wanted = await run(direct.page);
  const asker = origin.origin;
  const asked = [
    { asker, cookie: ["own=1"] },
    { asker, cookie: ["heard=1", "hidden=1", "own=1"] },
  ];
  expect(wanted).toMatchObject({ cookies: ["heard=1", "own=1"], asked });
  await app.goto(`${origin.origin}/`);
  expect(await run(await app.content())).toEqual(wanted);
});

test("a page's policy says where its sockets may go, and the page hears of it", async ({ app, origin, direct }) => {
  const html = (head: string) => `<!doctype html><title>Policy</title>${head}<p>Page</p>`;
  const meta = `<meta http-equiv="content-security-policy" content="connect-src https:">`;
  const policy = (value: string) => ({ "content-security-policy": value });
  origin.route("/field", ({ page }) => page(html(""), policy("img-src *; connect-src 'self'")));
  origin.route("/markup", ({ page }) => page(html(meta)));
  origin.route("/default", ({ page }) => page(html(""), policy("default-src 'none'; script-src 'unsafe-inline'")));
  origin.route("/allowed", ({ page }) => page(html(""), policy(`default-src 'none'; connect-src ${server.url}`)));
  origin.route("/upgraded", ({ page }) => page(html(""), policy("upgrade-insecure-requests")));
  const javascript = { "content-type": "text/javascript", ...policy("connect-src 'none'") };
  const ask = `new Promise((resolve) => {
    const log = [];
    addEventListener("securitypolicyviolation", ({ blockedURI, violatedDirective, effectiveDirective, originalPolicy, disposition }) =>
      log.push([blockedURI, violatedDirective, effectiveDirective, originalPolicy, disposition]));
    const socket = new WebSocket(${JSON.stringify(server.url)});
    socket.onopen = () => resolve([socket.url, "open"]);
    socket.onclose = ({ code }) => log.push(code);
    socket.onerror = () => setTimeout(() => resolve([socket.url, ...log, "error", socket.readyState]), 200);
  })`;
  origin.route("/worker.js", ({ reply }) => reply(200, javascript, `${ask}.then((log) => postMessage(log));`));
  const inWorker = `new Promise((resolve) => { new Worker("/worker.js").onmessage = ({ data }) => resolve(data); })`;
  origin.page("/", "<p>Page</p>");
  for (const [path, script, outcome] of [
    ["/field", ask, 3],
    ["/markup", ask, 3],
    ["/default", ask, 3],
    ["/allowed", ask, "open"],
    [
      "/upgraded",
      "[new WebSocket('ws://a.example/x').url, new WebSocket('ws://a.example:8080').url]",
      "wss://a.example:8080/",
    ],
    ["/", inWorker, 3],
  ] as const) {
    await direct.page.goto(origin.origin + path);
    const wanted = (await direct.page.evaluate(script)) as unknown[];
    expect([path, wanted.at(-1)]).toEqual([path, outcome]);
    await app.goto(origin.origin + path);
    expect([path, await (await app.content()).evaluate(script)]).toEqual([path, wanted]);
  }
});

test("a socket whose page is left tells its server so", async ({ app, origin }) => {
  origin.page("/", "<p>Page</p>");
  origin.page("/left", "<p>Left</p>");
  await app.goto(`${origin.origin}/`);
  origin.route("/worker.js", ({ reply }) =>
    reply(
      200,
      { "content-type": "text/javascript" },
      `new WebSocket("${server.url}/worker").onopen = () => postMessage(0);`,
    ),
  );
  await openNoting(await app.content(), `${server.url}/long`);
  await (await app.content()).evaluate(
    () => new Promise((resolve) => Object.assign(new Worker("/worker.js"), { onmessage: resolve })),
  );
  await app.goto(`${origin.origin}/left`);
  await expect.poll(() => [server.ended["/long"], server.ended["/worker"]]).toEqual(["1001 ", "1001 "]);
});

test("a page opens 64 sockets, and the next fails as one that finds no server", async ({ app, origin }) => {
  origin.page("/", "<p>Page</p>");
  await app.goto(`${origin.origin}/`);
  const log = await (await app.content()).evaluate(async (url) => {
    const open = async (): Promise<string> => {
      const socket = new WebSocket(url);
      const events: string[] = [];
      return new Promise((resolve) => {
        socket.onopen = () => resolve("open");
        socket.onerror = () => events.push("error");
        socket.onclose = ({ code }) => resolve([...events, code].join(" "));
      });
    };
    return [...new Set(await Promise.all(Array.from({ length: 64 }, open))), await open()];
  }, server.url);
  expect(log).toEqual(["open", "error 1006"]);
});

test("a socket goes to the page's site where a script that the edge has not marked makes its address", async ({
  app,
  direct,
  origin,
}) => {
  const { port } = new URL(server.url);
  // At another port than the page's; to the page's own the handshake is answered as any request.
  const script = `const place = window["loca" + "tion"], said = document.querySelector("p");
    const other = new WebSocket("ws://" + place.hostname + ":${port}/named");
    other.onopen = () => { said.textContent += " other"; own() };
    const own = () => {
      const socket = new WebSocket(place.protocol.replace("http", "ws") + "//" + place.host + "/comms");
      socket.onclose = () => { said.textContent += " " + socket.url };
    };`;
  origin.page("/", `<p>Sockets</p><script>${script}</script>`);
  const wanted = `Sockets other ws://${new URL(origin.origin).host}/comms`;
  await direct.page.goto(`${origin.origin}/`);
  await expect(direct.page.locator("p")).toHaveText(wanted);
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().locator("p")).toHaveText(wanted);
  expect(origin.requestsTo("/comms").map(({ headers }) => headers.upgrade)).toEqual(["websocket", "websocket"]);
});
