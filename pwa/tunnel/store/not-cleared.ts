import type { RopewayError } from "../../../shared/errors.ts";
import type { ResponseConsumer } from "../../../shared/http/exchange.ts";

export const NOT_CLEARED =
  "Cannot clear what this phone keeps of sites: close all other windows of the app, then clear site data again";

/** The edge has answered, but not all was done: its answer becomes this error. */
export function failingWith(error: RopewayError, consumer: ResponseConsumer): ResponseConsumer {
  return {
    onHead() {},
    onBody: () => undefined,
    onEnd: () => consumer.onError(error),
    onError: (other) => consumer.onError(other),
  };
}
