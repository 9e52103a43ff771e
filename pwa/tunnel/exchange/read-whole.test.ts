import { describe, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { ResponseConsumer } from "../../../shared/http/exchange.ts";
import { responseHead } from "../../../shared/testing/http/exchange-rig.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import { readWhole } from "./exchange.ts";

/** Reads what `play` says, and tells whether the exchange was cancelled. */
function read(limit: number, play: (consumer: ResponseConsumer) => void) {
  let cancelled = false;
  const whole = readWhole(
    (_request, consumer) => {
      queueMicrotask(() => play(consumer));
      return {
        cancel: () => {
          cancelled = true;
        },
      };
    },
    requestHead,
    limit,
  );
  return { whole, wasCancelled: () => cancelled };
}

describe("readWhole", () => {
  it("joins the chunks of a body of just the limit", async () => {
    const { whole } = read(3, (consumer) => {
      consumer.onHead(responseHead);
      void consumer.onBody(Uint8Array.of(1, 2));
      void consumer.onBody(Uint8Array.of(3));
      consumer.onEnd();
    });
    expect(await whole).toEqual({ response: responseHead, body: Uint8Array.of(1, 2, 3) });
  });

  it("gives a body up that is above the limit", async () => {
    const { whole, wasCancelled } = read(2, (consumer) => {
      consumer.onHead(responseHead);
      void consumer.onBody(new Uint8Array(3));
    });
    await expect(whole).rejects.toMatchObject({ code: ErrorCode.ENHANCE_YOUR_CALM });
    expect(wasCancelled()).toBe(true);
  });

  it("fails as the exchange does", async () => {
    const error = new RopewayError(ErrorCode.LINK_LOST, "session", "library", "Cannot go on: test");
    await expect(read(2, (consumer) => consumer.onError(error)).whole).rejects.toBe(error);
  });
});
