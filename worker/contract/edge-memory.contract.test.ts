/** What ten busy phones take of an edge's memory: Cloudflare gives an isolate 128 MB, and all may be in one. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { setInterval as every } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { freePort } from "../../scripts/local-edge/free-port.ts";
import { scriptFetch } from "../../shared/testing/http/request-heads.ts";
import { noise } from "../testing/contract.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";
import { type LocalOrigin, startLocalOrigin } from "../upstream/testing/local-origin.ts";

const MIB = 1024 * 1024;
const PHONES = 10;
const ROUNDS = 2;
const PICTURE = noise(150_000);
const TEXT = Buffer.from(randomBytes(200_000).toString("base64"));

/** Asks an edge's isolate what its scripts have in memory, buffers included; without the runtime's own. */
async function openHeap(address: string) {
  const targets = (await (await fetch(`http://${address}/json`)).json()) as {
    id: string;
    webSocketDebuggerUrl: string;
  }[];
  const edge = targets.find(({ id }) => id.includes("edge"));
  const socket = new WebSocket(edge?.webSocketDebuggerUrl ?? "");
  await once(socket, "open");
  let id = 0;
  const call = async (method: string) => {
    id++;
    socket.send(JSON.stringify({ id, method }));
    for (;;) {
      const [{ data }] = (await once(socket, "message")) as [MessageEvent<string>];
      const answer = JSON.parse(data) as { id?: number; result: { usedSize: number; backingStorageSize?: number } };
      if (answer.id === id) return answer.result;
    }
  };
  return {
    async bytes(): Promise<number> {
      const { usedSize, backingStorageSize = 0 } = await call("Runtime.getHeapUsage");
      return usedSize + backingStorageSize;
    },
    close: () => socket.close(),
  };
}

describe("an edge on workerd", () => {
  let edge: RunningEdge;
  let origin: LocalOrigin;
  let inspector: string;
  beforeAll(async () => {
    inspector = `127.0.0.1:${await freePort("127.0.0.1")}`;
    edge = await startEdge({ runtime: "workerd", port: 0, allowPrivate: true, inspector });
    origin = await startLocalOrigin(({ url = "" }, response) => {
      const isText = url.includes("text");
      const cache = url.includes("shared") ? "public, max-age=600" : "private, max-age=600";
      const type = isText ? "text/javascript" : "image/png";
      response.writeHead(200, { "content-type": type, "cache-control": cache }).end(isText ? TEXT : PICTURE);
    });
  });
  afterAll(() => Promise.all([edge.close(), origin.close()]));

  it("has room for ten phones that load pages at once", async () => {
    const phones = await Promise.all(
      Array.from({ length: PHONES }, async () => {
        const phone = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
        await phone.connect();
        return phone;
      }),
    );
    const heap = await openHeap(inspector);
    let most = 0;
    const stop = new AbortController();
    const watching = (async () => {
      for await (const _ of every(200, null, { signal: stop.signal })) most = Math.max(most, await heap.bytes());
    })().catch(() => {});
    for (let round = 0; round < ROUNDS; round++) {
      const urls = (phone: number) =>
        Array.from({ length: 18 }, (_, i) => {
          const kind = i % 3 === 0 ? "text" : "picture";
          return `${origin.origin}/${kind}/${i % 2 === 0 ? "shared" : `own-${phone}`}/${round}/${i}`;
        });
      await Promise.all(
        phones.flatMap((phone, index) => urls(index).map((url) => phone.fetch(url, scriptFetch(origin.origin)))),
      );
    }
    stop.abort();
    await watching;
    await Promise.all(phones.map((phone) => phone.close()));
    heap.close();
    console.log(`Ten busy phones: ${Math.round(most / MIB)} MiB at most`);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(128 * MIB);
  });
});
