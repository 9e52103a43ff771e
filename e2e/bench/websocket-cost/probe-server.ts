/**
 * The far end of experiment B, a program: `node probe-server.ts ADDRESS`. Listens for each carrier, and for TLS, on ports
 * of its own; prints them as JSON; ends with its standard input.
 */
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer, type Server } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { type WebSocket, WebSocketServer } from "ws";
import { testCertificate } from "../../fixtures/test-certificate.ts";
import { acceptRopeway, acceptTcp, acceptWebSocket, type BodyPipe, type CarrierTask, serveTask } from "./carriers.ts";
import type { ProbePorts } from "./prober.ts";

const [address = "127.0.0.1"] = process.argv.slice(2);
const identity = testCertificate(address);
const tls = { ...identity, minVersion: "TLSv1.3" } as const;

const ports: ProbePorts = {
  tcp: await listen(createServer((socket) => acceptTcp(socket, serve))),
  tls: await listen(createTlsServer(tls, (socket) => socket.resume().on("error", () => socket.destroy()))),
  websocket: await listen(webSockets(createHttpServer(), (socket) => acceptWebSocket(socket, serve))),
  websocketTls: await listen(webSockets(createHttpsServer(tls), (socket) => acceptWebSocket(socket, serve))),
  ropeway: await listen(webSockets(createHttpServer(), (socket) => acceptRopeway(socket, serve))),
};
console.log(JSON.stringify(ports));
process.stdin.resume().once("end", () => process.exit(0));

/** A client that goes away ends its task, nothing else. */
function serve(pipe: BodyPipe, task: CarrierTask): void {
  serveTask(pipe, task).catch(() => pipe.close());
}

function webSockets(server: HttpServer, accept: (socket: WebSocket) => void): HttpServer {
  new WebSocketServer({ server, perMessageDeflate: false }).on("connection", (socket) => {
    socket.on("error", () => socket.terminate());
    accept(socket);
  });
  return server;
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, address, () => resolve((server.address() as AddressInfo).port));
  });
}
