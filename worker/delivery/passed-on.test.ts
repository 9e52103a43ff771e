import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { responseHead } from "../../shared/testing/http/exchange-rig.ts";
import { requestHead } from "../../shared/testing/http/request-heads.ts";
import { Random } from "../../shared/testing/random.ts";
import { settle } from "../../shared/testing/turns.ts";
import { openBody, responseBody } from "../upstream/response-body.ts";
import { deliver } from "./deliver.ts";
import type { Delivery } from "./stage.ts";

const random = new Random(24);
const TEXT = Array.from({ length: 12_000 }, () => `<li>${random.below(500)}</li>`).join("");
const BEST = brotliCompressSync(TEXT, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });

const request = { head: requestHead, body: null, signal: new AbortController().signal };
const delivery: Delivery = { request, observer: null, refer: async (response) => response, takesBrotli: true };

/** What the edge has of an origin's response. */
async function came(body: BodyInit, headers: Record<string, string> = { "content-length": String(BEST.length) }) {
  const response = new Response(body, { headers: { "content-encoding": "br", ...headers } });
  const opened = await openBody(response, "a.example", { handsOutCoded: true });
  const head = { ...responseHead, headers: [["content-type", "text/html"]] as const };
  const read = responseBody(opened.body, { translate: (error) => error, onSettled() {} });
  return { head, body: read, coded: opened.coded };
}

const bytesOf = async (body: unknown) => Buffer.from(await new Response(body as BodyInit).arrayBuffer());

/** In pieces that come when they are let. */
function pieces() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  return { readable, writer: writable.getWriter() };
}

describe("a body that its origin coded beforehand", () => {
  it("goes on as it came, to a phone that undoes it, and is read along decoded", async () => {
    const seen: Uint8Array[] = [];
    let ends = 0;
    const observer = () => (chunk: Uint8Array | null) => {
      if (chunk === null) ends += 1;
      else seen.push(chunk.slice());
    };
    const { head, body } = await deliver(await came(BEST), { ...delivery, observer });
    const bytes = await bytesOf(body);
    expect(head.coding).toBe("br");
    expect(bytes.length).toBe(BEST.length);
    expect(brotliDecompressSync(bytes).toString()).toBe(TEXT);
    expect(Buffer.concat(seen).toString()).toBe(TEXT);
    expect(ends).toBe(1);
    // All but the window.
    expect(bytes.subarray(1).equals(BEST.subarray(1))).toBe(true);
  });

  it("is coded anew for other phones, where it needs more than they have, and where its length was not known", async () => {
    const old = await deliver(await came(BEST), { ...delivery, takesBrotli: false });
    expect(old.head.coding).toBe("deflate-raw");
    const text = TEXT.repeat(8);
    const long = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
    for (const response of [await came(long, { "content-length": String(long.length) }), await came(BEST, {})]) {
      const { head, body } = await deliver(response, delivery);
      expect(head.coding).toBe("br");
      const bytes = await bytesOf(body);
      expect([BEST.length, long.length]).not.toContain(bytes.length);
      expect(brotliDecompressSync(bytes).toString().startsWith(TEXT)).toBe(true);
    }
  });

  it("goes out piece by piece, each when all of it was read along and before the next has come", async () => {
    const { readable, writer } = pieces();
    let seen = "";
    const observer = () => (chunk: Uint8Array | null) => {
      seen += new TextDecoder().decode(chunk ?? undefined);
    };
    void writer.write(BEST.subarray(0, 2000));
    const { body } = await deliver(await came(readable as BodyInit), { ...delivery, observer });
    const reader = body?.getReader();
    const first = await reader?.read();
    expect(first?.value?.length).toBe(2000);
    expect(TEXT.startsWith(seen)).toBe(true);
    expect(seen.length).toBeGreaterThan(2000);
    void writer.write(BEST.subarray(2000)).then(() => writer.close());
    expect((await reader?.read())?.value?.length).toBe(BEST.length - 2000);
    expect(seen).toBe(TEXT);
    expect((await reader?.read())?.done).toBe(true);
  });

  it("fails where it does not decode, and stops its origin when nobody wants it", async () => {
    const broken = Buffer.from(BEST);
    broken.fill(0xff, 1000, 1100);
    await expect(bytesOf((await deliver(await came(broken), delivery)).body)).rejects.toThrow();
    // As far as it goes, as browsers have it.
    const cut = Buffer.from(BEST.subarray(0, -9));
    expect(await bytesOf((await deliver(await came(cut), delivery)).body)).toEqual(cut);
    const cancel = vi.fn();
    const endless = new ReadableStream({ start: (controller) => controller.enqueue(BEST.subarray(0, 2000)), cancel });
    const { body } = await deliver(await came(endless), delivery);
    const reader = body?.getReader();
    await reader?.read();
    await reader?.cancel("stop");
    await settle();
    expect(cancel).toHaveBeenCalled();
  });
});
