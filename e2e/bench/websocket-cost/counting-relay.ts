import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";

/** Passes TCP connections on and counts what they carry. */
export interface CountingRelay {
  readonly port: number;
  /** Bytes of TCP payload from and to those who connect. */
  readonly bytes: { readonly up: number; readonly down: number };
  close(): Promise<void>;
}

/** On loopback. @param target port to which connections are passed on. */
export async function startCountingRelay(target: number): Promise<CountingRelay> {
  const bytes = { up: 0, down: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = createConnection(target, "127.0.0.1");
    for (const [from, to, direction] of [
      [near, far, "up"],
      [far, near, "down"],
    ] as const) {
      sockets.add(from.setNoDelay(true));
      from.on("data", (part: Buffer) => (bytes[direction] += part.length));
      from.on("error", () => to.destroy());
      from.on("close", () => sockets.delete(from));
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    bytes,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
