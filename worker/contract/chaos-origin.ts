/** An origin whose answers are known from the request, and that counts what it was asked to do. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { Random } from "../../shared/testing/random.ts";
import { readAll, sha256 } from "../testing/contract.ts";

/** How a body can go on after its session was lost: by range, as a whole, not at all. */
export type BlobKind = "ranged" | "coded" | "plain";

/** Bytes that only `seed` and `length` decide, and that a coding makes about half of. */
export function blob(seed: number, length: number): Buffer {
  const random = new Random(seed);
  const words = Uint32Array.from({ length: Math.ceil(length / 4) }, () => random.uint32() & 0x0f0f0f0f);
  return Buffer.from(words.buffer, 0, length);
}

export class ChaosOrigin {
  /** How often each request arrived, by its name, whole or not; preflights are not counted. */
  readonly arrivals = new Map<string, number>();
  /** Downloads that were asked for from where they had stopped. */
  continued = 0;

  /** `GET /KIND/NAME/SEED/LENGTH`, `PUT /upload/NAME`, `POST /upload/NAME`. Answers come in pieces, with pauses. */
  readonly listener = (request: IncomingMessage, response: ServerResponse): void => {
    response.on("error", () => {});
    const [kind = "", name = "", seed, length] = (request.url ?? "").slice(1).split("/");
    if (request.method !== "OPTIONS") this.arrivals.set(name, (this.arrivals.get(name) ?? 0) + 1);
    if (request.method === "GET")
      return void this.#download(request, response, kind as BlobKind, Number(seed), Number(length));
    readAll(request).then(
      (body) => response.end(sha256(body)),
      () => response.destroy(),
    );
  };

  async #download(
    request: IncomingMessage,
    response: ServerResponse,
    kind: BlobKind,
    seed: number,
    length: number,
  ): Promise<void> {
    const whole = blob(seed, length);
    const etag = `"${seed}-${length}"`;
    let body = whole;
    if (kind === "coded") {
      body = gzipSync(whole);
      response.setHeader("etag", etag);
      response.setHeader("content-encoding", "gzip");
    } else if (kind === "ranged") {
      response.setHeader("etag", etag);
      const range = request.headers.range?.match(/^bytes=(\d+)-(\d+)$/);
      if (range && request.headers["if-range"] === etag) {
        const [first, last] = [Number(range[1]), Number(range[2])];
        this.continued += 1;
        body = whole.subarray(first, last + 1);
        response.writeHead(206, { "content-range": `bytes ${first}-${last}/${length}` });
      }
    }
    if (!response.headersSent) response.setHeader("content-length", body.length);
    for (let start = 0; start < body.length && !response.destroyed; start += 50_000) {
      response.write(body.subarray(start, start + 50_000));
      await new Promise((resolve) => setTimeout(resolve, 4));
    }
    response.end();
  }
}
