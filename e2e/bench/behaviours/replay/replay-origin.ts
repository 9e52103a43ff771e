/**
 * The web server of a replay, plain HTTP, for all hosts of all workloads. Answers
 * `/b/SEED/REQUEST-BODY/RESPONSE-HEAD/RESPONSE-BODY/anything` with a head and a body of those lengths, once it has got
 * the request's body and that has the length and bytes that were announced (400 otherwise). Everything else comes from
 * its files: the replay page, its script, plans.
 *
 * As a program: `node replay-origin.ts DIRECTORY PORT`; prints the port when it listens, ends with its standard input.
 */
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";
import { join, normalize } from "node:path";
import { fieldLinesLength, paddingFields } from "./head-padding.ts";
import { NoiseBytes } from "./noise-bytes.ts";

const CHUNK = 64 * 1024;
const ASKED = /^\/b\/(\d+)\/(\d+)\/(\d+)\/(\d+)(\/|$)/;
const TYPES: Readonly<Record<string, string>> = { html: "text/html", js: "text/javascript", json: "application/json" };

export interface ReplayOrigin {
  readonly port: number;
  /** Requests answered, files and preflights not among them. */
  readonly answered: number;
  close(): Promise<void>;
}

export interface ReplayOriginOptions {
  /** Where replay.html, replay.js and plan/ are. */
  readonly directory: string;
  /** 0 for any. */
  readonly port: number;
  /** A loopback address; 127.0.0.1 by default. */
  readonly address?: string;
  /** Sees the requests that are counted. */
  readonly onRequest?: (request: IncomingMessage) => void;
}

export async function startReplayOrigin(options: ReplayOriginOptions): Promise<ReplayOrigin> {
  let answered = 0;
  const server = createServer((request, response) => {
    const handled = ASKED.test(request.url ?? "")
      ? answer(request, response)
      : sendFile(request, response, options.directory);
    handled.catch((error: unknown) => {
      console.error(`Cannot answer ${request.method} ${request.url}:`, error);
      response.destroy();
    });
  });
  // A proxy keeps its connections; the server must not be the one to close them while a request is on the way.
  server.keepAliveTimeout = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "OPTIONS") return allowPreflight(response);
    options.onRequest?.(request);
    const [seed, requestBody, responseHead, responseBody] = (ASKED.exec(request.url ?? "") ?? [])
      .slice(1, 5)
      .map(Number) as [number, number, number, number];
    const fault = await bodyFault(request, seed, requestBody);
    answered++;
    if (fault !== null) {
      response.writeHead(400, { "access-control-allow-origin": "*" });
      response.end(fault);
      return;
    }
    sendHead(response, responseHead, responseBody);
    if (request.method === "HEAD") response.end();
    else await sendBody(response, seed, responseBody);
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.address ?? "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    get answered() {
      return answered;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyFault(request: IncomingMessage, seed: number, length: number): Promise<string | null> {
  const expected = new NoiseBytes(seed);
  let bytes = 0;
  let right = true;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    right = expected.matches(part) && right;
  }
  if (bytes !== length) return `the body has ${bytes} bytes, not ${length}`;
  return right ? null : "the body has other bytes than were announced";
}

/** A head of `total` bytes as HTTP/1.1 writes it, hop-by-hop fields not counted; more if it cannot be so short. */
function sendHead(response: ServerResponse, total: number, bodyLength: number): void {
  const fields: [string, string][] = [
    ["date", new Date().toUTCString()],
    ["content-type", "application/octet-stream"],
    ["content-length", String(bodyLength)],
    ["cache-control", "no-store"],
    ["access-control-allow-origin", "*"],
    ["timing-allow-origin", "*"],
  ];
  const own = `HTTP/1.1 200 ${STATUS_CODES[200]}\r\n\r\n`.length + fieldLinesLength(fields);
  response.writeHead(200, [...fields, ...paddingFields(total - own)].flat());
}

async function sendBody(response: ServerResponse, seed: number, length: number): Promise<void> {
  const noise = new NoiseBytes(seed);
  for (let left = length; left > 0 && !response.destroyed; left -= CHUNK) {
    if (!response.write(noise.take(Math.min(left, CHUNK)))) await drained(response);
  }
  response.end();
}

/** Resolves when the socket takes more, or is gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

/** Only methods other than GET, HEAD and POST to another origin need one. */
function allowPreflight(response: ServerResponse): void {
  response.writeHead(204, {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "*",
    "access-control-max-age": "7200",
  });
  response.end();
}

async function sendFile(request: IncomingMessage, response: ServerResponse, directory: string): Promise<void> {
  const path = normalize(new URL(request.url ?? "/", "http://origin").pathname);
  const bytes = await readFile(join(directory, path)).catch(() => null);
  if (bytes === null) {
    response.writeHead(404);
    response.end(`There is nothing at ${path}`);
    return;
  }
  const type = TYPES[path.split(".").at(-1) ?? ""] ?? "application/octet-stream";
  response.writeHead(200, { "content-type": type, "content-length": bytes.length, "cache-control": "no-store" });
  response.end(bytes);
}

if (import.meta.main) {
  const [directory, port] = process.argv.slice(2);
  if (directory === undefined || port === undefined) {
    console.error("Usage: node replay-origin.ts DIRECTORY PORT");
    process.exit(2);
  }
  const origin = await startReplayOrigin({ directory, port: Number(port) });
  console.log(origin.port);
  process.stdin.resume().once("end", () => process.exit(0));
}
