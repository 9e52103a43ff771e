/** Answers that no HTTP library would send: what a hostile or broken origin may write, byte by byte, as a seed has it. */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { mutate } from "../../shared/testing/mux/fuzz-input.ts";
import type { Random } from "../../shared/testing/random.ts";

export interface RawAnswer {
  readonly method: "GET" | "HEAD" | "POST";
  /** Bytes as they are written, with a turn in between. */
  readonly pieces: readonly Buffer[];
  /** How the connection ends after them. "hold": not before the other side ends it. */
  readonly ending: "end" | "reset" | "hold";
}

const STATUS_LINES = [
  "HTTP/1.0 200 OK",
  "HTTP/1.1 200",
  "HTTP/1.1 200 \xff\xfe gr\xc3\xbc\xc3\x9fe",
  "HTTP/1.1   200   OK",
  "http/1.1 200 OK",
  "HTTP/1.1 204 No Content",
  "HTTP/1.1 205 Reset",
  "HTTP/1.1 206 Partial",
  "HTTP/1.1 304 Not Modified",
  "HTTP/1.1 302 Found",
  "HTTP/1.1 308 Moved",
  "HTTP/1.1 401 Who",
  "HTTP/1.1 416 Range",
  "HTTP/1.1 503 Later",
  "HTTP/1.1 522 Cloudflare",
  "HTTP/1.1 999 Robot",
  "HTTP/1.1 000 Nothing",
  "HTTP/1.1 -1 Less",
  "HTTP/1.1 99 Short",
  "HTTP/1.1 1000 Long",
  "HTTP/1.1 4294967496 Wrapped",
  "HTTP/1.1 100 Continue",
  "HTTP/1.1 101 Switching",
  "HTTP/1.1 103 Early Hints",
  "HTTP/1.1 199 Odd",
  "HTTP/9.9 200 OK",
  "HTTP/2 200",
  "ICY 200 OK",
  "SSH-2.0-OpenSSH_9.6",
  "PRI * HTTP/2.0\r\n\r\nSM",
  "",
  " HTTP/1.1 200 OK",
  "\r\n\r\nHTTP/1.1 200 OK",
] as const;

/** Names, and values of which some are as they should be. A number is filled in for `#`. */
const FIELDS: readonly (readonly [name: string, values: readonly string[]])[] = [
  [
    "Content-Disposition",
    ['attachment; filename="gr\xc3\xbc\xc3\x9fe.txt"', "inline; filename*=UTF-8''%ff", "\xe2\x98\x83"],
  ],
  ["Content-Length", ["#", "0", "-1", "+5", "0x10", "5, 5", "5, 6", "99999999999999999999", "", "1e3", " 5 ", "\xff"]],
  [
    "Transfer-Encoding",
    ["chunked", "gzip, chunked", "chunked, chunked", "identity", "xchunked", "chunked\x0b", "\xff"],
  ],
  ["Content-Encoding", ["gzip", "br", "deflate", "zstd", "gzip, gzip", "x-gzip", "compress", "dcb", "\xff"]],
  [
    "Content-Type",
    ["text/html", "text/html; charset=\xff", "image/png", "text/css", "text/javascript", "a/b/c", ";", ""],
  ],
  [
    "Set-Cookie",
    ["a=#", "\xff=\xfe; path=\xfd", "=", ";", "a=b; domain=localhost", "a=b; max-age=-#", "a=b; expires=\xff"],
  ],
  [
    "Location",
    ["/#", "//", "http://[::1", "data:,x", "javascript:1", "\xff", "/\xc3\xa9 x", "?", "http://\xff.localhost/", ""],
  ],
  ["Link", ["</#>; rel=preload; as=script", "<", "<\xff>; rel=\xff", "</#>;;;,,,", '</x>; rel="preload']],
  ["Content-Security-Policy", ["default-src 'self'", "\xff", ";;;", "script-src 'nonce-\xff'", "report-uri /#"]],
  [
    "Cache-Control",
    ["max-age=#", "max-age=-1", "max-age=99999999999999999999", 'private="\xff', "public, immutable,,,"],
  ],
  ["Vary", ["*", "\xff", "accept,,,", "cookie, user-agent"]],
  ["ETag", ['"#"', 'W/"\xff', "", '"""']],
  ["Last-Modified", ["Thu, 01 Jan 1970 00:00:00 GMT", "\xff", "#"]],
  ["Date", ["Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 99 Foo 99999 99:99:99 GMT"]],
  ["Age", ["#", "-1", "99999999999999999999", "\xff"]],
  ["Expires", ["0", "\xff", "Thu, 01 Jan 1970 00:00:00 GMT"]],
  ["Accept-Ranges", ["bytes", "\xff"]],
  ["Content-Range", ["bytes 0-#/*", "bytes #-0/1", "bytes */0", "\xff"]],
  ["Connection", ["close", "keep-alive", "upgrade", "content-length", "\xff", "set-cookie, \xff"]],
  ["Keep-Alive", ["timeout=-1", "timeout=#"]],
  ["Upgrade", ["websocket", "h2c", "\xff"]],
  ["Trailer", ["x-trailer", "content-length"]],
  ["Alt-Svc", ['h3=":443"', "\xff"]],
  ["Strict-Transport-Security", ["max-age=#", "max-age=\xff"]],
  ["Clear-Site-Data", ['"cookies"', '"*"', "\xff"]],
  ["Access-Control-Allow-Origin", ["*", "null", "\xff"]],
  ["Cross-Origin-Resource-Policy", ["same-origin", "\xff"]],
  ["Server", ["cloudflare", "\xff"]],
  ["Retry-After", ["#", "\xff"]],
  ["WWW-Authenticate", ["Basic realm=\xff", "Negotiate"]],
  ["Use-As-Dictionary", ['match="/\xff*"', "("]],
  ["X-Frame-Options", ["DENY", "\xff"]],
  ["Refresh", ["0;url=/#", "\xff"]],
  ["Cf-Cache-Status", ["HIT", "\xff"]],
  ["Ropeway-Cleared", ["https://bank.example", "\xff"]],
  [":status", ["200", "\xff"]],
  ["X-Nothing", ["", " ", "\t"]],
];

