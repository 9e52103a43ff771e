import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { limits } from "../../shared/limits.ts";
import { meterBody } from "./metered-body.ts";

function streamOf(chunks: readonly Uint8Array<ArrayBuffer>[], type?: "bytes"): ReadableStream<Uint8Array> {
  const rest = chunks.map((chunk) => chunk.slice());
  const pull = (controller: {
    enqueue(chunk: Uint8Array<ArrayBuffer>): void;
    close(): void;
    byobRequest?: unknown;
  }) => {
    const chunk = rest.shift();
    if (chunk !== undefined) return controller.enqueue(chunk);
    controller.close();
    (controller.byobRequest as ReadableStreamBYOBRequest | null | undefined)?.respond(0);
  };
  return type === "bytes" ? new ReadableStream({ type, pull }) : new ReadableStream<Uint8Array>({ pull });
}

const observer = (reusesBuffer = false) => ({ reusesBuffer, translate: (error: unknown) => error, onSettled: vi.fn() });

describe("meterBody", () => {
  it("passes every byte on and counts it, with and without a byte source", async () => {
    const chunk = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 100 }),
      fc.integer({ min: 1, max: 3 * limits.upstreamReadBytes }).map((length) => new Uint8Array(length).fill(length)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(chunk, { maxLength: 8 }),
        fc.constantFrom(undefined, "bytes" as const),
        fc.boolean(),
        async (chunks, type, reusesBuffer) => {
          const watch = observer(reusesBuffer);
          const { stream, bytes } = meterBody(streamOf(chunks, type), watch);
          const read: Uint8Array[] = [];
          for await (const part of stream) read.push(part.slice());
          const whole = Buffer.concat(chunks);
          expect(Buffer.concat(read).equals(whole)).toBe(true);
          expect(bytes()).toBe(whole.byteLength);
          expect(watch.onSettled).toHaveBeenCalledOnce();
        },
      ),
      { numRuns: 60 },
    );
  });

  it("errors with what the observer makes of it", async () => {
    const typed = new Error("typed");
    const source = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error("raw"));
      },
    });
    const onSettled = vi.fn();
    const { stream } = meterBody(source, { reusesBuffer: false, translate: () => typed, onSettled });
    await expect(stream.getReader().read()).rejects.toBe(typed);
    expect(onSettled).toHaveBeenCalledOnce();
  });

  it("cancels the source", async () => {
    const cancel = vi.fn();
    const watch = observer();
    const { stream } = meterBody(new ReadableStream<Uint8Array>({ cancel }), watch);
    await stream.cancel("stop");
    expect(cancel).toHaveBeenCalledWith("stop");
    expect(watch.onSettled).toHaveBeenCalledOnce();
  });
});
