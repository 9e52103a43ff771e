import { inflateRawSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { setTimer } from "../../shared/clock.ts";
import type { ServerRequest } from "../../shared/http/exchange.ts";
import type { HeaderList } from "../../shared/http/heads.ts";
import { responseHead } from "../../shared/testing/http/exchange-rig.ts";
import { requestHead } from "../../shared/testing/http/request-heads.ts";
import { deliver } from "./deliver.ts";
import { References } from "./references.ts";

const { refer } = new References(setTimer);
const request: ServerRequest = { head: requestHead, body: null, signal: new AbortController().signal };
const PAGE = "<p>hello</p>".repeat(100);
const HTML: HeaderList = [["content-type", "text/html"]];

const bodyOf = (text: string) => new Response(text).body as ReadableStream<Uint8Array>;
const bytesOf = async (body: ReadableStream<Uint8Array> | null) =>
  Buffer.from(await new Response(body as BodyInit | null).arrayBuffer());

describe("a response on its way to the phone", () => {
  it("is coded for the link, and its head says so", async () => {
    const { head, body } = await deliver(
      { head: { ...responseHead, headers: HTML }, body: bodyOf(PAGE) },
      { request, observer: null, refer },
    );
    expect(head).toEqual({ ...responseHead, headers: HTML, coding: "deflate-raw" });
    expect(inflateRawSync(await bytesOf(body)).toString()).toBe(PAGE);
  });

  it("stays as it is where coding would not help", async () => {
    for (const headers of [[["content-type", "image/png"]], [...HTML, ["content-length", "5"]]] as HeaderList[]) {
      const { head, body } = await deliver(
        { head: { ...responseHead, headers }, body: bodyOf("bytes") },
        { request, observer: null, refer },
      );
      expect(head.coding).toBe("identity");
      expect((await bytesOf(body)).toString()).toBe("bytes");
    }
  });

  it("has its head on the way though its first bytes do not come", async () => {
    const late = Promise.withResolvers<void>();
    const atOnce = (task: () => void) => {
      queueMicrotask(task);
      return () => {};
    };
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await late.promise;
        controller.enqueue(new TextEncoder().encode(PAGE));
        controller.close();
      },
    });
    const navigation = { ...request, head: { ...requestHead, mode: "navigate", destination: "document" } as const };
    const delivered = await deliver(
      { head: { ...responseHead, headers: HTML }, body },
      { request: navigation, observer: null, refer, setTimer: atOnce },
    );
    late.resolve();
    expect(inflateRawSync(await bytesOf(delivered.body)).toString()).toBe(PAGE);
  });

  it("without a body passes no stage", async () => {
    const observer = vi.fn(() => null);
    const response = { head: { ...responseHead, headers: HTML }, body: null };
    expect(await deliver(response, { request, observer, refer })).toEqual(response);
    expect(observer).not.toHaveBeenCalled();
  });

  it("is shown to its observer decoded, each piece before it is on its way", async () => {
    const seen: string[] = [];
    const observer = vi.fn(
      () => (chunk: Uint8Array | null) => void seen.push(chunk === null ? "END" : new TextDecoder().decode(chunk)),
    );
    const head = { ...responseHead, headers: HTML };
    const { body } = await deliver({ head, body: bodyOf(PAGE) }, { request, observer, refer });
    expect(observer).toHaveBeenCalledExactlyOnceWith(head);
    expect(seen).toEqual([]);
    const reader = body?.getReader();
    await reader?.read();
    expect(seen.join("").replace("END", "")).toBe(PAGE);
    while ((await reader?.read())?.done === false);
    expect(seen.join("")).toBe(`${PAGE}END`);
  });

  it("cancels what it was made of", async () => {
    const cancel = vi.fn();
    const source = new ReadableStream<Uint8Array>({ cancel });
    const { body } = await deliver(
      { head: { ...responseHead, headers: HTML }, body: source },
      { request, observer: () => () => {}, refer },
    );
    await body?.cancel("stop");
    expect(cancel).toHaveBeenCalledWith("stop");
  });
});
