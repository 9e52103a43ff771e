/** What ten busy phones take of an edge's memory: Cloudflare gives an isolate 128 MB, and all may be in one. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { setInterval as every, setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brotliDecoder } from "../../pwa/tunnel/coding/brotli-chunk.ts";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { freePort } from "../../scripts/local-edge/free-port.ts";
import { toBase64Url } from "../../shared/base-encodings.ts";
import { ACCEPT_PUSH } from "../../shared/http/exchange.ts";
import { headerValue } from "../../shared/http/head-fields.ts";
import { DICTIONARY_KEY, imageWishField, STORED_BODY } from "../../shared/http/phone-fields.ts";
import { scriptFetch } from "../../shared/testing/http/request-heads.ts";
import { jpegOf, photograph } from "../delivery/images/testing/pictures.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";
import { type LocalOrigin, startLocalOrigin } from "../upstream/testing/local-origin.ts";
import { stored } from "./testing/stored-dictionary.ts";

const MIB = 1024 * 1024;
const PHONES = 10;
const PICTURE = { destination: "image", mode: "no-cors", headers: [["accept", "image/avif,image/webp,*/*"]] } as const;
const TEXT = Buffer.from(randomBytes(200_000).toString("base64"));

/** Readings above this are taken again without garbage: V8 collects before it gives up at a limit, later on a busy machine. */
const NEAR_THE_LIMIT = 96 * MIB;

/** Asks an edge's isolate what its scripts hold in memory, buffers included; without the runtime's own. */
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
  const used = async (): Promise<number> => {
    const { usedSize, backingStorageSize = 0 } = await call("Runtime.getHeapUsage");
    return usedSize + backingStorageSize;
  };
  return {
    /** @returns with garbage as long as that leaves room. */
    async bytes(): Promise<number> {
      const all = await used();
      if (all < NEAR_THE_LIMIT) return all;
      await call("HeapProfiler.collectGarbage");
      return used();
    },
    close: () => socket.close(),
  };
}

/** As a phone where all is turned on: brotli, pushes, a store with dictionaries, smaller pictures. */
async function busyPhone({ url, accessKey }: RunningEdge): Promise<TestPhone> {
  const phone = new TestPhone(url, await pairPhone(url, accessKey));
  await phone.connect();
  phone.takeBrotli(
    await brotliDecoder(),
    [ACCEPT_PUSH, "http"],
    [STORED_BODY, "1"],
    [DICTIONARY_KEY, toBase64Url(randomBytes(32))],
    imageWishField({ recoding: "balanced", most: null }),
  );
  return phone;
}

/** Of a page; half of them is in its markup. */
const FILES = 18;
const isText = (file: number): boolean => file % 3 === 0;
const fileAt = (path: string, file: number): string => `${path}/${file}.${isText(file) ? "js" : "jpg"}`;
const pageAt = (path: string): string =>
  Array.from({ length: FILES / 2 }, (_, file) => {
    const url = fileAt(path, file);
    return isText(file) ? `<script src="${url}"></script>` : `<img src="${url}">`;
  }).join("\n");
const textAt = (path: string, version: number): Buffer => Buffer.concat([TEXT, Buffer.from(`${path} ${version}`)]);

describe("an edge on workerd", () => {
  let edge: RunningEdge;
  let origin: LocalOrigin;
  let inspector: string;
  let version = 0;

  beforeAll(async () => {
    // Those of a camera, of a page's width, and small ones; what is coded as AVIF takes the most memory.
    const pictures = [
      await jpegOf(photograph(1200, 900)),
      await jpegOf(photograph(1600, 1200)),
      await jpegOf(photograph(300, 200)),
    ];
    inspector = `127.0.0.1:${await freePort("127.0.0.1")}`;
    edge = await startEdge({ runtime: "workerd", port: 0, allowPrivate: true, inspector });
    origin = await startLocalOrigin(({ url = "" }, response) => {
      const cache = url.includes("shared") ? "public, max-age=600" : "private, max-age=600";
      const file = Number(url.match(/(\d+)\.\w+$/)?.[1] ?? Number.NaN);
      const [type, body] = Number.isNaN(file)
        ? ["text/html", `<!doctype html><title>${version}</title>${pageAt(url)}`]
        : isText(file)
          ? ["text/javascript", textAt(url, version)]
          : ["image/jpeg", pictures[Math.floor(file / 3) % pictures.length]];
      const length = Buffer.byteLength(body ?? "");
      response.writeHead(200, { "content-type": type, "cache-control": cache, "content-length": length }).end(body);
    });
  });
  afterAll(() => Promise.all([edge.close(), origin.close()]));

  /** Coded against the former one: what was sent before is kept in its order, so that the rest is, too. */
  async function untilKept(phone: TestPhone): Promise<void> {
    const name = { ...stored(textAt("/known/0.js", version)).stored, size: 0 };
    const text = { ...scriptFetch(origin.origin), stored: name };
    while ((await phone.fetch(`${origin.origin}/known/0.js`, text)).head.coding !== "dcz") await sleep(200);
  }

  /** Pictures are coded anew: asked for until the edge has the room. */
  async function untilRecoded(phone: TestPhone): Promise<void> {
    const picture = { ...scriptFetch(origin.origin), ...PICTURE };
    for (const [file, type] of [
      [1, "image/avif"],
      [4, "image/webp"],
    ] as const) {
      const url = `${origin.origin}/known/${file}.jpg`;
      while (headerValue((await phone.fetch(url, picture)).head.headers, "content-type") !== type) await sleep(200);
    }
  }

  it("has room for ten phones that load pages at once, with all that there is turned on", async () => {
    const phones = await Promise.all(Array.from({ length: PHONES }, () => busyPhone(edge)));
    const heap = await openHeap(inspector);
    let most = 0;
    const stop = new AbortController();
    const watching = (async () => {
      for await (const _ of every(200, null, { signal: stop.signal })) most = Math.max(most, await heap.bytes());
    })().catch(() => {});
    async function load(phone: TestPhone, index: number): Promise<void> {
      const path = index % 2 === 0 ? "/shared" : `/own-${index}`;
      const before = phone.pushes.length;
      const asked = Array.from({ length: FILES / 2 }, (_, half) => {
        const url = fileAt(path, FILES / 2 + half);
        const isKnown = isText(half) && version > 0;
        return phone.fetch(origin.origin + url, {
          ...scriptFetch(origin.origin),
          ...(isText(half) ? {} : PICTURE),
          ...(isKnown ? { stored: stored(textAt(url, version - 1)).stored } : {}),
        });
      });
      await Promise.all([phone.fetch(origin.origin + path), ...asked]);
      const pushes = phone.pushes.slice(before);
      for (const push of pushes) push.claim();
      await Promise.all(pushes.map(({ response }) => response));
    }
    for (const phone of phones.slice(0, 1)) await untilRecoded(phone);
    await Promise.all(phones.map(load));
    for (const phone of phones.slice(0, 2)) await untilKept(phone);
    version = 1;
    await Promise.all(phones.map(load));
    stop.abort();
    await watching;
    await Promise.all(phones.map((phone) => phone.close()));
    heap.close();
    console.log(`Ten busy phones: ${Math.round(most / MIB)} MiB at most`);
    expect(phones.every(({ pushes }) => pushes.length > 0)).toBe(true);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(128 * MIB);
  });
});
