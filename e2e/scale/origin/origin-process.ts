/**
 * An origin of small pages, as a process: 5 to 20 objects of 0.5 to 40 KB each, half of which compress, large downloads,
 * and a form. What it serves follows from the URL alone. The arguments are the address and the port, 0 for a free one;
 * once it listens it says the port as JSON.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { crc32 } from "node:zlib";
import { seededRandom } from "../../demo/random.ts";
import { CHECK_FIELD, PATHS } from "./paths.ts";

const SMALLEST = 500;
const LARGEST = 40_000;
const BLOCK = 64 * 1024;
const WORDS = "the quick brown fox jumps over a lazy dog while function return const await document window ".split(" ");

const random = seededRandom(1);
const noise = Buffer.from(Uint8Array.from({ length: BLOCK + LARGEST }, () => random() * 256));
const text = Buffer.from(
  Array.from({ length: BLOCK }, () => WORDS[Math.floor(random() * WORDS.length)])
    .join(" ")
    .slice(0, BLOCK + LARGEST),
);

const [ip = "127.0.0.1", port = "0"] = process.argv.slice(2);
// A connection that waits for its next request is nobody's fault, however long: 408 would be for slow requests.
const server = createServer(
  { keepAlive: true, keepAliveTimeout: 120_000, headersTimeout: 0, requestTimeout: 0 },
  answer,
);
server.listen(Number(port), ip, 4096, () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));
});

function answer(request: IncomingMessage, response: ServerResponse): void {
  response.on("error", () => {});
  const { url = "" } = request;
  if (url === PATHS.small) return send(response, "text/plain", noise.subarray(0, 100));
  if (url === PATHS.form) return answerForm(request, response);
  if (url.startsWith(PATHS.page)) return send(response, "text/html", page(url.slice(PATHS.page.length)));
  if (url.startsWith(PATHS.large)) return sendLarge(response, Number(url.slice(PATHS.large.length)));
  if (url.startsWith(PATHS.object)) return sendObject(response, url.slice(PATHS.object.length));
  response.writeHead(404).end();
}

function page(name: string): Buffer {
  const pick = seededRandom(Number(name));
  const objects = Array.from({ length: 5 + Math.floor(pick() * 16) }, (_, index) => {
    const length = Math.round(SMALLEST * (LARGEST / SMALLEST) ** pick());
    return pick() < 0.5
      ? `<script src="${PATHS.object}${name}/${index}/${length}.js" defer></script>`
      : `<img src="${PATHS.object}${name}/${index}/${length}.png" alt="">`;
  });
  const paragraph = text.toString("latin1", Number(name) % BLOCK, (Number(name) % BLOCK) + 3_000);
  return Buffer.from(`<!doctype html><title>${name}</title>\n${objects.join("\n")}\n<p>${paragraph}</p>\n`);
}

/** @param path `PAGE/INDEX/LENGTH.png` or `.js` */
function sendObject(response: ServerResponse, path: string): void {
  const [name, index, file = ""] = path.split("/");
  const length = Math.min(LARGEST, Number.parseInt(file, 10));
  const start = (Number(name) * 31 + Number(index) * 997) % BLOCK;
  const isScript = file.endsWith("js");
  const body = (isScript ? text : noise).subarray(start, start + length);
  send(response, isScript ? "text/javascript" : "image/png", body);
}

function sendLarge(response: ServerResponse, length: number): void {
  const block = noise.subarray(0, BLOCK);
  const blocks = Math.ceil(length / BLOCK);
  let check = 0;
  for (let index = 0; index < blocks; index++) check = crc32(block, check);
  response.writeHead(200, { "content-type": "image/jpeg", "content-length": blocks * BLOCK, [CHECK_FIELD]: check });
  let left = blocks;
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(block)) return void response.once("drain", more);
    }
    response.end();
  };
  more();
}

function answerForm(request: IncomingMessage, response: ServerResponse): void {
  let length = 0;
  request.on("data", (chunk: Buffer) => {
    length += chunk.length;
  });
  request.on("end", () => send(response, "text/plain", Buffer.from(String(length))));
  request.on("error", () => {});
}

function send(response: ServerResponse, type: string, body: Buffer): void {
  response.writeHead(200, {
    "content-type": type,
    "content-length": body.length,
    "cache-control": "max-age=3600",
    [CHECK_FIELD]: crc32(body),
  });
  response.end(body);
}
