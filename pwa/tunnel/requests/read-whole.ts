/** A small response, read to its end in memory. */
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { ResponseConsumer } from "../../../shared/http/exchange.ts";
import type { RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import { concat } from "../../../shared/wire/frame.ts";
import type { Ask } from "./response-source.ts";

/** @throws RopewayError ENHANCE_YOUR_CALM when the body is above `limit` bytes; otherwise what the exchange failed with. */
export function readWhole(
  ask: Ask,
  head: RequestHead,
  limit: number,
): Promise<{ response: ResponseHead; body: Uint8Array }> {
  return new Promise((resolve, reject) => {
    let response: ResponseHead | null = null;
    const chunks: Uint8Array[] = [];
    let size = 0;
    const consumer: ResponseConsumer = {
      onHead(received) {
        response = received;
      },
      onBody(chunk) {
        size += chunk.length;
        if (size > limit) {
          exchange.cancel();
          reject(
            new RopewayError(
              ErrorCode.ENHANCE_YOUR_CALM,
              "stream",
              "origin",
              `Cannot read the response: it is above ${limit} bytes`,
            ),
          );
          return undefined;
        }
        chunks.push(chunk);
        return undefined;
      },
      onEnd() {
        if (response !== null) resolve({ response, body: concat(...chunks) });
      },
      onError: reject,
    };
    const exchange = ask({ head, body: null, push: null }, consumer);
  });
}