const HTML =
  '<!doctype html><meta charset="x"><link rel=stylesheet href=/#><script src=/#></script><img srcset="/# 2x,/#"><p>\xff';

export function rawAnswer(random: Random): RawAnswer {
  const method = random.pick(["GET", "GET", "GET", "HEAD", "POST"] as const);
  const body = bodyOf(random);
  const isChunked = random.oneIn(3);
  const framed = isChunked ? chunked(random, body) : body;
  const framing = isChunked ? ["Transfer-Encoding: chunked"] : [`Content-Length: ${body.length}`];
  const heads = Array.from({ length: random.oneIn(6) ? random.below(4) : 0 }, () => interim(random));
  const head = headOf(random, random.oneIn(5) ? [] : framing);
  const after = random.oneIn(8) ? [headOf(random, ["Content-Length: 4"]), Buffer.from("evil")] : [];
  let bytes: Uint8Array = Buffer.concat([...heads, head, framed, ...after]);
  if (random.oneIn(4)) bytes = mutate(random, bytes);
  if (random.oneIn(4)) bytes = bytes.subarray(0, random.below(bytes.length + 1));
  return {
    method,
    pieces: cut(random, Buffer.from(bytes)),
    ending: random.pick(["end", "end", "reset", "hold"] as const),
  };
}

/** Which comes before the final one, and was not asked for. */
function interim(random: Random): Buffer {
  const status = random.pick(["100 Continue", "102 Wait", "103 Early Hints", "199 \xff"]);
  const fields = random.oneIn(2) ? [field(random)] : [];
  return Buffer.from([`HTTP/1.1 ${status}`, ...fields, "", ""].join("\r\n"), "latin1");
}

function headOf(random: Random, framing: readonly string[]): Buffer {
  const statusLine = random.oneIn(3) ? random.pick(STATUS_LINES) : "HTTP/1.1 200 OK";
  const fields = [...framing, ...Array.from({ length: random.below(6) }, () => field(random))];
  if (random.oneIn(30)) for (let count = random.below(2000); count > 0; count--) fields.push(`X-${count}: ${count}`);
  if (random.oneIn(30)) fields.push(`X-Long: ${"\xff".repeat(random.below(400_000))}`);
  // Where a field stands decides what parsers make of it.
  fields.sort(() => random.below(3) - 1);
  const end = random.oneIn(8) ? random.pick(["\n", "\r", "\r\r\n", "\n\r"]) : "\r\n";
  return Buffer.from([statusLine, ...fields, "", ""].join(end), "latin1");
}

