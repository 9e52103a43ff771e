import { ErrorCode } from "../../../../shared/errors.ts";
import type { ResponseConsumer } from "../../../../shared/http/exchange.ts";
import type { ResponseHead } from "../../../../shared/http/heads.ts";

/**
 * For a response that is coded against what is stored: its consumer hears of it with the first bytes that were decoded.
 *
 * @param again what to do where none can be: what is stored is broken, or the decoder is not to be had.
 */
export function onceDecoded(head: ResponseHead, consumer: ResponseConsumer, again: () => void): ResponseConsumer {
  let isBegun = false;
  const begin = (): void => {
    if (!isBegun) consumer.onHead(head);
    isBegun = true;
  };
  return {
    onHead() {},
    onBody(chunk) {
      begin();
      return consumer.onBody(chunk);
    },
    onEnd() {
      begin();
      consumer.onEnd();
    },
    onError(error) {
      if (!isBegun && error.code === ErrorCode.COMPRESSION_ERROR) again();
      else consumer.onError(error);
    },
  };
}
