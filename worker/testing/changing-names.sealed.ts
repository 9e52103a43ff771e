/**
 * To be run sealed (`sealed-network.ts`): asks an edge for names whose server says a public address first and a private
 * one ever after, as for DNS rebinding, and the other way round. Argument: the runtime. Prints what came of them: which
 * server was reached, or the errors' messages.
 */
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { type EdgeOptions, startEdge } from "../../scripts/edge-process.ts";
import type { RopewayError } from "../../shared/errors.ts";
import { scriptFetch } from "../../shared/testing/http/request-heads.ts";
import { startNameServer } from "./name-server.ts";
import { pairPhone, TestPhone } from "./test-phone.ts";

const [PUBLIC, PRIVATE] = ["93.184.216.34", "10.0.0.1"];
const NAMES = 5;

const questions = new Map<string, number>();
const nameServer = await startNameServer((name) => {
  const question = (questions.get(name) ?? 0) + 1;
  questions.set(name, question);
  // A resolver asks for IPv4 and for IPv6.
  const [first, then] = name.startsWith("private") ? [PRIVATE, PUBLIC] : [PUBLIC, PRIVATE];
  return [question <= 2 ? first : then];
});
const origin = createServer((request, response) => {
  const { localAddress } = request.socket;
  // Deno's fetch refuses so many lines: another client asks again.
  if (request.headers.host?.endsWith("0.test"))
    for (let line = 0; line < 200; line++) response.setHeader(`x-${line}`, line);
  response.setHeader("connection", "close").end(localAddress === `::ffff:${PUBLIC}` ? "public" : "PRIVATE");
});
origin.on("upgrade", ({ headers, socket: { localAddress } }, socket) => {
  const accept = createHash("sha1").update(`${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
  const where = localAddress === `::ffff:${PUBLIC}` ? "public" : "PRIVATE";
  const fields = [`Sec-WebSocket-Accept: ${accept.digest("base64")}`, `Sec-WebSocket-Protocol: ${where}`];
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${fields.join("\r\n")}\r\n\r\n`,
  );
});
await new Promise<void>((resolve) => origin.listen(80, "::", resolve));
const [runtime] = process.argv.slice(2);
const edge = await startEdge({ runtime: runtime as EdgeOptions["runtime"], port: 0, ip: "127.0.0.1" });
const phone = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
await phone.connect();

const SOCKET = {
  ...scriptFetch("http://page.test"),
  method: "CONNECT",
  protocol: "websocket",
  credentials: "include",
  redirect: "error",
  headers: [["sec-websocket-protocol", "public, PRIVATE"]],
} as const;
const openSocket = async (url: string) => (await phone.start(url, { ...SOCKET, body: new ReadableStream() })).head;
const outcomes = new Set<string>();
for (const kind of ["public", "private"]) {
  for (let index = 0; index < NAMES; index++) {
    // The second connection is one of its own: the origin keeps none.
    for (const path of ["a", "b"]) {
      const outcome = await phone.fetch(`http://${kind}${index}.test/${path}`).then(
        ({ text }) => text,
        (error: RopewayError) => error.message,
      );
      outcomes.add(outcome);
      const socket = await openSocket(`http://${kind}${index}.test/${path}`).then(
        ({ headers }) => `a socket to ${headers.find(([name]) => name === "sec-websocket-protocol")?.[1]}`,
        (error: RopewayError) => error.message,
      );
      outcomes.add(socket);
    }
  }
}
console.log(JSON.stringify([...outcomes]));

phone.close();
origin.close();
nameServer.close();
await edge.close();
process.exit();
