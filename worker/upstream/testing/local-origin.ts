/** A real origin on 127.0.0.1, for what only sockets show. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface LocalOrigin {
  /** Serialized origin, without slash at the end. */
  readonly origin: string;
  close(): Promise<void>;
}

export async function startLocalOrigin(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<LocalOrigin> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
