import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import { Random } from "../../shared/testing/random.ts";
import { codingsLeft, codingsOf, undoCodings } from "./response-body.ts";
import { fakeWeb, navigationTo } from "./testing/fake-web.ts";

const left = (field: string) => codingsLeft(new Headers({ "content-encoding": field }));

describe("codingsLeft", () => {
  it.each([
    ["gzip", []],
    ["BR", []],
    ["identity", []],
    ["none", []],
    ["compress", []],
    ["aws-chunked, gzip", []],
    ["x-gzip", ["x-gzip"]],
    ["Deflate", ["deflate"]],
    ["identity, gzip", ["gzip"]],
    ["deflate, gzip", ["gzip", "deflate"]],
    ["zstd", ["zstd"]],
  ])("of %s is what browsers would undo and the platforms do not", (field, codings) => {
    expect(left(field)).toEqual(codings);
  });

  it.each([
    ["gzip", ["gzip"]],
    ["BR", ["br"]],
    ["none", []],
  ])("of %s is more where bodies come as they were coded", (field, codings) => {
    expect(codingsOf(new Headers({ "content-encoding": field }))).toEqual(codings);
  });

  it("of no field is nothing", () => expect(codingsLeft(new Headers())).toEqual([]));
});

describe("undoCodings", () => {
  const body = Buffer.from(new Random(3).bytes(50_000));
  const streamOf = (bytes: Uint8Array, size = 4096) => {
    let rest = bytes;
    const cancel = vi.fn();
    const seen = { read: 0, cancel };
    const stream = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (rest.byteLength === 0) return controller.close();
          const chunk = rest.subarray(0, size);
          rest = rest.subarray(size);
          seen.read += chunk.byteLength;
          controller.enqueue(chunk);
        },
        cancel,
      },
      { highWaterMark: 0 },
    );
    return { stream, seen };
  };
  const undo = async (bytes: Uint8Array, field: string, size?: number) => {
    const codings = codingsOf(new Headers({ "content-encoding": field }));
    const body = undoCodings(streamOf(bytes, size).stream, codings, "a.example");
    return Buffer.from(await new Response(body as BodyInit).arrayBuffer());
  };

  it.each([
    ["deflate", deflateSync(body)],
    ["deflate", deflateRawSync(body)],
    ["x-gzip", gzipSync(body)],
    ["gzip", gzipSync(Buffer.alloc(1_000_000, "text "))],
    ["br", brotliCompressSync(body)],
    ["deflate, gzip", gzipSync(deflateSync(body))],
  ])("gives back what was coded: %s", async (field, coded) => {
    const expected = field === "gzip" ? Buffer.alloc(1_000_000, "text ") : body;
    expect((await undo(coded, field)).equals(expected)).toBe(true);
  });

  it("takes it in whatever pieces it comes", async () => {
    const text = "a { color: red } ".repeat(100);
    for (const coded of [deflateSync(text), deflateRawSync(text)]) {
      expect((await undo(coded, "deflate", 1)).toString()).toBe(text);
    }
  });

  it("takes no notice of what follows the end", async () => {
    const tail = Buffer.alloc(5000, "x");
    for (const coded of [deflateSync("text"), deflateRawSync("text")]) {
      expect((await undo(Buffer.concat([coded, tail]), "deflate")).toString()).toBe("text");
    }
    expect((await undo(Buffer.concat([brotliCompressSync("text"), tail]), "br", 700)).toString()).toBe("text");
    for (const size of [1, 700, 9000]) {
      expect((await undo(Buffer.concat([gzipSync("text"), tail]), "gzip", size)).toString()).toBe("text");
    }
  });

  it("takes an empty body, and one whose coding lacks its end as far as it goes, as browsers do", async () => {
    expect(await undo(new Uint8Array(), "deflate")).toHaveLength(0);
    const text = Buffer.from(body.toString("hex"));
    const coded = { gzip: gzipSync(text), deflate: deflateSync(text), br: brotliCompressSync(text) };
    for (const [coding, bytes] of Object.entries(coded)) {
      for (const [missing, share] of [
        [1, 0.99],
        [5_000, 0.7],
      ] as const) {
        const part = await undo(bytes.subarray(0, -missing), coding, 700);
        expect(part.byteLength).toBeGreaterThan(text.byteLength * share);
        expect(part.equals(text.subarray(0, part.byteLength))).toBe(true);
      }
    }
  });

  it("fails on one that is cut before its first byte, or that is something else", async () => {
    for (const plain of ["plain text", "plain"]) await expect(undo(Buffer.from(plain), "x-gzip")).rejects.toThrow();
    await expect(undo(gzipSync(body).subarray(0, 3), "gzip")).rejects.toThrow();
    await expect(undo(Buffer.from("x".repeat(99)), "deflate")).rejects.toThrow();
  });

  it.each(["zstd", "gzip, zstd", "gzip, gzip, gzip"])("refuses %s", (field) => {
    const { stream, seen } = streamOf(body);
    expect(() => undoCodings(stream, left(field), "a.example")).toThrow(
      expect.objectContaining({ code: ErrorCode.UPSTREAM_FAILED, scope: "stream" }),
    );
    expect(seen.read).toBe(0);
  });

  it.each([
    ["deflate", deflateSync(new Uint8Array(64 * 1024 * 1024))],
    ["br", brotliCompressSync(new Uint8Array(64 * 1024 * 1024), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ])("of a bomb in %s decodes no more than is taken, and cancels", async (coding, bomb) => {
    const { stream, seen } = streamOf(bomb, 1024);
    const reader = undoCodings(stream, [coding], "a.example").getReader();
    for (let count = 0; count < 3; count++) {
      expect((await reader.read()).value?.byteLength).toBeLessThanOrEqual(64 * 1024);
    }
    expect(seen.read).toBeLessThanOrEqual(2048);
    await reader.cancel();
    expect(seen.cancel).toHaveBeenCalledTimes(1);
  });

  it("lets all else have its turn while it decodes a bomb", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const { stream } = streamOf(deflateSync(new Uint8Array(2 * 1024 * 1024 - 1)));
    const reader = undoCodings(stream, ["deflate"], "a.example").getReader();
    let bytes = 0;
    const isRead = (async () => {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        bytes += value.byteLength;
      }
    })();
    for (let turns = 1; turns <= 3; turns++) {
      while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve));
      expect(bytes).toBeLessThanOrEqual(turns * 576 * 1024);
      vi.runOnlyPendingTimers();
    }
    vi.useRealTimers();
    await isRead;
    expect(bytes).toBe(2 * 1024 * 1024 - 1);
  });

  it("stops the origin when its body does not decode", async () => {
    const { stream, seen } = streamOf(Buffer.alloc(100_000, "plain text"));
    await expect(undoCodings(stream, ["gzip"], "a.example").getReader().read()).rejects.toThrow();
    expect(seen.cancel).toHaveBeenCalledTimes(1);
  });
});

