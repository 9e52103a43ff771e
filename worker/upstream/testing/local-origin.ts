/** A real origin on loopback, for what only sockets show. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

export interface LocalOrigin {
  /** Serialized origin, without slash at the end. */
  readonly origin: string;
  close(): Promise<void>;
}

/** @param options `ip`: of 127.0.0.0/8; each is a site of its own. */
export async function startLocalOrigin(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
  {
    ip = "127.0.0.1",
    tls,
  }: { readonly ip?: string; readonly tls?: { readonly key: string; readonly cert: string } } = {},
): Promise<LocalOrigin> {
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  // By default connections are closed after five idle seconds, now and then just as a request comes on them.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, ip, resolve));
  return {
    origin: `${tls === undefined ? "http" : "https"}://${ip}:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
