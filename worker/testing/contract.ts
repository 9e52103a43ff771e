/** What the contract tests of a running edge share. */
import { createHash } from "node:crypto";
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export interface PlainResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A plain HTTP request to the edge in which the test decides the Host field, as fetch does not let it. */
export function askEdge(
  edgeUrl: string,
  path: string,
  {
    host,
    method = "GET",
    headers = {},
    body = "",
  }: { host?: string; method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<PlainResponse> {
  const { port } = new URL(edgeUrl);
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      host: "127.0.0.1",
      port,
      path,
      method,
      headers: { host: `${host ?? "ropeway.localhost"}:${port}`, ...headers },
      agent: false,
    });
    request.once("response", async (response) => {
      const text = (await readAll(response)).toString();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
    });
    request.once("upgrade", (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: "" });
    });
    request.once("error", reject);
    request.end(body);
  });
}

export async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Polls: for what no event tells of. The test's own time limit ends it. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(5);
}

/** Bytes that do not repeat and do not compress, the same each time. */
export function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let offset = 0, block = 0; offset < length; block++) {
    offset += createHash("sha256").update(String(block)).digest().copy(bytes, offset);
  }
  return bytes;
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
