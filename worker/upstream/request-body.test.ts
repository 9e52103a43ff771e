import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import * as limits from "../../shared/limits.ts";
import {
  REPLAYABLE_BODY_BYTES,
  RETAINED_BODIES_BYTES,
  RequestBody,
  type RequestBodyOptions,
  type SendableBody,
} from "./request-body.ts";

function bodyOf(
  chunks: readonly Uint8Array[],
  options: Partial<RequestBodyOptions> = {},
  given: ReadableStream<Uint8Array> | null = null,
) {
  const rest = [...chunks];
  const cancel = vi.fn();
  const stream =
    given ??
    new ReadableStream<Uint8Array>({
      pull(controller) {
        const chunk = rest.shift();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
      cancel,
    });
  const retained = options.retained ?? { total: 0 };
  const onWait = vi.fn();
  const onWaited = vi.fn();
  const onFailure = vi.fn();
  const body = new RequestBody(stream, { declaredLength: null, onWait, onWaited, onFailure, ...options, retained });
  return { body, cancel, retained, onWait, onWaited, onFailure };
}

async function bytesOf(body: SendableBody): Promise<Buffer> {
  if (body instanceof Uint8Array) return Buffer.from(body);
  if (body instanceof Blob) return Buffer.from(await body.arrayBuffer());
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const block = (length: number, fill = 7) => new Uint8Array(length).fill(fill);
const notReplayable = expect.objectContaining({ code: ErrorCode.BODY_NOT_REPLAYABLE });
const protocolError = expect.objectContaining({ code: ErrorCode.PROTOCOL_ERROR });

describe("RequestBody", () => {
  it("gives exactly the bytes sent, with any chunks, declared or not", async () => {
    const chunk = fc.integer({ min: 0, max: 700_000 }).map((length) => block(length, length % 251));
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 6 }), fc.boolean(), async (chunks, declares) => {
        const whole = Buffer.concat(chunks);
        const { body, retained } = bodyOf(chunks, { declaredLength: declares ? whole.byteLength : null });
        expect((await bytesOf(await body.open())).equals(whole)).toBe(true);
        const isSmall = whole.byteLength <= REPLAYABLE_BODY_BYTES;
        expect(body.isReplayable).toBe(isSmall);
        if (isSmall) expect((await bytesOf(await body.open())).equals(whole)).toBe(true);
        else await expect(body.open()).rejects.toEqual(notReplayable);
        await body.close("done");
        expect(retained.total).toBe(0);
      }),
      { numRuns: 40 },
    );
  });

  it("streams a body that is declared large, without collecting it first", async () => {
    const { body, onWait } = bodyOf([block(10)], { declaredLength: REPLAYABLE_BODY_BYTES + 1 });
    const opened = await body.open();
    expect(opened).toBeInstanceOf(ReadableStream);
    expect(onWait).not.toHaveBeenCalled();
  });

  it("hands a large declared body to the platform's fixed length stream", async () => {
    const length = REPLAYABLE_BODY_BYTES + 1;
    const withFixedLength = vi.fn((stream: ReadableStream<Uint8Array>) => stream);
    const { body } = bodyOf([block(length)], { declaredLength: length, withFixedLength });
    expect((await bytesOf(await body.open())).byteLength).toBe(length);
    expect(withFixedLength).toHaveBeenCalledWith(expect.any(ReadableStream), length);
  });

  it.each([5, 50])("refuses a body of 10 bytes that was declared as %i", async (declaredLength) => {
    await expect(bodyOf([block(10)], { declaredLength }).body.open()).rejects.toEqual(protocolError);
  });

  it.each([-1, 1])("fails a streamed body that is off by %i", async (offset) => {
    const declaredLength = 2 * REPLAYABLE_BODY_BYTES;
    const { body, onFailure } = bodyOf([block(REPLAYABLE_BODY_BYTES), block(REPLAYABLE_BODY_BYTES + offset)], {
      declaredLength,
    });
    await expect(bytesOf(await body.open())).rejects.toEqual(protocolError);
    expect(onFailure).toHaveBeenCalledExactlyOnceWith(protocolError);
  });

  it("does not fail when the platform wants no more of it while the phone is waited for", async () => {
    for (const declaredLength of [null, 2 * REPLAYABLE_BODY_BYTES]) {
      const more = Promise.withResolvers<void>();
      let pulls = 0;
      const stream = new ReadableStream<Uint8Array>({
        async pull(controller) {
          if (pulls++ > 0) await more.promise;
          else controller.enqueue(block(REPLAYABLE_BODY_BYTES + 1));
        },
      });
      const { body, onFailure } = bodyOf([], { declaredLength }, stream);
      const opened = (await body.open()) as ReadableStream<Uint8Array>;
      const reader = opened.getReader();
      await reader.read();
      const next = reader.read();
      await reader.cancel("answered");
      more.resolve();
      expect((await next).done).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 0));
      expect(onFailure).not.toHaveBeenCalled();
    }
  });

  it("keeps nothing once all bodies together keep too much", async () => {
    const retained = { total: RETAINED_BODIES_BYTES - 5 };
    const { body } = bodyOf([block(4), block(4)], { retained });
    expect((await bytesOf(await body.open())).byteLength).toBe(8);
    expect(body.isReplayable).toBe(false);
    expect(retained.total).toBe(RETAINED_BODIES_BYTES - 5);
  });

  it("counts what a chunk costs beside its bytes, as long as it is kept apart", async () => {
    const retained = { total: 0 };
    const chunks = Math.ceil(RETAINED_BODIES_BYTES / limits.retainedFrameBytes);
    const { body } = bodyOf(Array(chunks).fill(block(1)), { retained });
    expect((await bytesOf(await body.open())).byteLength).toBe(chunks);
    expect([body.isReplayable, retained.total]).toEqual([false, 0]);
    const { body: whole } = bodyOf(Array(100).fill(block(1)), { retained });
    await whole.open();
    expect(retained.total).toBe(100);
  });

  it("tells the phone to stop when it is closed", async () => {
    const { body, cancel } = bodyOf([block(1)]);
    await body.close("origin answered");
    expect(cancel).toHaveBeenCalledWith("origin answered");
  });
});
