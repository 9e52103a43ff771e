/**
 * Names below `localhost` lead to this machine (RFC 6761 section 6.3), but few resolvers say so and workerd has none of
 * its own. An edge that may reach loopback sends requests for such names here, as to an HTTP proxy.
 */
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { request as httpsRequest } from "node:https";
import { pipeline } from "node:stream";

const LOOPBACK = ["127.0.0.1", "::1"].map((address) => ({ address, family: address === "::1" ? 6 : 4 }));

export interface LoopbackProxy {
  /** As workerd's configuration wants it. */
  readonly address: string;
  close(): void;
}

/** @param socketPath of a Unix socket in a directory that only this user may enter. */
export async function startLoopbackProxy(socketPath: string): Promise<LoopbackProxy> {
  // In the proxy style workerd sends no Host.
  const server = createServer({ requireHostHeader: false }, forward);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketPath, resolve);
  });
  server.unref();
  return { address: `unix:${socketPath}`, close: () => closeNow(server) };
}

function forward(incoming: IncomingMessage, answer: ServerResponse): void {
  const url = URL.parse(incoming.url ?? "");
  if (url === null || !/\.localhost\.?$/.test(url.hostname)) {
    answer.writeHead(403).end();
    return;
  }
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const outgoing = send({
    host: url.hostname,
    port: url.port,
    path: url.pathname + url.search,
    method: incoming.method,
    headers: { ...incoming.headers, host: url.host },
    lookup: (_, __, callback) => callback(null, LOOPBACK),
    agent: false,
  });
  // What fails on one side is a lost connection on the other: workerd then asks why.
  outgoing.once("response", (response) => {
    answer.writeHead(response.statusCode ?? 502, response.statusMessage, response.rawHeaders);
    pipeline(response, answer, () => {});
  });
  outgoing.once("error", () => answer.destroy());
  answer.once("close", () => outgoing.destroy());
  pipeline(incoming, outgoing, () => {});
}

function closeNow(server: Server): void {
  server.close();
  server.closeAllConnections();
}
