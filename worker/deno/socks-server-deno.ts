/**
 * A SOCKS server (RFC 1928) on loopback for this process's own fetch, so that the edge opens the connections itself.
 * Others on this machine get nothing from it: each client has to know a secret (RFC 1929).
 */

import { timingSafeEqual } from "node:crypto";
import { toHex } from "../../shared/base-encodings.ts";

/** Milliseconds for a handshake. No network is in between: a client that takes longer has gone. */
export const HANDSHAKE_TIME = 5_000;

const Socks = { VERSION: 5, PASSWORD_METHOD: 2, NO_METHOD: 0xff, CONNECT: 1, DOMAIN_NAME: 3 } as const;
const SocksReply = { SUCCEEDED: 0, GENERAL_FAILURE: 1, CONNECTION_REFUSED: 5 } as const;
const PASSWORD_VERSION = 1;
const USER = "ropeway";
const PASSWORD_BYTES = 24;

/** Bytes of the request with the password, at its longest. */
const LONGEST_MESSAGE = 3 + 255 + 255;

/** As large as a read of Deno's gets. */
const COPY_BYTES = 65_536;

/** Connects for a client. `signal` is aborted once the client has gone. Rejects as `Deno.connect` does. */
export type ConnectTo = (host: string, port: number, signal: AbortSignal) => Promise<Deno.TcpConn>;

/** @param onBroken it can accept no more: another server is needed. */
export function startSocksServer(connect: ConnectTo, onBroken: () => void): Deno.Proxy {
  const password = toHex(crypto.getRandomValues(new Uint8Array(PASSWORD_BYTES)));
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  acceptAll(listener, new SocksService(password, connect)).catch(() => {
    listener.close();
    onBroken();
  });
  return {
    transport: "socks5",
    url: `socks5h://127.0.0.1:${listener.addr.port}`,
    basicAuth: { username: USER, password },
  };
}

async function acceptAll(listener: Deno.TcpListener, service: SocksService): Promise<void> {
  for await (const client of listener) {
    const tooLate = setTimeout(() => close(client), HANDSHAKE_TIME);
    service
      .serve(client, () => clearTimeout(tooLate))
      .catch(() => {})
      .finally(() => {
        clearTimeout(tooLate);
        close(client);
      });
  }
}

class SocksService {
  readonly #password: Uint8Array;
  readonly #connect: ConnectTo;

  constructor(password: string, connect: ConnectTo) {
    this.#password = new TextEncoder().encode(password);
    this.#connect = connect;
  }

  /** Rejects when the client does not keep to the protocol, or goes. */
  async serve(connection: Deno.TcpConn, onIntroduced: () => void): Promise<void> {
    const client = new Client(connection);
    if (!(await this.#isOurs(client))) return;
    const { host, port } = await readTarget(client);
    onIntroduced();
    // The client says nothing before it has its answer: what it does until then is to go away.
    const gone = new AbortController();
    const buffer = new Uint8Array(COPY_BYTES);
    const firstRead = connection.read(buffer);
    const watch = () => gone.abort();
    firstRead.then((count) => count === null && watch(), watch);
    let origin: Deno.TcpConn;
    try {
      origin = await this.#connect(host, port, gone.signal);
    } catch (error) {
      const isRefused = error instanceof Deno.errors.ConnectionRefused;
      return await reply(client, isRefused ? SocksReply.CONNECTION_REFUSED : SocksReply.GENERAL_FAILURE);
    }
    try {
      await reply(client, SocksReply.SUCCEEDED);
      const sent = copy(connection, origin, buffer, firstRead);
      const answered = copy(origin, connection).then(() => connection.closeWrite());
      // Fetch ends its side when it is done with the connection, whatever the origin would still do.
      await Promise.race([sent, answered.then(() => sent)]);
    } finally {
      close(origin);
    }
  }

  async #isOurs(client: Client): Promise<boolean> {
    const [, methodCount = 0] = await client.read(2);
    if (!(await client.read(methodCount)).includes(Socks.PASSWORD_METHOD)) {
      await client.write(Socks.VERSION, Socks.NO_METHOD);
      return false;
    }
    await client.write(Socks.VERSION, Socks.PASSWORD_METHOD);
    const [, userLength = 0] = await client.read(2);
    await client.read(userLength);
    const [passwordLength = 0] = await client.read(1);
    const password = await client.read(passwordLength);
    const isRight = password.length === this.#password.length && timingSafeEqual(password, this.#password);
    await client.write(PASSWORD_VERSION, isRight ? 0 : 1);
    return isRight;
  }
}

/** A connection whose messages are read by their parts, most often all at once. */
class Client {
  readonly connection: Deno.TcpConn;
  readonly #buffer = new Uint8Array(LONGEST_MESSAGE);
  #start = 0;
  #end = 0;

  constructor(connection: Deno.TcpConn) {
    this.connection = connection;
  }

  /** @returns bytes that are valid until the next read. */
  async read(length: number): Promise<Uint8Array> {
    if (this.#start === this.#end) this.#start = this.#end = 0;
    while (this.#end - this.#start < length) {
      const count = await this.connection.read(this.#buffer.subarray(this.#end));
      if (count === null || count === 0) throw new Error("Cannot read from the SOCKS client: it broke off");
      this.#end += count;
    }
    this.#start += length;
    return this.#buffer.subarray(this.#start - length, this.#start);
  }

  write(...bytes: number[]): Promise<void> {
    return writeAll(this.connection, Uint8Array.from(bytes));
  }
}

async function readTarget(client: Client): Promise<{ host: string; port: number }> {
  const [, command, , addressType, length = 0] = await client.read(5);
  if (command !== Socks.CONNECT || addressType !== Socks.DOMAIN_NAME) {
    throw new Error("Cannot serve the SOCKS client: it may only connect to names");
  }
  const host = new TextDecoder().decode(await client.read(length));
  const [high = 0, low = 0] = await client.read(2);
  return { host, port: high * 256 + low };
}

/** Until `from` ends. Rejects when either fails. */
async function copy(
  from: Deno.TcpConn,
  to: Deno.TcpConn,
  buffer: Uint8Array = new Uint8Array(COPY_BYTES),
  firstRead: Promise<number | null> = from.read(buffer),
): Promise<void> {
  for (let reading = firstRead; ; reading = from.read(buffer)) {
    const count = await reading;
    if (count === null) return;
    await writeAll(to, buffer.subarray(0, count));
  }
}

function reply(client: Client, code: number): Promise<void> {
  // Reserved, then the address that was bound, which no client looks at: IPv4 0.0.0.0, port 0.
  return client.write(Socks.VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0);
}

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) offset += await connection.write(bytes.subarray(offset));
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch {
    // The connection was closed already.
  }
}
