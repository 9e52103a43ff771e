/**
 * Names below `localhost` lead to this machine (RFC 6761 section 6.3), but few resolvers say so and workerd has none of
 * its own. An edge that may reach loopback sends requests for such names here, as to an HTTP proxy.
 *
 * Bodies pass as they are. Heads do so but for what RFC 9112 has a proxy mend, so that what an origin sends is judged in
 * one place, the edge. Each connection carries one exchange: bytes that an origin sends after its answer reach nobody.
 */
import { createServer, type LookupFunction, type Socket, connect as tcpConnect } from "node:net";
import { pipeline, Transform } from "node:stream";
import { TLSSocket, connect as tlsConnect } from "node:tls";

/** Where the proxy itself answers: why the origin cannot be reached, as Node calls it. egress-worker.ts makes it an error. */
const FAILURE_FIELD = "Ropeway-Failure";

/** Bytes; as Chromium's. Counts heads that announce another, too. */
const MOST_HEAD_BYTES = 256 * 1024;

const [LINE_FEED, CARRIAGE_RETURN] = [0x0a, 0x0d];

/** Of a connection; or as if the origin were the proxy. */
const OF_THE_PROXY = new RegExp(`^(connection|keep-alive|${FAILURE_FIELD}):`, "i");

const BOTH_LOOPBACKS: LookupFunction = (_name, _options, found) =>
  found(null, [
    { address: "127.0.0.1", family: 4 },
    { address: "::1", family: 6 },
  ]);

export interface LoopbackProxy {
  /** As workerd's configuration wants it. */
  readonly address: string;
  close(): void;
}

/** @param socketPath of a Unix socket in a directory that only this user may enter. */
export async function startLoopbackProxy(socketPath: string): Promise<LoopbackProxy> {
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    // Why it ended does not matter, but an error that nobody takes ends the process.
    client.on("error", () => {});
    client.once("close", () => clients.delete(client));
    // A failure on one side, once the origin was there, is a lost connection on the other.
    relay(client).catch(() => client.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketPath, resolve);
  });
  // From here on an error is of one connection that could not be accepted (too many files, say).
  server.on("error", () => {});
  server.unref();
  return {
    address: `unix:${socketPath}`,
    close() {
      server.close();
      for (const client of clients) client.destroy();
    },
  };
}

interface Request {
  readonly url: URL;
  readonly method: string;
  /** As they go to the origin. */
  readonly fields: readonly string[];
}

/** Rejects where an origin's answer is not HTTP. */
async function relay(client: Socket): Promise<void> {
  const request = readRequest(await readHead(client, MOST_HEAD_BYTES));
  if (request === null) {
    client.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    return;
  }
  const { url, method, fields } = request;
  const origin = connectTo(url);
  const failing = whyNotConnected(origin);
  client.once("close", () => origin.destroy());
  if (client.destroyed) origin.destroy();
  const failure = await failing;
  if (failure !== null) {
    const length = "Content-Length: 0";
    client.end(headOf(["HTTP/1.1 502 Bad Gateway", "Connection: close", length, `${FAILURE_FIELD}: ${failure}`]));
    return;
  }
  origin.write(
    headOf([`${method} ${url.pathname}${url.search} HTTP/1.1`, `Host: ${url.host}`, "Connection: close", ...fields]),
  );
  client.pipe(origin, { end: false });

  const answer = await readAnswer(origin);
  const mayHaveBody = method !== "HEAD" && answer.status !== 204 && answer.status !== 304;
  const isCounted = answer.fields.some((field) => /^(content-length|transfer-encoding):/i.test(field));
  // A Unix socket has no reset: only chunks tell a body that broke off from one that ended.
  const chunks = mayHaveBody && !isCounted ? [new Chunks()] : [];
  const coding = chunks.map(() => "Transfer-Encoding: chunked");
  // Exactly one such field, or workerd sends the next request, to whatever origin, on this connection.
  client.write(headOf([answer.statusLine, "Connection: close", ...coding, ...answer.fields]));
  pipeline([origin, ...chunks, client], () => {});
}

/** @returns null for what is not to be reached here. */
function readRequest([requestLine = "", ...fields]: readonly string[]): Request | null {
  const [method = "", target = ""] = requestLine.split(" ");
  const url = URL.parse(target);
  if (url === null || !/^https?:$/.test(url.protocol) || !/\.localhost\.?$/.test(url.hostname)) return null;
  return { url, method, fields: fields.filter((field) => !/^(host|connection|proxy-connection):/i.test(field)) };
}