describe("an exchange", () => {
  const coded = (coding: string, bytes: Uint8Array) => () =>
    new Response(bytes as BodyInit, {
      headers: { "content-type": "text/css", "content-encoding": coding, "content-length": String(bytes.byteLength) },
    });

  it("brings what an origin coded unasked without its coding, and says what it cannot undo", async () => {
    const text = "a { color: red } ".repeat(100);
    const { upstream } = fakeWeb({
      "https://a.example/deflate": coded("deflate", deflateSync(text)),
      "https://a.example/none": coded("none", Buffer.from(text)),
      "https://a.example/zstd": coded("zstd", Buffer.from(text)),
    });
    for (const name of ["deflate", "none"]) {
      const { head, body } = await upstream(navigationTo(`https://a.example/${name}`));
      expect(head.headers.some(([field]) => field === "content-encoding")).toBe(name === "none");
      expect(head.headers.some(([field]) => field === "content-length")).toBe(name === "none");
      expect(await new Response(body as BodyInit).text()).toBe(text);
    }
    await expect(upstream(navigationTo("https://a.example/zstd"))).rejects.toMatchObject({
      code: ErrorCode.UPSTREAM_FAILED,
    });
    const { head } = await upstream(navigationTo("https://a.example/zstd", { method: "HEAD" }));
    expect(head.status).toBe(200);
  });
});