function field(random: Random): string {
  const [name, values] = random.pick(FIELDS);
  const value = random.oneIn(9)
    ? String.fromCharCode(...random.bytes(random.below(20)))
    : random.pick(values).replaceAll("#", String(random.below(100)));
  switch (random.below(40)) {
    case 0:
      return `${name} : ${value}`;
    case 1:
      return `${name}: ${value}\r\n \t${value}`;
    case 2:
      return `${name}\t${value}`;
    case 3:
      return `${name}\xff: ${value}`;
    case 4:
      return `${name}: ${value}\0`;
    case 5:
      return ` ${name}: ${value}`;
    case 6:
      return `${name}: ${value}\rConnection: keep-alive`;
    default:
      return `${name}: ${value}`;
  }
}

function bodyOf(random: Random): Buffer {
  const text = Buffer.from(
    HTML.replaceAll("#", () => String(random.below(100))),
    "latin1",
  );
  switch (random.below(8)) {
    case 0:
      return Buffer.alloc(0);
    case 1:
      return gzipSync(text);
    case 2:
      return brotliCompressSync(text);
    case 3:
      return deflateSync(text);
    case 4:
      // A thousand times as much once it is unpacked.
      return gzipSync(Buffer.alloc(random.below(4_000_000)));
    case 5:
      return Buffer.from(random.bytes(random.below(5_000)));
    default:
      return text;
  }
}

function chunked(random: Random, body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let start = 0; start < body.length; ) {
    const part = body.subarray(start, start + 1 + random.below(body.length));
    start += part.length;
    const size = part.length.toString(16);
    const line = random.oneIn(12)
      ? random.pick([
          "zz",
          `-${size}`,
          "",
          "ffffffffffffffff",
          "fffffffffffffffff1",
          `0x${size}`,
          "7fffffff",
          ` ${size}`,
        ])
      : `${size}${random.oneIn(6) ? `;x="\xff${"y".repeat(random.below(300))}"` : ""}`;
    parts.push(Buffer.from(`${line}\r\n`, "latin1"), part, Buffer.from(random.oneIn(12) ? "\n" : "\r\n"));
  }
  const trailers = random.oneIn(4) ? `${field(random)}\r\n` : "";
  return Buffer.concat([...parts, Buffer.from(random.oneIn(6) ? "" : `0\r\n${trailers}\r\n`, "latin1")]);
}

/** In few pieces, or byte by byte at the beginning. */
function cut(random: Random, bytes: Buffer): Buffer[] {
  if (random.oneIn(5)) {
    const single = Array.from(bytes.subarray(0, 300), (byte) => Buffer.of(byte));
    return [...single, bytes.subarray(single.length)];
  }
  const at = Array.from({ length: random.below(4) }, () => random.below(bytes.length + 1)).sort((a, b) => a - b);
  return [...at, bytes.length].map((end, index) => bytes.subarray(at[index - 1] ?? 0, end));
}

/** As somebody would put it into a test, cut where it is long. */
export function describeAnswer({ method, pieces, ending }: RawAnswer): string {
  const bytes = Buffer.concat(pieces);
  const text = JSON.stringify(bytes.subarray(0, 2_000).toString("latin1"));
  return `${method}, ${pieces.length} pieces, ${ending}, ${bytes.length} bytes: ${text}`;
}

export interface RawOrigin {
  readonly port: number;
  /** What is asked for at `/0`, `/1` and so on, how often it may be. */
  answers: readonly RawAnswer[];
  close(): void;
}

/** Answers by the number in the path, whatever else is asked, and once on each connection. */
export async function startRawOrigin(): Promise<RawOrigin> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
    let isAsked = false;
    socket.on("data", (bytes) => {
      const path = /^[A-Z]+ \/(\d+)/.exec(bytes.toString("latin1"))?.[1];
      // A body.
      if (path === undefined) return;
      const answer = origin.answers[Number(path)];
      if (isAsked || answer === undefined) socket.destroy();
      else void say(socket, answer);
      isAsked = true;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin: RawOrigin = {
    port: (server.address() as AddressInfo).port,
    answers: [],
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return origin;
}

async function say(socket: Socket, { pieces, ending }: RawAnswer): Promise<void> {
  socket.setNoDelay(true);
  for (const piece of pieces) {
    if (socket.destroyed) return;
    socket.write(piece);
    await nextTurn();
  }
  if (ending === "end") socket.end();
  else if (ending === "reset") socket.resetAndDestroy();
}
