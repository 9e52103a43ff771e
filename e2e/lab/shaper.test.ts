import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, createConnection, createServer as createTcpServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type Shaper, type ShaperOptions, startShaper } from "./shaper.ts";

const closers: (() => Promise<unknown> | unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A TCP server that hands each connection to `serve`, and a shaper before it. */
async function shaped(serve: (socket: Socket) => void, options: Partial<ShaperOptions> = {}): Promise<Shaper> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const shaper = await startShaper({ listen: { port: 0 }, target: { host: "127.0.0.1", port }, ...options });
  closers.push(() => shaper.close());
  return shaper;
}

function connect(port: number): Socket {
  const socket = createConnection({ port, host: "127.0.0.1" });
  socket.on("error", () => {});
  closers.push(() => socket.destroy());
  return socket;
}

/** All bytes until the end. Unlike async iteration it leaves the socket open for writing. */
function readAll(socket: Socket): Promise<Buffer> {
  const parts: Buffer[] = [];
  socket.on("data", (part: Buffer) => parts.push(part));
  return new Promise((resolve) => socket.once("end", () => resolve(Buffer.concat(parts))));
}

function hash(data: Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}

const PATTERN = Buffer.from(Array.from({ length: 400_000 }, (_, index) => (index * 31 + (index >> 8)) & 0xff));

describe("startShaper", () => {
  it("carries bytes both ways unchanged and counts them", async () => {
    const received: Promise<Buffer>[] = [];
    const shaper = await shaped(
      (socket) => {
        received.push(readAll(socket));
        socket.end(PATTERN.subarray(0, 250_000));
      },
      { delay: 5, downKbit: 40_000, upKbit: 40_000 },
    );
    const socket = connect(shaper.port);
    socket.end(PATTERN);
    const answer = await readAll(socket);
    expect(hash(answer)).toBe(hash(PATTERN.subarray(0, 250_000)));
    expect(hash((await received[0]) ?? Buffer.alloc(0))).toBe(hash(PATTERN));
    expect([shaper.bytesUp, shaper.bytesDown, shaper.connections]).toEqual([400_000, 250_000, 1]);
  });

  it("shares the link: a small transfer gets through while a big one runs", async () => {
    const order: string[] = [];
    const shaper = await shaped(
      (socket) => {
        socket.once("data", (name: Buffer) => {
          socket.end(name.toString() === "big" ? Buffer.concat([PATTERN, PATTERN]) : PATTERN.subarray(0, 5_000));
        });
      },
      { delay: 2, downKbit: 20_000, buffer: 20_000 },
    );
    await Promise.all(
      ["big", "small"].map(async (name) => {
        const socket = connect(shaper.port);
        socket.write(name);
        await readAll(socket);
        order.push(name);
      }),
    );
    expect(order).toEqual(["small", "big"]);
  });

  it("stops reading from a sender whose receiver does not read", async () => {
    let taken = 0;
    const shaper = await shaped((socket) => {
      const push = (): void => {
        while (socket.write(PATTERN, () => (taken += PATTERN.length)));
      };
      socket.on("drain", push);
      push();
    });
    const socket = connect(shaper.port);
    socket.pause();
    let before = -1;
    while (taken !== before) {
      before = taken;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(taken).toBeLessThan(64 * 1024 * 1024);
    socket.resume();
    await expect.poll(() => taken).toBeGreaterThan(before);
  });

  it("tells WebSocket upgrades from plain requests", async () => {
    const server = createServer((request: IncomingMessage, response) => {
      request.resume();
      request.on("end", () => response.end("ok"));
    });
    server.on("upgrade", (_request, socket: Socket) => {
      socket.on("error", () => {});
      socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const shaper = await startShaper({ listen: { port: 0 }, target: { host: "127.0.0.1", port } });
    closers.push(() => shaper.close());

    await (await fetch(`http://localhost:${shaper.port}/one`)).text();
    await (
      await fetch(`http://localhost:${shaper.port}/two?x`, { method: "POST", body: "GET /no HTTP/1.1\r\n\r\n" })
    ).text();
    await (await fetch(`http://localhost:${shaper.port}/three`)).text();
    const socket = new WebSocket(`ws://localhost:${shaper.port}/tunnel`);
    await new Promise((resolve) => socket.addEventListener("error", resolve));

    expect(shaper.requests.map(({ method, path, webSocket }) => [method, path, webSocket])).toEqual([
      ["GET", "/one", false],
      ["POST", "/two?x", false],
      ["GET", "/three", false],
      ["GET", "/tunnel", true],
    ]);
    expect(shaper.requests[0]?.host).toBe(`localhost:${shaper.port}`);
    expect(shaper.webSockets).toBe(1);
  });

  it("cuts, goes offline and comes back", async () => {
    const shaper = await shaped((socket) => socket.pipe(socket));
    const first = connect(shaper.port);
    first.write("x");
    await new Promise((resolve) => first.once("data", resolve));
    shaper.cut();
    await new Promise((resolve) => first.once("close", resolve));
    expect(shaper.openConnections).toBe(0);

    shaper.offline();
    const second = connect(shaper.port);
    await new Promise((resolve) => second.once("close", resolve));
    expect(second.bytesRead).toBe(0);

    shaper.online();
    const third = connect(shaper.port);
    third.write("y");
    expect(String(await new Promise((resolve) => third.once("data", resolve)))).toBe("y");
  });

  it("holds everything while paused and delivers it in order afterwards", async () => {
    const shaper = await shaped((socket) => socket.pipe(socket), { delay: 1 });
    shaper.pause();
    const socket = connect(shaper.port);
    socket.end(PATTERN.subarray(0, 10_000));
    await expect.poll(() => shaper.connections).toBe(1);
    expect(shaper.bytesUp).toBe(0);
    shaper.resume();
    expect(hash(await readAll(socket))).toBe(hash(PATTERN.subarray(0, 10_000)));
  });

  it("leaves what is connected without a byte and without a word once it is stranded, and carries what comes later", async () => {
    const ends: string[] = [];
    const shaper = await shaped((socket) => {
      socket.pipe(socket);
      socket.on("end", () => ends.push("edge"));
    });
    const first = connect(shaper.port);
    first.on("close", () => ends.push("browser"));
    first.write("x");
    await new Promise((resolve) => first.once("data", resolve));
    shaper.strand();
    first.write("y");
    const second = connect(shaper.port);
    second.write("z");
    expect(String(await new Promise((resolve) => second.once("data", resolve)))).toBe("z");
    expect([first.bytesRead, ends]).toEqual([1, []]);
  });

  it("passes the end of a stream on even if the other side was killed", async () => {
    const shaper = await shaped((socket) => socket.destroy());
    const socket = connect(shaper.port);
    socket.write("hello");
    await new Promise((resolve) => socket.once("close", resolve));
    await expect.poll(() => shaper.openConnections).toBe(0);
  });
});
