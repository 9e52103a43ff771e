/**
 * Names below `localhost` lead to this machine (RFC 6761 section 6.3), but few resolvers say so, and Deno's fetch takes
 * no resolver. It takes a SOCKS proxy though: this one runs in the process itself, connects such names to loopback and
 * refuses all others. So fetch stays Deno's own: streams, TLS with the right name, decoding, cancelling.
 */
import type { FetchFunction } from "./upstream/upstream.ts";

/** SOCKS Protocol Version 5, RFC 1928. */
const Socks = { VERSION: 5, NO_AUTHENTICATION: 0, CONNECT: 1, DOMAIN_NAME: 3 } as const;
const SocksReply = { SUCCEEDED: 0, NOT_ALLOWED: 2, CONNECTION_REFUSED: 5 } as const;

const LOOPBACK = ["127.0.0.1", "::1"];

/** A fetch for an edge that may reach loopback: `localhost` and names below it are this machine. */
export function createLoopbackFetch(): FetchFunction {
  let client: Deno.HttpClient | null = null;
  return (request) => {
    if (!isLoopbackName(new URL(request.url).hostname)) return fetch(request);
    client ??= createClient(() => {
      client = null;
    });
    return fetch(request, { client });
  };
}

function isLoopbackName(host: string): boolean {
  return /(^|\.)localhost\.?$/.test(host);
}

/** @param onBroken the process can accept no more: another client is needed. */
function createClient(onBroken: () => void): Deno.HttpClient {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  acceptAll(listener).catch(() => {
    listener.close();
    onBroken();
  });
  return Deno.createHttpClient({ proxy: { url: `socks5h://127.0.0.1:${listener.addr.port}` } });
}

async function acceptAll(listener: Deno.TcpListener): Promise<void> {
  for await (const connection of listener) serve(connection).catch(() => close(connection));
}

async function serve(client: Deno.TcpConn): Promise<void> {
  const [, methods = 0] = await read(client, 2);
  await read(client, methods);
  await write(client, [Socks.VERSION, Socks.NO_AUTHENTICATION]);
  const [, command, , addressType, length = 0] = await read(client, 5);
  const name = new TextDecoder().decode(await read(client, length));
  const [high = 0, low = 0] = await read(client, 2);
  const isWanted = command === Socks.CONNECT && addressType === Socks.DOMAIN_NAME && isLoopbackName(name);
  const origin = isWanted ? await connectLoopback(high * 256 + low) : null;
  if (origin === null) {
    await reply(client, isWanted ? SocksReply.CONNECTION_REFUSED : SocksReply.NOT_ALLOWED);
    return close(client);
  }
  await reply(client, SocksReply.SUCCEEDED);
  // Each side's end or failure closes the other.
  await Promise.allSettled([client.readable.pipeTo(origin.writable), origin.readable.pipeTo(client.writable)]);
}

async function connectLoopback(port: number): Promise<Deno.TcpConn | null> {
  for (const hostname of LOOPBACK) {
    const connection = await Deno.connect({ hostname, port }).catch(() => null);
    if (connection !== null) return connection;
  }
  return null;
}

function reply(client: Deno.TcpConn, code: number): Promise<void> {
  // Reserved, then the address that was bound, which no client looks at: IPv4 0.0.0.0, port 0.
  return write(client, [Socks.VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]);
}

async function read(connection: Deno.TcpConn, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let offset = 0; offset < length; ) {
    const count = await connection.read(bytes.subarray(offset));
    if (count === null) throw new Error("Cannot read from the SOCKS client: it closed the connection");
    offset += count;
  }
  return bytes;
}

/** A few bytes, which a fresh connection takes at once. */
async function write(connection: Deno.TcpConn, bytes: readonly number[]): Promise<void> {
  await connection.write(Uint8Array.from(bytes));
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch {
    // It was closed already.
  }
}