function connectTo({ protocol, hostname, port }: URL): Socket {
  const address = { host: hostname, lookup: BOTH_LOOPBACKS, autoSelectFamily: true };
  if (protocol === "http:") return tcpConnect({ ...address, port: Number(port || 80) });
  return tlsConnect({ ...address, port: Number(port || 443), servername: hostname.replace(/\.$/, "") });
}

/** @returns null once it is connected, over TLS where that is meant; else the name of Node's error. */
function whyNotConnected(origin: Socket): Promise<string | null> {
  return new Promise((resolve) => {
    origin.once(origin instanceof TLSSocket ? "secureConnect" : "connect", () => resolve(null));
    origin.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "UNKNOWN"));
    origin.once("close", () => resolve("ECONNRESET"));
  });
}

interface Answer {
  readonly status: number;
  readonly statusLine: string;
  readonly fields: readonly string[];
}

/** The final one: what comes before it, asked for or not, is for the connection alone (RFC 9110 section 15.2). */
async function readAnswer(origin: Socket): Promise<Answer> {
  for (let room = MOST_HEAD_BYTES; ; ) {
    const [statusLine = "", ...fields] = await readHead(origin, room);
    const status = Number(/^HTTP\/\d+(?:\.\d+)? +(\d{3})(?!\d)/i.exec(statusLine)?.[1] ?? 0);
    if (status < 100 || status === 101) throw new Error("Cannot read the answer: it is not HTTP");
    if (status < 200) {
      room -= statusLine.length + fields.join("").length;
      continue;
    }
    return { status, statusLine, fields: fields.filter((field) => !OF_THE_PROXY.test(field)) };
  }
}

/** Reads up to the empty line, one step for each byte, and leaves the rest in the socket. */
function readHead(socket: Socket, room: number): Promise<string[]> {
  const read: Buffer[] = [];
  let bytes = 0;
  let lineBytes = 0;
  let hasLine = false;
  /** @returns where the head ends in the chunk, or null. */
  const endIn = (chunk: Buffer): number | null => {
    for (const [index, byte] of chunk.entries()) {
      if (byte === CARRIAGE_RETURN) continue;
      if (byte !== LINE_FEED) lineBytes += 1;
      else if (lineBytes === 0 && hasLine) return index + 1;
      else {
        hasLine ||= lineBytes > 0;
        lineBytes = 0;
      }
    }
    return null;
  };
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      socket.off("readable", take).off("close", onClose);
      finish();
    };
    const onClose = (): void => settle(() => reject(new Error("Cannot read the head: the connection was closed")));
    const take = (): void => {
      for (let chunk: Buffer | null = socket.read(); chunk !== null; chunk = socket.read()) {
        const end = endIn(chunk);
        read.push(chunk.subarray(0, end ?? chunk.length));
        bytes += end ?? chunk.length;
        if (bytes > room) return settle(() => reject(new Error("Cannot read the head: it is too long")));
        if (end === null) continue;
        const rest = chunk.subarray(end);
        return settle(() => {
          if (rest.length > 0) socket.unshift(rest);
          resolve(linesOf(Buffer.concat(read)));
        });
      }
    };
    if (socket.destroyed) return onClose();
    socket.on("readable", take).on("close", onClose);
  });
}

/**
 * RFC 9112 has a proxy put spaces in the place of a lone CR (section 2.2) and of a line's fold (5.2), and take away those
 * before a colon (5.1). Lines that are no fields go, as in browsers; the first is whatever it is.
 */
function linesOf(head: Buffer): string[] {
  const text = head.toString("latin1").replace(/\r(?!\n)/g, " ");
  const [first = "", ...lines] = text
    .replace(/\r?\n[ \t]+/g, " ")
    .split(/\r?\n/)
    .filter((line) => line !== "");
  const fields = lines.map((line) => /^([\w!#$%&'*+.^`|~-]+)[ \t]*:(.*)$/s.exec(line));
  return [first, ...fields.flatMap((match) => (match === null ? [] : [`${match[1]}:${match[2]}`]))];
}

function headOf(lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}

/** The chunked coding of a body (RFC 9112 section 7.1). */
class Chunks extends Transform {
  override _transform(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.push(`${chunk.length.toString(16)}\r\n`);
    this.push(chunk);
    this.push("\r\n");
    done();
  }

  override _flush(done: () => void): void {
    this.push("0\r\n\r\n");
    done();
  }
}
